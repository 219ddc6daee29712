import type { DeadLetterRow } from '@vigil/read-model';
import type { Command } from 'commander';
import { type Client, type Query, wholeList } from '../../client.ts';
import { UnknownName } from '../../errors.ts';
import { letterLines, lettersTable } from '../../render/fleet/letters.ts';
import { dashboard, type Json, show, showList } from '../../terminal.ts';
import { type PeriodOptions, withPeriod } from './period.ts';

type ListOptions = PeriodOptions & Json & { readonly service?: string };

/** Dead letters of a page. */
const LIMIT = '1000';

const LIST = `
The newest come first. A dead letter is a record that a service could not read: its topic, partition and
offset, and the reason. The service continues with the next record. \`vigil replay dead-letters\` writes them to their topics again.

Examples:
  vigil dlq list
  vigil dlq list --service health-evaluator --since 2h
  vigil dlq list --json`;

const SHOW = `
LETTER is the id of \`vigil dlq list\`. The beginning of the record is shown as text: other bytes are \\ooo.

Example:
  vigil dlq show onex.dlq.intervention.dead-letter.v1/0/17`;

export const register = (program: Command): void => {
  const letters = program.command('dlq').description('dead letters: records that a service could not read');
  const listing = letters.command('list').description('dead letters, the newest first');
  withPeriod(listing.option('--service <service>', 'of one service'), 'those that came')
    .option('--json', 'for programs')
    .addHelpText('after', LIST)
    .action(list);
  letters
    .command('show <letter>')
    .description('one dead letter, with the beginning of its record')
    .option('--json', 'for programs')
    .addHelpText('after', SHOW)
    .action(showOne);
};

const read = (client: Client, query: Query) =>
  wholeList<DeadLetterRow>(client, '/v1/dead-letters', 'deadLetters', { ...query, limit: LIMIT });

const list = ({ json, service, since, until }: ListOptions): Promise<void> =>
  showList(json, lettersTable, (client) =>
    read(client, { service, since: since?.toString(), until: until?.toString() }),
  );

const showOne = async (letter: string, { json }: Json): Promise<void> => {
  const found = (await read(dashboard(), {})).find(({ eventId }) => eventId === letter);
  if (found === undefined)
    throw new UnknownName(
      'dead_letter',
      `dead letter ${JSON.stringify(letter)} does not exist; list them with \`vigil dlq list\``,
    );
  show(json, found, (row, view) => letterLines(view, row));
};
