import { stopAgent, WrongSettings } from '@vigil/supervisor';
import type { Command } from 'commander';
import { Refusal } from '../../errors.ts';
import { stateDir, withStateDir } from '../../supervising.ts';
import { print, whoAmI } from '../../terminal.ts';
import { length } from './run-spec.ts';

type StopOptions = { readonly dir?: string; readonly grace?: number };

const graceMs = 5000;

const stop = async (agent: string, options: StopOptions): Promise<void> => {
  try {
    print([`${agent} has ended: ${await stopAgent(stateDir(options), agent, whoAmI(), options.grace ?? graceMs)}`]);
  } catch (error) {
    if (error instanceof WrongSettings) throw new Refusal(error.message);
    throw error;
  }
};

const examples = `
It is asked on its socket, receives SIGTERM after the grace and SIGKILL 5 s later; its end is reported as requested, so nothing takes
its place. An end that Vigil is to decide and replace: vigil recover.

Example:
  vigil stop worker-1 --grace 30s`;

export const register = (program: Command): void => {
  const command = program
    .command('stop <agent>')
    .description('end an agent of this host, and wait until its end is reported')
    .option('--grace <duration>', 'the time for a voluntary exit, 5s by default', length)
    .addHelpText('after', examples);
  withStateDir(command).action(stop);
};
