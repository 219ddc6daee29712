import { run } from './run.ts';
import { openTestWorld, scriptSpec } from './testing.ts';

const [dir = '', url = '', script = ''] = process.argv.slice(2);
const world = openTestWorld(dir, { url } as Parameters<typeof openTestWorld>[1], 'run-1');
process.exitCode = await run(scriptSpec(script, { env: { PATH: process.env.PATH ?? '', TERM: 'xterm' } }), world, {
  stdin: process.stdin,
  stdout: process.stdout,
  tty: true,
  onSignal: (listener) => {
    process.on('SIGTERM', listener);
    return () => process.off('SIGTERM', listener);
  },
});
world.close();
