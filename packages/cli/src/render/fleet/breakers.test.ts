import type { BreakerRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { NOON, VIEW } from '../rows.fixture.ts';
import { breakersTable } from './breakers.ts';

const breaker = (more: Partial<BreakerRow> = {}): BreakerRow => ({
  name: 'external_api',
  agentId: 'worker-1',
  taskId: 'OMN-1234',
  state: 'OPEN',
  failures: 5,
  nextAttemptAt: NOON + 60_000,
  since: NOON,
  trips: 3,
  ...more,
});

test('a breaker has the words that reset it, its state, its next attempt and how often it has opened', () => {
  expect(breakersTable(VIEW, [breaker()])).toEqual([
    'BREAKER                STATE  SINCE     FAILURES  NEXT ATTEMPT  OPENED IN 24 H  TASK',
    'worker-1 external_api  OPEN   12:00:00  5         12:01:00      3               OMN-1234',
  ]);
});

test("a task's breaker is named by its task, and unknown values are dashes", () => {
  const ofTask = breaker({ agentId: null, name: 'recovery_attempt', nextAttemptAt: null });
  expect(breakersTable(VIEW, [ofTask])[1]).toMatch(/^OMN-1234 recovery_attempt {2}OPEN .* - /);
  expect(breakersTable(VIEW, [])).toEqual(['No breaker has opened.']);
});

test('an attempt whose time has come is due now, and one of a recovery then waits for people', () => {
  const shown = (more: Partial<BreakerRow>) => breakersTable(VIEW, [breaker(more)])[1]?.split(/ {2,}/)[4];
  expect(shown({ nextAttemptAt: NOON + 1 })).toBe('12:00:00');
  expect(shown({ nextAttemptAt: NOON })).toBe('now');
  expect(shown({ nextAttemptAt: NOON - 300_000 })).toBe('now');
  expect(shown({ name: 'recovery_attempt', nextAttemptAt: NOON + 60_000 })).toBe('12:01:00');
  expect(shown({ name: 'recovery_attempt', nextAttemptAt: NOON })).toBe('-');
});
