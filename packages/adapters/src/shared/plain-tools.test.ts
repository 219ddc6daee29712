import { expect, test } from 'vitest';
import { plainTraitsOf } from './plain-tools.ts';

const traits = (tool: string, args: unknown) => {
  const { polling, checking } = plainTraitsOf(tool, args);
  return { polling, checking };
};

test.each(['bash', 'Bash', 'execute_bash', 'runCommand', 'run_in_terminal', 'container.exec', 'mcp__shell__run'])(
  'the shell of an unknown client is known by its name: %s',
  (tool) => {
    expect(traits(tool, { command: 'npm test' })).toEqual({ polling: false, checking: true });
    expect(traits(tool, 'sleep 30; cat log')).toEqual({ polling: true, checking: false });
  },
);

test.each([
  [{ cmd: 'npm test' }],
  [{ command: ['bash', '-lc', 'npm test'] }],
  [['npm', 'test']],
  ['{"command":"npm test"}'],
  [{ keystrokes: 'npm test\n' }],
])('its command is found in arguments of each form: %j', (args) => {
  expect(traits('shell', args)).toEqual({ polling: false, checking: true });
});

test.each([
  ['Read', 'npm test'],
  ['search', { command: 'npm test' }],
  ['refresh', 'sleep 30'],
  ['bash', { path: 'npm test' }],
  ['bash', null],
])('nothing is assumed of another tool, or of other arguments: %s', (tool, args) => {
  expect(traits(tool, args)).toEqual({ polling: false, checking: false });
});
