import { catalogue, Topic, topicNames } from '@vigil/events';
import { expect, test } from 'vitest';
import { PRINCIPALS, planAcls } from './acls.ts';

const acls = planAcls();
const of = (operation: string, name: string): readonly string[] =>
  acls.filter((acl) => acl.operation === operation && acl.name === name).map(({ principal }) => principal);

test('every writer that a schema names is a principal, and may write that topic', () => {
  for (const topic of topicNames)
    for (const writer of catalogue[topic].writers) {
      expect(PRINCIPALS, topic).toContain(writer);
      expect(of('write', topic)).toContain(writer);
    }
});

test('no principal writes a topic that the schemas do not give it, but for the ticks of heartbeat-ingest', () => {
  const others = acls.filter(
    ({ principal, operation, resource, name }) =>
      operation === 'write' &&
      resource === 'topic' &&
      !(catalogue[name as keyof typeof catalogue].writers as readonly string[]).includes(principal),
  );
  expect(others.map(({ principal, name }) => [principal, name])).toEqual([['heartbeat-ingest', Topic.heartbeat]]);
});

test('an agent that writes to Kafka itself may write heartbeats and nothing else', () => {
  expect(acls.filter(({ principal }) => principal === 'agents')).toEqual([
    { principal: 'agents', operation: 'write', resource: 'topic', name: Topic.heartbeat, pattern: 'literal' },
  ]);
});

test('only intervention and recovery write orders, and only they and those that show or deliver them read them', () => {
  expect(of('write', Topic.agentOrder)).toEqual(['intervention', 'recovery']);
  expect(of('read', Topic.agentOrder)).toEqual(['projector', 'dashboard', 'gateway']);
});

test('a state is read and written by its own service alone; the dashboard explains that of the evaluator', () => {
  for (const topic of topicNames.filter((name) => catalogue[name].kind === 'snapshot')) {
    expect(of('write', topic)).toEqual(catalogue[topic].writers);
    const isExplained = topic === 'onex.snapshot.health-evaluator.state.v1';
    expect(of('read', topic)).toEqual([...catalogue[topic].writers, ...(isExplained ? ['dashboard'] : [])]);
  }
});

test('every transactional id belongs to one service, so that no other one can fence it', () => {
  const ids = acls.filter(({ resource }) => resource === 'transactional-id');
  for (const { principal, name } of ids)
    for (const other of ids) if (other.principal !== principal) expect(other.name.startsWith(name)).toBe(false);
});

test('no service may join the group of another one, and only those with a group of their own join any', () => {
  const groups = acls.filter(({ resource, operation }) => resource === 'group' && operation === 'read');
  for (const { principal, name } of groups)
    for (const other of groups) if (other.principal !== principal) expect(other.name.startsWith(name)).toBe(false);
  expect(groups.map(({ principal }) => principal)).not.toContain('dashboard');
});

test('who replays may read how far the evaluator is', () => {
  const describing = acls.filter(({ resource, operation }) => resource === 'group' && operation === 'describe');
  const ofEvaluator = describing.filter(({ name }) => name === 'health-evaluator');
  expect(ofEvaluator.map(({ principal }) => principal)).toEqual(['dashboard', 'cli']);
});
