import { type Command, Help, type HelpConfiguration } from 'commander';

const plainHelp = new Help();

/** The options that a command cannot do without, as its usage shows them. */
const required = (command: Command): string =>
  command.options
    .filter(({ mandatory }) => mandatory)
    .map(({ flags }) => ` ${flags}`)
    .join('');

/** A usage of its own names required options that commander does not have as such. */
const hasOwnUsage = (command: Command): boolean => command.usage().includes('--');

/** Required options stand before the arguments: behind those of `vigil run` they would be its command's own. */
const withRequired = (usage: string, command: Command): string =>
  usage.replace('[options]', `[options]${required(command)}`);

/** Help that marks each required option, in the usage, in the list of commands and beside the option. */
export const helpWithRequired: HelpConfiguration = {
  commandUsage: (command) => withRequired(plainHelp.commandUsage(command), command),
  subcommandTerm: (command) =>
    hasOwnUsage(command)
      ? `${command.name()} ${command.usage()}`
      : withRequired(plainHelp.subcommandTerm(command), command),
  optionDescription: (option) => `${plainHelp.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
};

/** Errors of commander begin as all others of this program do. */
export const asOwnError = (text: string): string => text.replace(/^error: /, 'vigil: ');
