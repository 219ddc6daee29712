import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StepLog } from './hive-step-log.ts';

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-test-'));
  path = join(dir, 'tool_logs.jsonl');
});
afterEach(() => rmSync(dir, { recursive: true }));

const step = (index: number, verdict?: string) => `${JSON.stringify({ node_id: 'n', step_index: index, verdict })}\n`;

test('each line is a step; older lines belong to an earlier instance', () => {
  writeFileSync(path, step(0, 'RETRY') + step(1, 'RETRY'));
  const stepLog = new StepLog(path);
  expect(stepLog.read()).toBe(null);
  appendFileSync(path, step(2, 'ACCEPT') + step(3) + step(4, 'shrug'));
  expect(stepLog.read()).toEqual({ total_steps: 3, verdicts: ['ACCEPT'] });
  expect(stepLog.read()).toBe(null);
  appendFileSync(path, step(5, 'ESCALATE'));
  expect(stepLog.read()).toEqual({ total_steps: 4, verdicts: ['ESCALATE'] });
  stepLog.close();
});

test('a torn line waits for its end; one that is not an object is not a step', () => {
  const stepLog = new StepLog(path);
  expect(stepLog.read()).toBe(null);
  const whole = `${JSON.stringify({ verdict: 'RETRY', llm_text: 'é€' })}\n`;
  const bytes = Buffer.from(whole);
  const cut = whole.indexOf('é') + 1;
  writeFileSync(path, bytes.subarray(0, cut));
  expect(stepLog.read()).toBe(null);
  appendFileSync(path, bytes.subarray(cut));
  expect(stepLog.read()).toEqual({ total_steps: 1, verdicts: ['RETRY'] });
  appendFileSync(path, 'not JSON\n[]\n7\n\n');
  expect(stepLog.read()).toBe(null);
  stepLog.close();
});

test('over a rotation no step is lost and none counts twice', () => {
  writeFileSync(path, '');
  const stepLog = new StepLog(path);
  appendFileSync(path, step(0, 'CONTINUE'));
  expect(stepLog.read()).toEqual({ total_steps: 1, verdicts: ['CONTINUE'] });
  appendFileSync(path, step(1, 'RETRY'));
  renameSync(path, `${path}.1`);
  writeFileSync(path, step(2, 'ACCEPT'));
  expect(stepLog.read()).toEqual({ total_steps: 3, verdicts: ['RETRY', 'ACCEPT'] });
  renameSync(path, `${path}.2`);
  expect(stepLog.read()).toBe(null);
  writeFileSync(path, step(3));
  expect(stepLog.read()).toEqual({ total_steps: 4, verdicts: [] });
  stepLog.close();
});

test('a file that is cut short is read from its beginning', () => {
  writeFileSync(path, step(0) + step(1));
  const stepLog = new StepLog(path);
  writeFileSync(path, step(2, 'ACCEPT'));
  expect(stepLog.read()).toEqual({ total_steps: 1, verdicts: ['ACCEPT'] });
  stepLog.close();
});

test('another supervisor reads on where the one before it had stopped, also in the middle of a line', () => {
  writeFileSync(path, step(0));
  const before = new StepLog(path);
  appendFileSync(path, `${step(1, 'ACCEPT')}{"verdict":`);
  expect(before.read()).toEqual({ total_steps: 1, verdicts: ['ACCEPT'] });
  const { mark } = before;
  before.close();
  appendFileSync(path, `"RETRY"}\n${step(3)}`);
  const next = new StepLog(path, mark);
  expect(next.read()).toEqual({ total_steps: 3, verdicts: ['RETRY'] });
  const after = next.mark;
  next.close();
  renameSync(path, `${path}.1`);
  writeFileSync(path, step(4, 'CONTINUE'));
  const rotated = new StepLog(path, after);
  expect(rotated.read()).toEqual({ total_steps: 4, verdicts: ['CONTINUE'] });
  rotated.close();
});
