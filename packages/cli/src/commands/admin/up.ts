import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { CannotProceed } from '../../errors.ts';
import { ADMINISTRATION } from '../groups.ts';

const EXAMPLES = `
Without an option it uses Kafka where Java 17 with Maven or a container engine is there, otherwise a log in one file. It prints which,
and why. Ctrl-C stops everything. The data stay in the folder .vigil of the clone.

Examples:
  vigil up
  vigil up --embedded   all services in one process, without Java and containers`;

type Up = { readonly embedded?: boolean; readonly kafka?: boolean };

export const register = (program: Command): void => {
  program
    .command('up')
    .helpGroup(ADMINISTRATION)
    .description('start Vigil on this machine, from its clone, without the demonstration fleet')
    .addOption(new Option('--embedded', 'on a log in one file').conflicts('kafka'))
    .option('--kafka', 'on Kafka')
    .addHelpText('after', EXAMPLES)
    .action(up);
};

/** The packed command line has no clone, so the build must not look for these files. */
const here = import.meta.dirname;
const root = path.resolve(here, '../../../../..');
const RUN = path.join(root, 'packages/dev/bootstrap/run.mjs');
const START = path.join(root, 'packages/dev/src/start.ts');

/** A terminal sends Ctrl-C to the started process as well, so this one only waits for its end. */
const up = ({ embedded, kafka }: Up): Promise<void> => {
  if (!existsSync(START)) throw new CannotProceed(`\`vigil up\` starts Vigil from its clone, and ${root} is none.`);
  const log = embedded === true ? ['--embedded'] : kafka === true ? ['--kafka'] : [];
  const child = spawn(process.execPath, [RUN, START, '--no-demo', ...log], { stdio: 'inherit' });
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      process.exitCode = code ?? 128 + (signal === null ? 1 : constants.signals[signal]);
      resolve();
    });
  });
};
