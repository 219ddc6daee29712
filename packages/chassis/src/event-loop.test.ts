import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const endOf = async (end: 'frozen' | 'stopped') => {
  const child = spawn(process.execPath, [`${import.meta.dirname}/event-loop.fixture.ts`], { env: { END: end } });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const [code, signal] = await once(child, 'close');
  return { code, signal, out };
};

test('a process whose event loop is blocked for its limit is ended, and its log has the reason', async () => {
  const { signal, out } = await endOf('frozen');
  expect(signal).toBe('SIGKILL');
  expect(JSON.parse(out.trim().split('\n').at(-1) as string)).toMatchObject({
    level: 60,
    service: 'fixture',
    msg: 'the event loop was blocked for 0.6 s; the process ends so that it is started again',
  });
});

test('the watch keeps no process alive that has finished', async () => {
  expect(await endOf('stopped')).toEqual({ code: 0, signal: null, out: 'started\n' });
});
