import type { AlertRow, SilenceRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { VIEW } from '../rows.fixture.ts';
import { alertLine, alertLines, silenceLines } from './alerts.ts';

const T = Date.UTC(2026, 10, 27, 12, 0, 0);
const alert: AlertRow = {
  ...{ alertId: 'alert-1', alertKey: 'stuck_agent:T-1', route: 'stuck_agent', severity: 'warning', urgency: 'normal' },
  ...{ title: 'w1 is STUCK', text: 'no call', agentId: 'w1', taskId: 'T-1', caseId: null, options: [] },
  ...{ deadlineAt: null, updatedAt: T, raisedAt: T, acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null },
  deliveries: [],
};
const silence: SilenceRow = {
  silenceId: 'silence-1',
  matchers: [
    { field: 'route', value: 'stuck_agent' },
    { field: 'team', value: 'red' },
  ],
  until: T,
  by: 'ada',
  why: 'a migration',
};

test('an alert is one line with its severity and how it stands, and its id below', () => {
  const [line, id] = alertLines(VIEW, [alert]);
  expect(line).toContain('warning  w1 is STUCK (open)');
  expect(id?.trim()).toBe('alert-1');
  expect(alertLine(VIEW, { ...alert, acknowledgedBy: 'ada' })).toContain('(acknowledged by ada)');
});

test('a raised urgency is beside the severity, which stays', () => {
  expect(alertLine(VIEW, { ...alert, urgency: 'high' })).toContain('warning (urgency high)');
  expect(alertLine(VIEW, alert)).not.toContain('urgency');
});

test('a silence is shown with its matchers, its end, its author and its id; without one nothing is shown', () => {
  expect(silenceLines(VIEW, [])).toEqual([]);
  expect(silenceLines(VIEW, [silence]).at(-1)).toBe(
    '  route=stuck_agent team=red  until 2026-11-27 12:00:00, by ada: a migration  silence-1',
  );
});
