import type { Command } from 'commander';
import { type WriteOptions, withWriteOptions, write } from './options.ts';

const RESET = `
NAME is tool_execution, checkpoint_write or external_api. A breaker that the agent holds is closed by an order to it,
a breaker that Vigil counts is closed at once. A task's recovery_attempt: \`vigil task review TASK --decision reset\`.

Example:
  vigil breaker reset worker-1 external_api --why "their service is back"`;

export function register(program: Command): void {
  const breaker = program.command('breaker').description('circuit breakers of agents');
  withWriteOptions(breaker.command('reset <agent> <name>').description('close a breaker before its time'))
    .addHelpText('after', RESET)
    .action((agentId: string, name: string, options: WriteOptions) =>
      write({ command: 'reset_breaker', agentId, name }, options, `vigil explain ${agentId}`),
    );
}
