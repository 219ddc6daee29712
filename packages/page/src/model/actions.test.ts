import { expect, test } from 'vitest';
import {
  agentActions,
  alertActions,
  breakerActions,
  channelActions,
  fleetActions,
  isHeld,
  silenceActions,
  taskActions,
} from './actions.ts';

const agent = { agentId: 'a', state: 'STUCK', held: false, heldUntil: null, unhealthy: true } as const;
const labels = (actions: readonly { readonly label: string }[]) => actions.map(({ label }) => label);

test('a living agent can be nudged, held, handed off and ended', () => {
  const own = { ...agent, taskId: 'T-1' };
  expect(labels(agentActions(own, 0))).toEqual([
    'Nudge',
    'Hold',
    'Hand off',
    'Restart',
    'Terminate and recover',
    'Terminate',
  ]);
});

test('a held agent is released instead, until the hold has run out', () => {
  const held = { ...agent, taskId: null, held: true, heldUntil: 10 };
  expect(labels(agentActions(held, 9))).toContain('Release');
  expect(labels(agentActions(held, 10))).toContain('Hold');
  expect(isHeld(99, { held: true, heldUntil: null })).toBe(true);
});

test('an ended agent can be recovered only, if it has a task', () => {
  const ended = { ...agent, state: 'TERMINATED', taskId: 'T-1' } as const;
  expect(labels(agentActions(ended, 0))).toEqual(['Terminate and recover']);
  expect(agentActions({ ...ended, taskId: null }, 0)).toEqual([]);
  // Another agent has its task, or the task is over.
  expect(agentActions({ ...ended, unhealthy: false }, 0)).toEqual([]);
});

test('a task in review has decisions, a blocked one its acknowledgement, and another one none', () => {
  const task = { taskId: 'T-1', recovery: null, blockedAlertId: null };
  expect(labels(taskActions({ ...task, recovery: 'REVIEW_REQUIRED' }))).toEqual(['Retry', 'Reset', 'Abandon']);
  expect(labels(taskActions({ ...task, recovery: 'REVIEW_REQUIRED', blockedAlertId: 'a-7' }))).not.toContain(
    'Acknowledge',
  );
  expect(taskActions({ ...task, blockedAlertId: 'a-7' })).toMatchObject([
    { label: 'Acknowledge', command: { kind: 'acknowledge', alertId: 'a-7' } },
  ]);
  expect(taskActions({ ...task, recovery: 'RECOVERY_COMPLETED' })).toEqual([]);
});

test('a closed breaker, and one of a task, have no reset', () => {
  const breaker = { name: 'tool_execution', taskId: null, failures: 3, nextAttemptAt: null, since: 0, trips: 1 };
  expect(labels(breakerActions({ ...breaker, agentId: 'a', state: 'OPEN' }))).toEqual(['Reset']);
  expect(breakerActions({ ...breaker, agentId: 'a', state: 'CLOSED' })).toEqual([]);
  expect(breakerActions({ ...breaker, agentId: null, state: 'OPEN' })).toEqual([]);
});

test('a resolved alert has no action, an acknowledged one is not acknowledged again, and each channel has one test', () => {
  const alert = {
    ...{ alertId: 'x', alertKey: 'k', route: null, severity: 'warning', title: 't', text: null, agentId: 'a' },
    ...{ taskId: null, caseId: null, options: [], deadlineAt: null, updatedAt: null, raisedAt: 0 },
    ...{ acknowledgedAt: null, acknowledgedBy: null, resolvedAt: null, deliveries: [], urgency: 'normal' },
    waitsAgain: false,
  };
  expect(labels(alertActions(alert))).toEqual(['Acknowledge', 'Resolve', 'Silence']);
  expect(labels(alertActions({ ...alert, acknowledgedAt: 1 }))).toEqual(['Resolve', 'Silence']);
  expect(labels(alertActions({ ...alert, acknowledgedAt: 1, waitsAgain: true }))).toContain('Acknowledge');
  expect(alertActions({ ...alert, resolvedAt: 1 })).toEqual([]);
  // The names are those of the alert's own fields, because a matcher compares these.
  expect(alertActions(alert).at(-1)?.command).toMatchObject({ matchers: [{ field: 'agentId', value: 'a' }] });
  const delivered = { ...alert, deliveries: [{ sink: 'slack', ok: true, detail: null }] };
  expect(labels(channelActions([delivered, delivered, alert]))).toEqual(['Test slack']);
});

test('a silence states what it is about, and can be ended', () => {
  const matchers = [
    { field: 'agentId', value: 'a' },
    { field: 'team', value: 'core' },
  ];
  const silence = { silenceId: 's-1', matchers, until: 10, by: 'ada', why: 'a rehearsal' };
  expect(silenceActions(silence)[0]?.text).toBe('Channels get alerts of agent=a team=core again.');
  expect(silenceActions(silence)).toMatchObject([
    { label: 'End silence', command: { kind: 'end_silence', silenceId: 's-1' } },
  ]);
});

test('a halted fleet is resumed, and the brake is lifted only if it holds', () => {
  const fleet = {
    ...{ halted: false, haltBy: null, haltWhy: null, haltAt: null, braked: false, brakeScope: null },
    ...{ brakeAgents: [], brakeWhy: null, brakeAt: null, dryRun: false, dryRunBy: null, dryRunWhy: null },
  };
  expect(labels(fleetActions(fleet))).toEqual(['Halt', 'Dry run']);
  expect(labels(fleetActions({ ...fleet, halted: true, braked: true, dryRun: true }))).toEqual([
    ...['Lift the brake', 'Resume', 'End dry run'],
  ]);
});
