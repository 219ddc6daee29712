import type { AlertRow, SilenceRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { VIEW } from '../rows.fixture.ts';
import { alertLine, alertsNamed, alertsTable, silenceLines } from './alerts.ts';

const T = Date.UTC(2026, 10, 27, 12, 0, 0);
const alert: AlertRow = {
  ...{ alertId: 'alert-1', alertKey: 'stuck_agent:T-1', route: 'stuck_agent', severity: 'warning', urgency: 'normal' },
  ...{ title: 'w1 is STUCK', text: 'no call', agentId: 'w1', taskId: 'T-1', caseId: null, options: [] },
  ...{ deadlineAt: null, updatedAt: T, raisedAt: T, acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null },
  ...{ waitsAgain: false, deliveries: [] },
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

test('alerts are a table with the beginning of the id, the agent and the task', () => {
  const uuid = { ...alert, alertId: '56c342cd-0d5e-4a53-9f5e-1f6f3d3a0001' };
  const alike = { ...alert, alertId: '56c342cd-0f00-4a53-9f5e-1f6f3d3a0002', severity: 'critical', agentId: null };
  const [head, ...lines] = alertsTable(VIEW, [uuid, alert]);
  expect(head).toMatch(/^ALERT +TIME +SEVERITY +AGENT +TASK +STANDS +TITLE$/);
  expect(lines[0]).toMatch(/^56c342cd +2026-11-27 12:00:00 +warning +w1 +T-1 +open +w1 is STUCK$/);
  expect(lines[1]).toMatch(/^alert-1 /);
  expect(alertsTable(VIEW, [uuid, alike])[2]).toMatch(/^56c342cd-0f +.* critical +- +T-1 /);
  expect(alertsTable(VIEW, [])).toEqual(['No alerts.']);
  const acknowledged = { ...alert, acknowledgedAt: T, acknowledgedBy: 'ada' };
  expect(alertLine(VIEW, acknowledged)).toContain('(acknowledged by ada)');
  const again = 'waits again: a ticket came after ada acknowledged it';
  expect(alertLine(VIEW, { ...acknowledged, waitsAgain: true })).toContain(`(${again})`);
  expect(alertsTable(VIEW, [{ ...acknowledged, waitsAgain: true }])[3]).toContain(` ${again} `);
});

test('on a narrow terminal a row has two lines, none is wider, and nothing of the title is lost', () => {
  const long = {
    ...alert,
    agentId: 'search-perf-31',
    taskId: 'OMN-1234',
    title: 'search-perf-31 waits for a decision',
  };
  const lines = alertsTable({ ...VIEW, width: 70 }, [long, alert]);
  expect(lines).toEqual([
    expect.stringMatching(/^ALERT +TIME +SEVERITY +AGENT +TASK$/),
    expect.stringMatching(/^ {2}STANDS +TITLE$/),
    expect.stringMatching(/^alert-1 +2026-11-27 12:00:00 +warning +search-perf-31 +OMN-1234$/),
    expect.stringMatching(/^ {2}open +search-perf-31 waits for a decision$/),
    expect.stringMatching(/^alert-1 .* w1 +T-1 *$/),
    expect.stringMatching(/^ {2}open +w1 is STUCK$/),
  ]);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(70);
});

test('an alert is named by its id, the beginning of it, its agent or its task', () => {
  const other = { ...alert, alertId: '56c342cd-0d5e', agentId: 'w2' };
  const named = (name: string) => alertsNamed([alert, other], name).map(({ alertId }) => alertId);
  expect(['alert-1', '56c3', '56c', 'w2', 'T-1', 'w'].map(named)).toEqual([
    ...[['alert-1'], ['56c342cd-0d5e'], [], ['56c342cd-0d5e'], ['alert-1', '56c342cd-0d5e'], []],
  ]);
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
