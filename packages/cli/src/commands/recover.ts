import type { Command } from 'commander';
import { type Said, saying, write } from './options.ts';

const RECOVER = `
The task continues from its newest valid checkpoint. The recovery skips the back-off, counts as an attempt, and needs the
governor's admission. Nothing is spawned before the death is confirmed.

Example:
  vigil recover worker-1 --why "it does not answer"`;

/** A step by hand: it opens a case of its own. */
export function register(program: Command): void {
  saying(program.command('recover <agent>').description('end an agent and put its task on a fresh one'))
    .addHelpText('after', RECOVER)
    .action((agentId: string, said: Said) =>
      write(
        { command: 'request_step', agentId, step: 'terminate_and_recover' },
        said,
        `vigil case list --agent ${agentId}`,
      ),
    );
}
