import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { survivingLog } from './supervising.ts';

test('a line that cannot be written does not end the process, and the next written line has the number of missing ones', () => {
  let isFull = false;
  const written: string[] = [];
  const log = survivingLog(
    (line, failed) => (isFull ? failed() : void written.push(line)),
    (message, fields) => `${message} ${JSON.stringify(fields)}`,
  );
  log('one');
  isFull = true;
  log('two');
  log('three');
  isFull = false;
  log('four', { agentId: 'worker-1' });
  log('five');
  expect(written).toEqual(['one {}', 'four {"agentId":"worker-1","missingBefore":2}', 'five {}']);
});

const supervising = fileURLToPath(new URL('./supervising.ts', import.meta.url));
const program = `
  const { logToFile, logToStderr } = await import(${JSON.stringify(supervising)});
  const log = logToFile('/dev/full');
  for (let n = 0; n < 3; n += 1) {
    log('to a file');
    logToStderr('to standard error');
    await new Promise((resolve) => setImmediate(resolve));
  }
  console.log('it runs');
`;

test.runIf(process.platform === 'linux')('a full disk behind a log ends no supervisor', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', full] });
  closeSync(full);
  const [printed] = await Promise.all([text(child.stdout as NonNullable<typeof child.stdout>), once(child, 'exit')]);
  expect(printed).toBe('it runs\n');
});

test('a closed pipe behind a log ends no supervisor', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program.replace('/dev/full', '/dev/null')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stderr.destroy();
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(printed).toBe('it runs\n');
});
