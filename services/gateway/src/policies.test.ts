import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createPolicies } from './policies.ts';

const published = (hash: string, document: unknown) =>
  example(Topic.policy, 'POLICY_PUBLISHED', { name: 'vigil', hash, document: JSON.stringify(document) });

test('of a name, what was published last is in force, in whatever order it is read', () => {
  const policies = createPolicies();
  policies.observe(published('new', {}), 7);
  policies.observe(published('old', {}), 3);
  expect(policies.find('vigil')?.hash).toBe('new');
  expect(policies.find('other')).toBeNull();
});

test('how often heartbeats are wanted is what the policy says, unknown where it says nothing', () => {
  const policies = createPolicies();
  policies.observe(published('a', { heartbeat: { interval: '30s' } }), 0);
  expect(policies.find('vigil')?.intervalMs).toBe(30_000);
  policies.observe(published('b', { heartbeat: {} }), 1);
  expect(policies.find('vigil')?.intervalMs).toBeNull();
});
