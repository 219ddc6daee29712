import { expect, test } from 'vitest';
import { startedCall } from '../shared/calls.ts';
import { claudeCall } from './tools.ts';

const AT = 1_795_305_600_000;
/** Milliseconds from the start of a call to its deadline; null: it declares none. */
const declared = (tool: string, args: object): number | null => {
  const { deadline_at } = startedCall(claudeCall('call-1', tool, args), AT);
  return deadline_at === null ? null : deadline_at - AT;
};

test('a call’s deadline is what its arguments declare', () => {
  expect(declared('Bash', { command: 'npm test', timeout: 300_000 })).toBe(300_000);
  expect(declared('PowerShell', { command: 'npm test', timeout: 1 })).toBe(1);
});

test.each([
  ['Bash without a timeout, because Claude Code’s default may change', 'Bash', { command: 'npm test' }],
  ['Bash with a timeout of 0', 'Bash', { command: 'npm test', timeout: 0 }],
  ['Bash with a timeout that is not a number', 'Bash', { command: 'npm test', timeout: 'long' }],
  ['a tool that has no timeout', 'Read', { file_path: 'a.ts', timeout: 5 }],
  ['a sub-agent', 'Task', { prompt: 'look' }],
])('%s declares none', (_, tool, args) => {
  expect(declared(tool, args)).toBeNull();
});
