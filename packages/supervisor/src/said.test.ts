import { expect, test } from 'vitest';
import { longestLine, understand } from './said.ts';

test.each(['__proto__', 'constructor', 'toString'])('%s is no field, and harms nobody', (name) => {
  expect(understand(`{"${name}":1,"phase":"work"}`)).toEqual({
    said: { phase: 'work' },
    problems: [`${name}: no field that an agent reports of itself`],
    hook: null,
  });
});

test('a field that the gateway would refuse spoils no heartbeat', () => {
  const checkpoint = { checkpoint_id: 'x'.repeat(513) };
  const { said, problems } = understand(JSON.stringify({ phase: 'work', checkpoint, last_tool_call: 8.64e15 + 1 }));
  expect(said).toEqual({ phase: 'work' });
  expect(problems).toHaveLength(2);
  expect(understand('{"checkpoint":{"checkpoint_id":"c"}}').problems).toEqual([]);
});

test('a line that is too long is refused unread', () => {
  expect(understand('1'.repeat(longestLine + 1)).problems).toEqual([expect.stringContaining('longer than')]);
});
