import { expect, test } from 'vitest';
import { VIEW } from '../rows.fixture.ts';
import { taskRow } from './task-rows.fixture.ts';
import { taskLines, tasksTable } from './tasks.ts';

const blocked = {
  ...{ ...taskRow(), recovery: null, recoveryAt: null, recoveryReason: null },
  ...{ blockedReason: 'agent stalled 3 times', blockedAt: 1, blockedAlertId: 'a-7' },
};
const details = { chain: [], recoveries: [] };

test('a task that waits for a person beside its recovery is BLOCKED, with the reason', () => {
  expect(tasksTable(VIEW, [blocked], true).at(-1)).toMatch(/^OMN-1234 .*BLOCKED +BLOCKED: agent stalled 3 times$/);
  expect(taskLines(VIEW, { ...blocked, ...details }, true)).toContain(
    '  BLOCKED    it waits for a person: agent stalled 3 times',
  );
});

test('a task in review that is blocked too has both reasons, that of the review first', () => {
  const both = { ...taskRow(), blockedReason: 'stalled', blockedAt: 1, blockedAlertId: 'a-7' };
  expect(tasksTable({ ...VIEW, width: 200 }, [both], true).at(-1)).toMatch(
    /review required, BLOCKED +3 of 3 attempts used; BLOCKED: stalled$/,
  );
});

test('a block that a person has acknowledged waits for no person', () => {
  const lines = taskLines(VIEW, { ...blocked, blockedAlertId: null, ...details }, true);
  expect(lines).toContain('  BLOCKED    a person has acknowledged it: agent stalled 3 times');
});

test('a task that is not blocked shows its recovery', () => {
  expect(tasksTable(VIEW, [taskRow()], true).at(-1)).toMatch(/review required +3 of 3 attempts used$/);
  expect(taskLines(VIEW, { ...taskRow(), ...details }, true).join()).not.toContain('BLOCKED');
});
