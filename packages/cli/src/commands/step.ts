import type { Command } from 'commander';
import { type Said, saying, write } from './options.ts';

const RECOVER = `
What it had saved is kept: the task goes on from its newest valid checkpoint. It skips the back-off, counts as an attempt, and
passes the governor; nothing is spawned before the death is confirmed.

Example:
  vigil recover worker-1 --why "it answers nobody"`;

/** Steps by hand: each opens a case of its own. */
export function register(program: Command): void {
  const nudge = program.command('nudge <agent>').description('have a text said to an agent');
  saying(nudge.option('--message <text>', 'what is said; otherwise the reason'))
    .addHelpText('after', '\nExample:\n  vigil nudge worker-1 --message "Please write a checkpoint."')
    .action((agentId: string, { message, ...said }: Said & { message?: string }) =>
      request('nudge', agentId, said, message),
    );
  saying(program.command('recover <agent>').description('end an agent and put its task on a fresh one'))
    .addHelpText('after', RECOVER)
    .action((agentId: string, said: Said) => request('terminate_and_recover', agentId, said));
}

const request = (step: string, agentId: string, said: Said, message?: string): Promise<void> =>
  write({ command: 'request_step', agentId, step, message }, said, `vigil case list --agent ${agentId}`);
