import type { Command } from 'commander';
import { dashboard, show, whoAmI } from '../terminal.ts';
import { durationOption, type Written, writtenLine } from './options.ts';

type Options = { why: string; by: string; for?: number; json?: boolean };

export function register(program: Command): void {
  program
    .command('hold <agent>')
    .description('keep an agent from being judged for a while')
    .option('--for <duration>', 'how long; otherwise until released', durationOption)
    .option('--why <text>', 'the reason, for those who read it later', 'by hand')
    .option('--by <name>', 'who asks', whoAmI())
    .option('--json', 'for programs')
    .addHelpText('after', '\nExample:\n  vigil hold worker-1 --for 30m --why "a debugger is attached"')
    .action((agentId: string, options: Options) => say({ command: 'hold', agentId, forMs: options.for }, options));
  program
    .command('release <agent>')
    .description('end a hold')
    .option('--why <text>', 'the reason, for those who read it later', 'by hand')
    .option('--by <name>', 'who asks', whoAmI())
    .option('--json', 'for programs')
    .action((agentId: string, options: Options) => say({ command: 'release', agentId }, options));
}

async function say(command: object, { by, why, json }: Options): Promise<void> {
  const written = await dashboard().post<Written>('/v1/commands', { ...command, by, why });
  show(json, written, (said) => [writtenLine(said)]);
}
