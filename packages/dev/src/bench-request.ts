import { Refusal } from './refusal.ts';

/**
 * The request of `npm run bench`. `run`: these benchmarks, and how they print their figures. `continue`: all that have no
 * result of the present commit. `results`: the kept results, as tables for docs/benchmarks.md.
 */
export type BenchRequest =
  | { readonly kind: 'run'; readonly names: readonly string[]; readonly json: boolean }
  | { readonly kind: 'continue'; readonly names: readonly string[]; readonly json: boolean }
  | { readonly kind: 'results' }
  | { readonly kind: 'help'; readonly text: string };

const OPTIONS = ['--all', '--json', '--results', '--help'];

const usageOf = (names: readonly string[]): string => `npm run bench NAME… [-- --json]   runs these benchmarks
npm run bench -- --all           runs all benchmarks, which takes two hours; after a stop it continues with the rest
npm run bench -- --results       prints the results that are kept, as tables
the benchmarks are ${names.join(', ')}`;

/** `names`: of all benchmarks. @throws Refusal for an unknown benchmark or option, or without a request */
export const benchRequestOf = (args: readonly string[], names: readonly string[]): BenchRequest => {
  const usage = usageOf(names);
  if (args.includes('--help')) return { kind: 'help', text: usage };
  const unknown = args.find((arg) => !OPTIONS.includes(arg) && !names.includes(arg));
  if (unknown !== undefined) throw new Refusal(`${unknown} is not a benchmark or an option\n${usage}`);
  const json = args.includes('--json');
  const chosen = names.filter((name) => args.includes(name));
  if (args.includes('--results')) return { kind: 'results' };
  if (args.includes('--all')) return { kind: 'continue', names, json };
  if (chosen.length === 0) throw new Refusal(`name a benchmark, or give --all\n${usage}`);
  return { kind: 'run', names: chosen, json };
};
