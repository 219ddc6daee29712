import { run } from '../runtime/run.ts';
import { openTestDeps, scriptSpec } from '../testing/stage.ts';

const [dir = '', url = '', script = '', command = '/bin/sh', ...more] = process.argv.slice(2);
const deps = openTestDeps(dir, { url } as Parameters<typeof openTestDeps>[1], 'run-1');
const env = { PATH: process.env.PATH ?? '', TERM: 'xterm' };
const { status } = await run(scriptSpec(script, { command, args: ['-c', script, ...more], env }), deps, {
  stdin: process.stdin,
  stdout: process.stdout,
  tty: true,
  onOutput: () => {},
  onSignal: (listener) => {
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, listener);
  },
});
process.exitCode = status;
deps.close();
