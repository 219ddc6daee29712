import { Argument, type Command } from 'commander';
import { openClient } from '../../client.ts';
import { dashboardSettings } from '../../config.ts';
import { NAME_KINDS, type NameKind, namesOf } from '../../names.ts';
import { print } from '../../terminal.ts';

/** A person waits for Tab. */
const PATIENCE_MS = 700;

export const register = (program: Command): void => {
  program
    .command('complete', { hidden: true })
    .description('print names for the completion of shells, a line each; nothing where the dashboard does not answer')
    .addArgument(new Argument('<kind>', 'of what').choices(NAME_KINDS))
    .action(complete);
};

/** A message would be printed into the line that a person types. */
const complete = async (kind: NameKind): Promise<void> => {
  try {
    print(await namesOf(openClient(dashboardSettings(process.env), PATIENCE_MS), kind));
  } catch {}
};
