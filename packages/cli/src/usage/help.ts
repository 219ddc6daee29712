import { nearest } from '@vigil/policy';
import type { Command } from 'commander';
import { CannotProceed } from '../errors.ts';

const pathOf = (command: Command): string =>
  command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;

const unknown = (command: Command, word: string): CannotProceed => {
  const names = command.commands.map((one) => one.name());
  const near = nearest(word, names);
  const meant = near === null ? '' : ` did you mean ${near}?`;
  return new CannotProceed(
    `${pathOf(command)} has no command ${JSON.stringify(word)}:${meant} \`${pathOf(command)} --help\` shows its usage.`,
  );
};

/** The command that the words name, at any depth: `case list`. Throws CannotProceed for a word that names none. */
export const commandAt = (program: Command, words: readonly string[]): Command =>
  words.reduce((command, word) => {
    const found = command.commands.find((one) => one.name() === word);
    if (found === undefined) throw unknown(command, word);
    return found;
  }, program);

export const register = (program: Command): void => {
  program.helpCommand(false);
  program
    .command('help [command...]')
    .description('the help of a command, such as: vigil help case decide')
    .action((words: readonly string[]) => commandAt(program, words).outputHelp());
};
