import { expect, test } from 'vitest';
import { readRun } from './run.ts';

test.each([
  ['{', /^no JSON: /],
  ['[]', /^the line: /],
  ['{"calls":[]}', /^run_id: /],
  ['{"run_id":"r"}', /^calls: /],
  ['{"run_id":"r","calls":[{"tool":"bash"},{}]}', /^calls\[1\]\.tool: /],
  ['{"run_id":"r","calls":[{"tool":"bash","ts":"soon"}]}', /^calls\[0\]\.ts: "soon" is no time/],
  ['{"run_id":"r","calls":[{"tool":"bash","outcome":"odd"}]}', /^calls\[0\]\.outcome: /],
  ['{"run_id":1,"calls":7}', /^run_id: .*; calls: /],
])('a line that is no run names its fields: %s', (line, message) => {
  expect(() => readRun(line)).toThrow(message);
});
