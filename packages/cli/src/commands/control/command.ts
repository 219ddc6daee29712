import type { Outcome } from '@vigil/read-model';
import type { Command } from 'commander';
import { Refusal } from '../../errors.ts';
import { shownLine } from '../../render/outcome.ts';
import { plainAll } from '../../render/plain.ts';
import { type Aged, dashboard, endUnwell, type Json, showAged } from '../../terminal.ts';
import { followShown, path, shownBy } from './options.ts';

const SHOW = `
Ends with 1 if the command was refused, or its outcome is not known; with 2 if Vigil cannot be reached or is blind. Of an id that no command has, nothing is known either.

Examples:
  vigil command show 6b1f6b6e-0c7e-4a53-9f5e-1f6f3d3a0001
  vigil command show 6b1f6b6e-0c7e-4a53-9f5e-1f6f3d3a0001 --wait`;

export const register = (program: Command): void => {
  program
    .command('command')
    .description('what people have commanded')
    .command('show <id>')
    .description('what became of one command')
    .option('--wait', 'until its outcome is known: half a minute, and while a part of Vigil is away five')
    .option('--json', 'for programs')
    .addHelpText('after', SHOW)
    .action(show);
};

/** The dashboard's ids; a command for several keys has the key behind a colon. */
const COMMAND_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(:.+)?$/i;

const show = async (eventId: string, { wait, json }: Json & { readonly wait?: boolean }): Promise<void> => {
  if (!COMMAND_ID.test(eventId))
    throw new Refusal(
      `command ${JSON.stringify(eventId)} does not exist: give an id like 6b1f6b6e-0c7e-4a53-9f5e-1f6f3d3a0001, which the command has printed`,
    );
  const followed = wait
    ? await followShown(eventId, json)
    : { became: await dashboard().get<Outcome & Aged>(path('commands', eventId)), away: [] };
  if (followed.became.outcome !== 'applied') endUnwell();
  const later = [`${shownBy(eventId)} --wait`];
  const { knowledge } = followed.became as Aged;
  showAged(json, followed.became, knowledge, (_, screen) => [shownLine(screen, plainAll(followed), later)]);
};
