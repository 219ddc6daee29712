import { Refusal } from './refusal.ts';

/** The request of `npm run bench`: the benchmarks to run and how they print their figures, or the usage. */
export type BenchRequest =
  | { readonly kind: 'run'; readonly names: readonly string[]; readonly json: boolean }
  | { readonly kind: 'help'; readonly text: string };

/** `names`: of all benchmarks, which run if the arguments name none. @throws Refusal for an unknown benchmark or option */
export const benchRequestOf = (args: readonly string[], names: readonly string[]): BenchRequest => {
  const usage = `npm run bench [NAME…] [-- --json]; the benchmarks are ${names.join(', ')}; without a name all of them run, which takes an hour`;
  if (args.includes('--help')) return { kind: 'help', text: usage };
  const unknown = args.find((arg) => arg !== '--json' && !names.includes(arg));
  if (unknown !== undefined) throw new Refusal(`${unknown} is not a benchmark or an option: ${usage}`);
  const chosen = names.filter((name) => args.includes(name));
  return { kind: 'run', names: chosen.length === 0 ? names : chosen, json: args.includes('--json') };
};
