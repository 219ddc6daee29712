import { Refusal } from './refusal.ts';

/** The request of `npm run check`: the names of the steps to run, and whether to repair what they can; or the usage. */
export type CheckRequest =
  | { readonly kind: 'run'; readonly names: readonly string[]; readonly fix: boolean }
  | { readonly kind: 'help'; readonly text: string };

/** `names`: of all steps, which run if the arguments name none. @throws Refusal for an unknown step or option */
export const checkRequestOf = (args: readonly string[], names: readonly string[]): CheckRequest => {
  const usage = `npm run check [STEP…] [-- --fix]; the steps are ${names.join(', ')}`;
  if (args.includes('--help')) return { kind: 'help', text: usage };
  const unknown = args.find((arg) => arg !== '--fix' && !names.includes(arg));
  if (unknown !== undefined) throw new Refusal(`${unknown} is not a step or an option: ${usage}`);
  const chosen = names.filter((name) => args.includes(name));
  return { kind: 'run', names: chosen.length === 0 ? names : chosen, fix: args.includes('--fix') };
};
