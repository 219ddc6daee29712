import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
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
