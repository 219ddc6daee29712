import { expect, test } from 'vitest';
import { readRun } from './run.ts';

test.each([
  ['{', /^no JSON: /],
  ['[]', /^the line: \[\] is no run: give an object with run_id and calls$/],
  ['{"calls":[]}', /^run_id: is missing: give a text such as "run-1"$/],
  ['{"run_id":"r"}', /^calls: is missing: give the list of the run’s calls$/],
  ['{"run_id":"r","calls":[{"tool":"bash"},{}]}', /^calls\[1\]\.tool: is missing: give the tool’s name$/],
  ['{"run_id":"r","calls":[{"tool":"bash","ts":"soon"}]}', /^calls\[0\]\.ts: "soon" is no time/],
  [
    '{"run_id":"r","calls":[{"tool":"bash","outcome":"odd"}]}',
    /^calls\[0\]\.outcome: "odd" is no outcome: give ok, error or running, or leave it out$/,
  ],
  [
    '{"run_id":1,"calls":7}',
    /^run_id: 1 is no text: give a text such as "run-1"; calls: 7 is no list: give the list of the run’s calls$/,
  ],
  ['{"run_id":"","calls":[]}', /^run_id: "" is empty: give a text such as "run-1"$/],
  ['{"run_id":"r","calls":[7]}', /^calls\[0\]: 7 is no call: give an object with at least a tool$/],
  [
    '{"run_id":"r","success":0.5,"calls":[]}',
    /^success: 0.5 is neither true nor false: give true, false, 1 or 0, or leave it out$/,
  ],
  [
    '{"run_id":"r","task":{"id":1},"calls":[]}',
    /^task: \{"id":1\} is no text: give a text or a number, or leave it out$/,
  ],
  [
    '{"run_id":"r","calls":[{"tool":"bash","args_h":1}]}',
    /^calls\[0\]\.args_h: 1 is no text: give a text, or leave it out$/,
  ],
  [
    '{"run_id":"r","calls":[{"tool":"bash","kind":"x"}]}',
    /^calls\[0\]\.kind: "x" is no kind: give tool, model, external_api or checkpoint_write, or leave it out$/,
  ],
  [
    '{"run_id":"r","calls":[{"tool":"bash","ts":1e999}]}',
    /^calls\[0\]\.ts: a number above 1\.8e308, such as 1e999, is no time: give seconds, or RFC 3339/,
  ],
  [
    '{"run_id":"r","calls":[{"tool":"bash","token_count":-1e999}]}',
    /^calls\[0\]\.token_count: a number below -1\.8e308, such as -1e999, is no count/,
  ],
  ['{"run_id":"r","calls":[{"tool":"bash","ts":[1]}]}', /^calls\[0\]\.ts: \[1\] is no time: give seconds, or RFC 3339/],
])('a line that is not a run names its fields: %s', (line, message) => {
  expect(() => readRun(line)).toThrow(message);
});

test('a number is accepted as a name, and 1 and 0 as true and false', () => {
  const call = { tool: 'bash', call_id: 7, error_class: 127, err: 1, mutating: 0 };
  const run = { run_id: 'r', task: 12, src: 3, label: 0, success: 1, calls: [call] };
  expect(readRun(JSON.stringify(run))).toMatchObject({
    ...{ task: '12', src: '3', label: '0', success: true },
    calls: [{ call_id: '7', error_class: '127', err: true, mutating: false }],
  });
  expect(readRun(JSON.stringify({ ...run, success: 0 })).success).toBe(false);
});

test('a message quotes only the beginning of a long value', () => {
  expect(() => readRun(JSON.stringify({ run_id: 'r', calls: 'x'.repeat(1000) }))).toThrow(/^calls: "x{59}… is no list/);
});
