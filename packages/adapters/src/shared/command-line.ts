import type { CommandLine } from '../adapter.ts';

/** The options of a command that take values; of all others it is known that they take none. */
export type OptionSpec = {
  /** one value */
  readonly one: ReadonlySet<string>;
  /** one value, or none */
  readonly optional: ReadonlySet<string>;
  /** one value or more */
  readonly many: ReadonlySet<string>;
};

export const optionSpec = (one: string, optional: string, many: string): OptionSpec => {
  const names = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((name) => name !== ''));
  return { one: names(one), optional: names(optional), many: names(many) };
};

/** A part of a command line: an option with its values, or an argument (`name` is null). `words`: as the command line has them. */
export type Part = {
  readonly name: string | null;
  readonly values: readonly string[];
  readonly words: readonly string[];
};

const isOption = (word: string | undefined): boolean => word?.startsWith('-') === true && word !== '-';

const valuesAfter = (rest: readonly string[], name: string, spec: OptionSpec): readonly string[] => {
  if (spec.one.has(name)) return rest.slice(0, 1);
  if (spec.optional.has(name)) return isOption(rest[0]) ? [] : rest.slice(0, 1);
  if (!spec.many.has(name)) return [];
  const end = rest.findIndex(isOption);
  return end === -1 ? rest : rest.slice(0, end);
};

const argument = (word: string): Part => ({ name: null, values: [word], words: [word] });

export const partsOf = (args: readonly string[], spec: OptionSpec): readonly Part[] => {
  const [word, ...rest] = args;
  if (word === undefined) return [];
  if (word === '--') return rest.map(argument);
  if (!isOption(word)) return [argument(word), ...partsOf(rest, spec)];
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  if (equals !== -1) {
    const part = { name: word.slice(0, equals), values: [word.slice(equals + 1)], words: [word] };
    return [part, ...partsOf(rest, spec)];
  }
  const values = valuesAfter(rest, word, spec);
  return [{ name: word, values, words: [word, ...values] }, ...partsOf(rest.slice(values.length), spec)];
};

export const has = (parts: readonly Part[], ...names: readonly string[]): boolean =>
  parts.some(({ name }) => name !== null && names.includes(name));

export const optionValue = (parts: readonly Part[], ...names: readonly string[]): string | undefined =>
  parts.findLast(({ name }) => name !== null && names.includes(name))?.values[0];

export const argumentsOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ name, words }) => (name === null ? words : []));

/** The words of all options but those. */
export const optionsWithout = (parts: readonly Part[], names: readonly string[]): readonly string[] =>
  parts.flatMap(({ name, words }) => (name === null || names.includes(name) ? [] : words));

const LAUNCHERS: ReadonlySet<string> = new Set(['npx', 'bunx']);

const baseName = (path: string): string =>
  path
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.(?:exe|cmd|ps1)$/i, '') ?? '';

/** A client that is started by its own name or by its npm package. `before`: the words up to its own arguments. */
export type Started = { readonly before: readonly string[]; readonly args: readonly string[] };

/** Null: the command line starts another program. */
export const startOf = ({ command, args }: CommandLine, name: string, npmPackage: string): Started | null => {
  if (baseName(command) === name) return { before: [], args };
  if (!LAUNCHERS.has(baseName(command))) return null;
  const index = args.findIndex((word) => !isOption(word));
  const started = args[index];
  if (started === undefined || (started !== name && started.replace(/(?<!^)@[^@/]*$/, '') !== npmPackage)) return null;
  return { before: args.slice(0, index + 1), args: args.slice(index + 1) };
};
