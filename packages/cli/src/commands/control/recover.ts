import type { Command } from 'commander';
import { type WriteOptions, withWriteOptions, write } from './options.ts';

const RECOVER = `
The task continues from its newest valid checkpoint. The recovery skips the back-off, counts as an attempt, and needs the
governor's admission. Nothing is spawned before the death is confirmed.

Example:
  vigil recover worker-1 --why "it does not answer"`;

/** A step by hand: it opens a case of its own. */
export function register(program: Command): void {
  withWriteOptions(program.command('recover <agent>').description('end an agent and put its task on a fresh one'))
    .addHelpText('after', RECOVER)
    .action((agentId: string, options: WriteOptions) =>
      write(
        { command: 'request_step', agentId, step: 'terminate_and_recover' },
        options,
        `vigil case list --agent ${agentId}`,
      ),
    );
}
