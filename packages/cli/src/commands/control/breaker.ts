import type { BreakerRow } from '@vigil/read-model';
import type { Command } from 'commander';
import { wholeList } from '../../client.ts';
import { CannotProceed } from '../../errors.ts';
import { breakersTable } from '../../render/fleet/breakers.ts';
import { overlaps } from '../../render/period.ts';
import { showList } from '../../terminal.ts';
import { type PeriodOptions, periodOf, withPeriod } from '../inspect/period.ts';
import { type WriteOptions, withWriteOptions, write } from './options.ts';

type ListOptions = PeriodOptions & {
  readonly open?: boolean;
  readonly agent?: string;
  readonly task?: string;
  readonly json?: boolean;
};

const LIST = `
A breaker is closed again by its owner, at its next attempt, or by a person.

Examples:
  vigil breaker list
  vigil breaker list --open --agent worker-1
  vigil breaker reset worker-1 external_api --why "their service is back"`;

const RESET = `
NAME is tool_execution, checkpoint_write or external_api. A breaker that the agent holds is closed by an order to it,
a breaker that Vigil counts is closed at once. A task's recovery_attempt: \`vigil task review TASK reset\`.

Example:
  vigil breaker reset worker-1 external_api --why "their service is back"`;

const OF_TASK =
  'recovery_attempt is the breaker of a task. Start its recovery again: vigil task review TASK reset --why "…"';

export const register = (program: Command): void => {
  const breakers = program.command('breaker').description('circuit breakers of agents and tasks');
  const listing = breakers
    .command('list')
    .description('breakers that have opened; those that are not closed come first')
    .option('--open', 'only open ones')
    .option('--agent <agent>', 'of one agent')
    .option('--task <task>', 'of one task');
  withPeriod(listing, 'those that changed').option('--json', 'for programs').addHelpText('after', LIST).action(list);
  withWriteOptions(breakers.command('reset <agent> <name>').description('close a breaker before its time'))
    .addHelpText('after', RESET)
    .action((agentId: string, name: string, options: WriteOptions) => {
      if (name === 'recovery_attempt') throw new CannotProceed(OF_TASK);
      const request = { requested: `a reset of breaker ${name} of ${agentId}`, outcome: `vigil explain ${agentId}` };
      return write({ kind: 'reset_breaker', agentId, name }, request, options);
    });
};

const list = (options: ListOptions): Promise<void> =>
  showList(options.json, breakersTable, async (client) => {
    const { open, agent, task } = options;
    const query = { open: open ? 'true' : undefined, agent, task };
    const breakers = await wholeList<BreakerRow>(client, '/v1/breakers', 'breakers', query);
    return breakers.filter(({ since }) => overlaps(periodOf(options), since, since));
  });
