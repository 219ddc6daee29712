import type { Command, Option } from 'commander';
import { NAME_KINDS, type NameKind } from '../names.ts';

/**
 * An option as a shell completes it. `choices`: its values; `names`: what its value names; without both it is free text, or
 * none where `takesValue` is false.
 */
export type OptionEntry = {
  readonly name: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly names: NameKind | null;
};

/** A command as a shell completes it. `path`: its words, such as `case list`; empty: the program. */
export type CommandEntry = {
  readonly path: string;
  readonly options: readonly OptionEntry[];
  /** words that may follow: the names of its commands, or the choices of its arguments */
  readonly words: readonly { readonly word: string; readonly description: string }[];
  /** what its first argument names; null: nothing that the dashboard has */
  readonly names: NameKind | null;
};

/** Where the word of the usage is another one. */
const NAMED: Readonly<Record<string, NameKind>> = {
  'policy show <name>': 'policy',
  'health --policy <name>': 'policy',
  'alert silence <matchers>': 'matcher',
};
/** Where the word of the usage is a kind of names, and the value may be something else: a file, too. */
const OTHERWISE: ReadonlySet<string> = new Set(
  ['evaluate', 'tune', 'replay what-if'].map((path) => `${path} --policy <policy>`),
);

/** `value`: such as `<agent>` or `[agent]`. */
const kindAt = (place: string, value: string): NameKind | null => {
  if (OTHERWISE.has(place)) return null;
  return NAMED[place] ?? NAME_KINDS.find((kind) => value.slice(1, -1) === kind) ?? null;
};

const optionsOf = (command: Command, path: string): readonly OptionEntry[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map((option) => ({ ...optionEntry(option), names: kindAt(`${path} ${option.flags}`, wordOfValue(option)) }));

const wordOfValue = ({ flags }: Option): string => flags.split(' ').at(-1) ?? '';

const optionEntry = ({ long, short, description, required, optional, argChoices }: Option) => ({
  name: long ?? short ?? '',
  description,
  takesValue: required || optional,
  choices: argChoices ?? [],
});

const namesOf = (command: Command, path: string): NameKind | null => {
  const [first] = command.registeredArguments;
  return first === undefined ? null : kindAt(`${path} <${first.name()}>`, `<${first.name()}>`);
};

/** Without what people do not call themselves. */
const commandsOf = (command: Command): readonly Command[] => {
  const visible = command.createHelp().visibleCommands(command);
  return command.commands.filter((one) => visible.includes(one));
};

const wordsOf = (command: Command): CommandEntry['words'] => [
  ...commandsOf(command).map((one) => ({ word: one.name(), description: one.description() })),
  ...command.registeredArguments.flatMap(({ argChoices, description }) =>
    (argChoices ?? []).map((word) => ({ word, description })),
  ),
];

/** Every command with what can follow it, the program first. */
export const treeOf = (program: Command): readonly CommandEntry[] => {
  const within = (command: Command, path: readonly string[]): readonly CommandEntry[] => [
    {
      ...{ path: path.join(' '), options: optionsOf(command, path.join(' ')), words: wordsOf(command) },
      names: namesOf(command, path.join(' ')),
    },
    ...commandsOf(command).flatMap((one) => within(one, [...path, one.name()])),
  ];
  return withHelpOf(within(program, []));
};

const HELP = 'help';

/** After `help` come the words of a command, at any depth. */
const withHelpOf = (tree: readonly CommandEntry[]): readonly CommandEntry[] => {
  const help = tree.find(({ path }) => path === HELP);
  if (help === undefined) return tree;
  const commands = tree.filter((entry) => entry !== help);
  const paths = new Set(tree.map(({ path }) => path));
  const below = (path: string, word: string): string => (path === '' ? word : `${path} ${word}`);
  return [
    ...commands,
    ...commands.map(({ path, words }) => ({
      ...{ path: path === '' ? HELP : `${HELP} ${path}`, options: help.options, names: null },
      words: words.filter(({ word }) => paths.has(below(path, word))),
    })),
  ];
};
