import type { Outcome } from '@vigil/read-model';
import type { Command } from 'commander';
import { outcomeLine } from '../../render/outcome.ts';
import { plainAll } from '../../render/plain.ts';
import { type Aged, dashboard, endUnwell, type Json, showAged } from '../../terminal.ts';
import { followShown, path, shownBy } from './options.ts';

const SHOW = `
Ends with 1 if the command was refused, or its outcome is not known; with 2 if Vigil cannot be reached or is blind. An id that no command has is not decided either.

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

const show = async (eventId: string, { wait, json }: Json & { readonly wait?: boolean }): Promise<void> => {
  const followed = wait
    ? await followShown(eventId, json)
    : { became: await dashboard().get<Outcome & Aged>(path('commands', eventId)), away: [] };
  if (followed.became.outcome !== 'applied') endUnwell();
  const later = [`${shownBy(eventId)} --wait`];
  const { knowledge } = followed.became as Aged;
  showAged(json, followed.became, knowledge, (_, screen) => [outcomeLine(screen, plainAll(followed), later)]);
};
