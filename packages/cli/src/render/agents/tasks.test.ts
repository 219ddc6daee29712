import { expect, test } from 'vitest';
import { VIEW } from '../rows.fixture.ts';
import { taskRow } from './task-rows.fixture.ts';
import { taskLines, tasksTable } from './tasks.ts';

const blocked = { ...taskRow(), blockedReason: 'agent stalled 3 times' };
const details = { chain: [], recoveries: [] };

test('a task that waits for a person beside its recovery is BLOCKED, with the reason', () => {
  expect(tasksTable(VIEW, [blocked], true).at(-1)).toMatch(/^OMN-1234 .*BLOCKED +agent stalled 3 times$/);
  expect(taskLines(VIEW, { ...blocked, ...details }, true)).toContain(
    '  BLOCKED    it waits for a person: agent stalled 3 times',
  );
});

test('a task that is not blocked shows its recovery', () => {
  expect(tasksTable(VIEW, [taskRow()], true).at(-1)).toMatch(/review required +3 of 3 attempts used$/);
  expect(taskLines(VIEW, { ...taskRow(), ...details }, true).join()).not.toContain('BLOCKED');
});
