import { run } from '../runtime/run.ts';
import { openTestWorld, scriptSpec } from '../testing/stage.ts';

const [dir = '', url = '', script = '', command = '/bin/sh', ...more] = process.argv.slice(2);
const world = openTestWorld(dir, { url } as Parameters<typeof openTestWorld>[1], 'run-1');
const env = { PATH: process.env.PATH ?? '', TERM: 'xterm' };
process.exitCode = await run(scriptSpec(script, { command, args: ['-c', script, ...more], env }), world, {
  stdin: process.stdin,
  stdout: process.stdout,
  tty: true,
  onOutput: () => {},
  onSignal: (listener) => {
    process.on('SIGTERM', listener);
    return () => process.off('SIGTERM', listener);
  },
});
world.close();
