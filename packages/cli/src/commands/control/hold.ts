import type { Command } from 'commander';
import { durationOption, type WriteOptions, withWriteOptions, write } from './options.ts';

export function register(program: Command): void {
  const hold = program.command('hold <agent>').description('suspend judgement of an agent for a while');
  withWriteOptions(hold.option('--for <duration>', 'how long; otherwise until released', durationOption))
    .addHelpText('after', '\nExample:\n  vigil hold worker-1 --for 30m --why "a debugger is attached"')
    .action((agentId: string, options: WriteOptions & { for?: number }) =>
      write({ command: 'hold', agentId, forMs: options.for }, options),
    );
  withWriteOptions(program.command('release <agent>').description('end a hold')).action(
    (agentId: string, options: WriteOptions) => write({ command: 'release', agentId }, options),
  );
}
