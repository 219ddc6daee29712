import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createPolicies } from './policies.ts';

const named = (name: string, hash: string, document: unknown, withdrawn = false) =>
  example(Topic.policy, 'POLICY_PUBLISHED', { name, hash, document: JSON.stringify(document), withdrawn });
const published = (hash: string, document: unknown) => named('vigil', hash, document);

test('the newest publication of a name is in force, in any order of reading', () => {
  const policies = createPolicies('vigil');
  policies.observe(published('new', {}), 7);
  policies.observe(published('old', {}), 3);
  expect(policies.find('vigil')?.hash).toBe('new');
  expect(policies.find('other')).toBeNull();
});

test('the heartbeat interval comes from the policy, and is unknown if the policy sets none', () => {
  const policies = createPolicies('vigil');
  policies.observe(published('a', { heartbeat: { interval: '30s' } }), 0);
  expect(policies.find('vigil')?.intervalMs).toBe(30_000);
  policies.observe(published('b', { heartbeat: {} }), 1);
  expect(policies.find('vigil')?.intervalMs).toBeNull();
});

test('an agent receives the policy that it is assigned, not the one that it requests', () => {
  const policies = createPolicies('vigil');
  for (const [i, name] of ['vigil', 'demo', 'hive'].entries()) policies.observe(named(name, `h-${name}`, {}), i);
  const assigned = (agentId: string, requestedPolicy: string | null, labels = {}) =>
    policies.assignedTo({ agentId, labels, requestedPolicy })?.name;
  expect([assigned('a', null), assigned('a', 'demo'), assigned('a', 'gone')]).toEqual(['vigil', 'vigil', 'vigil']);
  const rules = [
    { id: '^ci-', policy: 'demo', may_request: ['hive'] },
    { labels: { team: 'core' }, policy: 'hive' },
  ];
  policies.observe(named('assign.yaml', 'h-a', { rules, default: 'vigil' }), 5);
  expect([assigned('ci-1', 'vigil'), assigned('ci-1', 'hive'), assigned('a', 'demo')]).toEqual([
    'demo',
    'hive',
    'vigil',
  ]);
  expect(assigned('a', null, { team: 'core' })).toBe('hive');
});

test('a removed policy is not served, and cannot be requested', () => {
  const policies = createPolicies('vigil');
  policies.observe(published('h1', {}), 0);
  policies.observe(named('demo', 'h2', {}), 1);
  policies.observe(named('demo', 'h2', {}, true), 2);
  expect(policies.find('demo')).toBeNull();
  expect(policies.assignedTo({ agentId: 'a', labels: {}, requestedPolicy: 'demo' })?.name).toBe('vigil');
});
