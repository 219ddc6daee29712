import { expect, test } from 'vitest';
import { LONGEST_LINE, understand } from './agent-report.ts';

test.each(['__proto__', 'constructor', 'toString'])('%s is not a field, and is ignored', (name) => {
  expect(understand(`{"${name}":1,"phase":"work"}`)).toEqual({
    reported: { phase: 'work' },
    problems: [expect.stringContaining(`${name}: no field that an agent reports of itself: write one of phase, `)],
    hook: null,
    received: null,
  });
});

test('a field that the gateway would refuse spoils no heartbeat', () => {
  const checkpoint = { checkpoint_id: 'x'.repeat(513) };
  const { reported, problems } = understand(JSON.stringify({ phase: 'work', checkpoint, last_tool_call: 8.64e15 + 1 }));
  expect(reported).toEqual({ phase: 'work' });
  expect(problems).toHaveLength(2);
  expect(understand('{"checkpoint":{"checkpoint_id":"c"}}').problems).toEqual([]);
});

test.each<[string, object, string]>([
  [
    'a time',
    { last_tool_call: 'Bash' },
    'last_tool_call: "Bash": write a time like 2026-11-23T12:00:00Z, or epoch milliseconds',
  ],
  ['a word', { activity: 'waitng' }, 'activity: "waitng" is not one of starting, working, idle, awaiting_input, '],
  [
    'a word within a list',
    { tool_calls: [{ call_id: 'c', tool: 'Bash', outcome: 'failed' }] },
    'tool_calls[0].outcome: "failed" is not one of ok, error, running, refused, abandoned: write one of ok, error',
  ],
  ['what is missing', { tool_calls: [{ tool: 'Bash' }] }, 'tool_calls[0].call_id: is missing: write a text'],
  ['a count', { error_count: -1 }, 'error_count: -1 is too little: write at least 0'],
  ['a field', { polcy: 'vigil', phas: 'x' }, 'phas: no field that an agent reports of itself: did you mean phase?'],
])('the answer to %s that is wrong has the value and what to write instead', (_what, line, problem) => {
  expect(understand(JSON.stringify(line)).problems.join('\n')).toContain(problem);
});

test('a line that is too long is refused unread', () => {
  expect(understand('1'.repeat(LONGEST_LINE + 1)).problems).toEqual([expect.stringContaining('longer than')]);
});
