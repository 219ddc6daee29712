import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { breakerFile } from './breaker-file.ts';
import { examples } from './examples.fixture.ts';
import { readInput } from './input.ts';
import { reportOf } from './report.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-breakers-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const path = () => join(dir, 'breakers.jsonl');
/** Each hook is a process of its own. */
const hook = (event: keyof typeof examples, id: string, now = 0) => {
  const input = readInput(JSON.stringify({ ...examples[event], tool_name: 'Edit', tool_use_id: id, error: 'no' }));
  const report = input && reportOf(input, now, {});
  if (!report) throw new Error('no event of ours');
  return breakerFile(path()).judge(report, now);
};
const fails = (times: number, now = 0): void => {
  for (let n = 0; n < times; n += 1) {
    hook('PreToolUse', `${now}-${n}`, now);
    hook('PostToolUseFailure', `${now}-${n}`, now);
  }
};
const states = () => breakerFile(path()).reports();

test('the fifth failure in a row makes the next hook deny, not the fourth; when the pause is over one trial is let through', () => {
  fails(4);
  expect(hook('PreToolUse', 'a')).toBeNull();
  hook('PostToolUseFailure', 'a');
  expect(hook('PreToolUse', 'b')).toEqual({ breaker: 'tool_execution', failures: 5, nextAttemptAt: 30_000 });
  expect(hook('PreToolUse', 'c', 29_999)).not.toBeNull();
  expect(hook('PreToolUse', 'd', 30_000)).toBeNull();
  expect(hook('PreToolUse', 'e', 30_000)).toMatchObject({ nextAttemptAt: null });
  hook('PostToolUse', 'd', 30_001);
  expect(hook('PreToolUse', 'f', 30_002)).toBeNull();
});

test('a trial that was never made is none when the turn is over', () => {
  fails(5);
  expect(hook('PreToolUse', 'trial', 30_000)).toBeNull();
  hook('Stop', 'x', 30_001);
  expect(hook('PreToolUse', 'another', 30_002)).toBeNull();
});

test('what is no call leaves no trace', () => {
  expect(hook('Notification', 'x')).toBeNull();
  expect(states()).toEqual([]);
});

test('an order closes one; none that is not here', () => {
  fails(5);
  expect(breakerFile(path()).reset('checkpoint_write')).toBe(false);
  expect(states()).toMatchObject([{ name: 'tool_execution', state: 'OPEN', failures: 5 }, { state: 'CLOSED' }]);
  expect(breakerFile(path()).reset('tool_execution')).toBe(true);
  expect(states()).toMatchObject([{ state: 'CLOSED' }, { state: 'CLOSED' }]);
  expect(hook('PreToolUse', 'a')).toBeNull();
});

test('the file stays small, however long the session, and what it comes to is the same', () => {
  for (let n = 0; n < 600; n += 1) {
    hook('PreToolUse', `${n}`);
    hook('PostToolUse', `${n}`);
  }
  fails(4, 1);
  expect(statSync(path()).size).toBeLessThan(40 << 10);
  expect(states()).toMatchObject([{ state: 'CLOSED', failures: 4 }, {}]);
});

test('a torn line says nothing; a file that makes no sense denies nothing, and is begun anew', () => {
  fails(5);
  writeFileSync(path(), `${readFileSync(path(), 'utf8')}{"id":"x","at":0,"tur`);
  writeFileSync(path(), '\n', { flag: 'a' });
  expect(hook('PreToolUse', 'a')).toMatchObject({ breaker: 'tool_execution' });
  writeFileSync(path(), '{"id":"x","state":7}\n');
  expect(hook('PreToolUse', 'b')).toBeNull();
  expect(hook('PreToolUse', 'c')).toBeNull();
  expect(states()).toMatchObject([{ state: 'CLOSED' }, { state: 'CLOSED' }]);
});

test('where the disk takes nothing, nothing is denied', () => {
  rmSync(dir, { recursive: true });
  fails(9);
  expect(hook('PreToolUse', 'a')).toBeNull();
});

test('of many hooks beside each other none loses what it says, and one alone is let through for the trial', async () => {
  const source = `
    const { breakerFile } = await import(${JSON.stringify(new URL('./breaker-file.ts', import.meta.url).href)});
    const { workerData, parentPort } = await import('node:worker_threads');
    const { path, id, outcome, now } = workerData;
    const said = { tool_calls: [{ call_id: id, kind: 'tool', outcome, error_class: null }] };
    parentPort.postMessage(breakerFile(path).judge({ said, asks: outcome === 'running', takesText: false, turnOver: false }, now));`;
  const together = (count: number, outcome: string, now: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => {
        const workerData = { path: path(), id: `${now}-${n}`, outcome, now };
        const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData });
        return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
      }),
    );
  await together(4, 'running', 0);
  await together(4, 'error', 0);
  expect(states()).toMatchObject([{ state: 'CLOSED', failures: 4 }, {}]);
  fails(1);
  const answers = await together(4, 'running', 60_000);
  expect(answers.filter((denial) => denial === null)).toHaveLength(1);
});
