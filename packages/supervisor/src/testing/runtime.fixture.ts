import { startRuntime } from '../runtime/runtime.ts';
import { parseRuntimeConfig } from '../runtime/runtime-config.ts';
import { openTestDeps } from './stage.ts';

/** A runtime with one agent, in a process that can be killed. */
const [dir = '', url = '', script = '', command = '/bin/sh', ...more] = process.argv.slice(2);
const config = parseRuntimeConfig(
  JSON.stringify({
    runtime: 'run-1',
    grace: '0s',
    templates: [{ command, args: ['-c', script, ...more] }],
    agents: [{ name: 'worker-1', task: 'TASK-1' }],
  }),
  dir,
);
const logger = (message: string, fields = {}) => process.stderr.write(`${JSON.stringify({ message, ...fields })}\n`);
const deps = openTestDeps(dir, { url }, 'run-1', logger);
const env = { PATH: process.env.PATH ?? '' };
const runtime = await startRuntime(
  { config: { ...config, interval: 100 }, host: 'host-1', env, users: new Map() },
  { ...deps, killAfterMs: 500 },
);
process.stdout.write('started\n');
process.once('SIGTERM', async () => {
  await runtime.stop('the test is over');
  await deps.outbox.settled(2000);
  deps.close();
});
