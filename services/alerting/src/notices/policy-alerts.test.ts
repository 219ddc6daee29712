import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { agentNotices } from './agents/agent-notices.ts';
import { notifyAll } from './notice.ts';
import { AS_CONFIGURED } from './notices.fixture.ts';
import { policyAlerts } from './policy-alerts.ts';

const published = (name: string, hash: string, alerts: unknown) =>
  example(Topic.policy, 'POLICY_PUBLISHED', { name, hash, document: JSON.stringify({ alerts }) });
const of = (channels: readonly string[]) => ({ stuck_agent: { severity: 'warning', channels } });

test('a notice under a policy uses that very document, whichever was published later', () => {
  const alerts = policyAlerts();
  alerts.observe(published('vigil', 'h1', of(['ops'])));
  alerts.observe(published('vigil', 'h2', of(['pager'])));
  expect(alerts.of({ name: 'vigil', hash: 'h1' }, 'stuck_agent')).toEqual({
    severity: 'warning',
    channels: ['ops'],
    ...AS_CONFIGURED,
  });
  expect(alerts.of({ name: 'vigil', hash: 'h2' }, 'stuck_agent')).toEqual({
    severity: 'warning',
    channels: ['pager'],
    ...AS_CONFIGURED,
  });
});

test('a document that is not known yet counts as the newest of its name', () => {
  const alerts = policyAlerts();
  alerts.observe(published('vigil', 'h1', of(['ops'])));
  expect(alerts.of({ name: 'vigil', hash: 'h9' }, 'stuck_agent')?.channels).toEqual(['ops']);
  expect(alerts.of({ name: 'hive', hash: 'h9' }, 'stuck_agent')).toBeNull();
});

test('without a policy, a route of it or a channel, the default ones are meant', () => {
  const alerts = policyAlerts();
  alerts.observe(published('vigil', 'h1', of([])));
  expect(alerts.of(null, 'stuck_agent')).toBeNull();
  expect(alerts.of({ name: 'vigil', hash: 'h1' }, 'recovery_failed')).toBeNull();
  expect(alerts.of({ name: 'vigil', hash: 'h1' }, 'stuck_agent')?.channels).toEqual(['default']);
});

test('an assignment, or a document in an unknown format, sets nothing', () => {
  const alerts = policyAlerts();
  alerts.observe(published('assign', 'h1', 'new words'));
  expect(alerts.of({ name: 'assign', hash: 'h1' }, 'stuck_agent')).toBeNull();
});

describe('a route that a policy turns off', () => {
  const policy = { name: 'hive', hash: 'h1' };
  const alerts = policyAlerts();
  alerts.observe(published('hive', 'h1', { stuck_agent: false, recovery_failed: { severity: 'info' } }));
  /** what people get: action and route */
  const under = (input: Parameters<typeof agentNotices>[0], by = policy) =>
    notifyAll(agentNotices(input), by, alerts).map(({ payload }) => [payload.action, payload.route]);

  test.each(['STUCK', 'FAILING'] as const)('raises nothing for a %s agent; other policies do', (to) => {
    const changed = example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to, leftTaskId: null });
    expect(under(changed)).toEqual([]);
    expect(under(changed, { name: 'vigil', hash: 'h2' })).toEqual([['raise', 'stuck_agent']]);
  });

  test('raises no question, which stays in the inbox', () => {
    expect(under(example(Topic.agentIntervention, 'ESCALATION_TRIGGERED'))).toEqual([]);
  });

  test('raises the alert of a step that names a channel, and none of a step without one', () => {
    const requested = (channel: string | null) => example(Topic.agentIntervention, 'ALERT_REQUESTED', { channel });
    expect(under(requested('ops'))).toEqual([['raise', 'stuck_agent']]);
    expect(under(requested(null))).toEqual([]);
  });

  test('resolves what was open before', () => {
    const healthy = example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to: 'HEALTHY', leftTaskId: null });
    expect(under(healthy)).toContainEqual(['resolve', 'stuck_agent']);
  });

  test('concerns no other route', () => {
    const ticket = example(Topic.agentHealth, 'WORKER_ESCALATION_TICKET');
    const critical = { ...ticket.payload, ticket: { ...ticket.payload.ticket, severity: 'critical' as const } };
    const findings = { ...ticket.payload.findings, transient: false, progressAt: null };
    expect(under({ ...ticket, payload: { ...critical, findings } })).toEqual([['raise', 'escalation_ticket']]);
    expect(alerts.isOff(policy, 'recovery_failed')).toBe(false);
    expect(alerts.isOff(null, 'stuck_agent')).toBe(false);
  });
});
