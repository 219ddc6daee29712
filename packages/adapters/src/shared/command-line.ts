import type { CommandLine } from '../adapter.ts';

/** The options of a command that take values. All other options take none. */
export type OptionSpec = {
  /** one value */
  readonly one: ReadonlySet<string>;
  /** one value, or none */
  readonly optional: ReadonlySet<string>;
  /** one value or more */
  readonly many: ReadonlySet<string>;
};

const namesIn = (text: string): readonly string[] => text.split(/\s+/).filter((name) => name !== '');

export const optionSpec = (one: string, optional: string, many: string): OptionSpec => ({
  one: new Set(namesIn(one)),
  optional: new Set(namesIn(optional)),
  many: new Set(namesIn(many)),
});

/**
 * A part of a command line: an option with its values, or an argument (`name` is null). `words`: its words, unchanged.
 */
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

const partsOf = (args: readonly string[], spec: OptionSpec): readonly Part[] => {
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

const argumentsOf = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap(({ name, words }) => (name === null ? words : []));

/** The words of all other options. */
export const optionsWithout = (parts: readonly Part[], names: readonly string[]): readonly string[] =>
  parts.flatMap(({ name, words }) => (name === null || names.includes(name) ? [] : words));

const LAUNCHERS: ReadonlySet<string> = new Set(['npx', 'bunx']);

const baseName = (path: string): string =>
  path
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.(?:exe|cmd|ps1)$/i, '') ?? '';

type Started = { readonly before: readonly string[]; readonly args: readonly string[] };

/** The arguments of a client that is started by its own name or by its npm package; null for another program. */
const startOf = ({ command, args }: CommandLine, name: string, npmPackage: string): Started | null => {
  if (baseName(command) === name) return { before: [], args };
  if (!LAUNCHERS.has(baseName(command))) return null;
  const index = args.findIndex((word) => !isOption(word));
  const started = args[index];
  if (started === undefined || (started !== name && started.replace(/(?<!^)@[^@/]*$/, '') !== npmPackage)) return null;
  return { before: args.slice(0, index + 1), args: args.slice(index + 1) };
};

/** The syntax of a client's command line. */
export type Program = {
  readonly binary: string;
  readonly npmPackage: string;
  readonly options: OptionSpec;
  /** commands and options that start no session of an agent in this terminal, separated by spaces */
  readonly otherCommands: string;
  readonly otherOptions: string;
};

/** A command line that starts a session. `before`: the words up to the client's own arguments. */
export type SessionLine = { readonly before: readonly string[]; readonly parts: readonly Part[] };

/** Parses a command line; null if it starts another program, or no session. */
export const sessionLineOf = (line: CommandLine, program: Program): SessionLine | null => {
  const started = startOf(line, program.binary, program.npmPackage);
  if (started === null) return null;
  const parts = partsOf(started.args, program.options);
  const isOther =
    namesIn(program.otherCommands).includes(argumentsOf(parts)[0] ?? '') ||
    has(parts, ...namesIn(program.otherOptions));
  return isOther ? null : { before: started.before, parts };
};

/**
 * First characters that make a prompt a command to the client: `!` runs a shell command without a permission, `/exit`
 * ends the client.
 */
const COMMAND_SIGN = /^[/!#@&$?%:\\]/;

/** Converts a text to a prompt for the model, without control characters, and never a command to the client. */
export const asPrompt = (text: string): string => {
  const trimmed = text.replace(/(?![\n\t])\p{Cc}/gu, ' ').trim();
  return COMMAND_SIGN.test(trimmed) ? `Vigil: ${trimmed}` : trimmed;
};
