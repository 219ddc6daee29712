import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { survivingLogger } from './supervising.ts';

test('a line that cannot be written does not end the process, and the next written line has the number of missing ones', () => {
  let isFull = false;
  const written: string[] = [];
  const logger = survivingLogger(
    (line, failed) => (isFull ? failed() : void written.push(line)),
    (message, fields) => `${message} ${JSON.stringify(fields)}`,
  );
  logger('one');
  isFull = true;
  logger('two');
  logger('three');
  isFull = false;
  logger('four', { agentId: 'worker-1' });
  logger('five');
  expect(written).toEqual(['one {}', 'four {"agentId":"worker-1","missingBefore":2}', 'five {}']);
});

const supervising = fileURLToPath(new URL('./supervising.ts', import.meta.url));
const program = `
  const { fileLogger, stderrLogger } = await import(${JSON.stringify(supervising)});
  const logger = fileLogger('/dev/full');
  for (let n = 0; n < 3; n += 1) {
    logger('to a file');
    stderrLogger('to standard error');
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log('it runs');
`;

test.runIf(process.platform === 'linux')('a full disk behind a logger ends no supervisor', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', full] });
  closeSync(full);
  const [printed] = await Promise.all([text(child.stdout as NonNullable<typeof child.stdout>), once(child, 'exit')]);
  expect(printed).toBe('it runs\n');
});

test('a closed pipe behind a logger ends no supervisor', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program.replace('/dev/full', '/dev/null')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.destroy();
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(printed).toBe('it runs\n');
});
