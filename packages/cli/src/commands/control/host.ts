import type { Command } from 'commander';
import { dashboard, show } from '../../terminal.ts';
import { type WriteOptions, type Written, withWriteOptions } from './options.ts';

const GONE = `
Use it only when the machine is certainly off. Each of its agents then counts as dead, and its task goes to a fresh agent.

Example:
  vigil host gone build-7 --why "the rack has lost power"`;

export function register(program: Command): void {
  const host = program.command('host').description('the machines that agents run on');
  withWriteOptions(host.command('gone <host>').description('confirm that a host is gone, with all its agents'))
    .addHelpText('after', GONE)
    .action(async (name: string, { by, why, json }: WriteOptions) => {
      const written = await dashboard().post<Written>('/v1/commands', { command: 'host_gone', host: name, by, why });
      show(json, written, ({ key, alsoFor }) => [
        `${1 + alsoFor.length} confirmed as gone with ${name}: ${[key, ...alsoFor].join(', ')}`,
      ]);
    });
}
