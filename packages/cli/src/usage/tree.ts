import type { Command } from 'commander';

/** An option as a shell completes it. `choices`: its values; empty: free text, or none where `takesValue` is false. */
export type OptionEntry = {
  readonly name: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
};

/** A command as a shell completes it. `path`: its words, such as `case list`; empty: the program. */
export type CommandEntry = {
  readonly path: string;
  readonly options: readonly OptionEntry[];
  /** words that may follow: the names of its commands, or the choices of its arguments */
  readonly words: readonly { readonly word: string; readonly description: string }[];
};

const optionsOf = (command: Command): readonly OptionEntry[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description, required, optional, argChoices }) => ({
      name: long ?? short ?? '',
      description,
      takesValue: required || optional,
      choices: argChoices ?? [],
    }));

const wordsOf = (command: Command): CommandEntry['words'] => [
  ...command.commands.map((one) => ({ word: one.name(), description: one.description() })),
  ...command.registeredArguments.flatMap(({ argChoices, description }) =>
    (argChoices ?? []).map((word) => ({ word, description })),
  ),
];

/** Every command with what can follow it, the program first. */
export const treeOf = (program: Command): readonly CommandEntry[] => {
  const within = (command: Command, path: readonly string[]): readonly CommandEntry[] => [
    { path: path.join(' '), options: optionsOf(command), words: wordsOf(command) },
    ...command.commands.flatMap((one) => within(one, [...path, one.name()])),
  ];
  return within(program, []);
};
