import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createAgentRegistry, REPORTER_MS } from './agent-registry.ts';

const now = EXAMPLE_TIME;
const present = (runtimeId: string, instanceId: string) =>
  example(Topic.fleetPresence, 'AGENT_PRESENT', { agentId: 'worker-1', runtimeId, instanceId });
const lost = (runtimeId: string, instanceId: string) =>
  example(Topic.fleetPresence, 'AGENT_LOST', { agentId: 'worker-1', runtimeId, instanceId });
const heartbeatOf = (runtime_id: string | null) =>
  example(Topic.heartbeat, 'HEARTBEAT', { agent_id: 'worker-1', runtime_id, instance_id: 'i-1' }).payload;

test('the newest in the log counts, in any order of reading', () => {
  const agentRegistry = createAgentRegistry(10);
  agentRegistry.observe(present('host-2', 'i-2'), 7);
  agentRegistry.observe(lost('host-1', 'i-1'), 3);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-2', instanceId: 'i-2', present: true });
});

test('an instance whose place another one has taken has a successor, also after the end of that one', () => {
  const agentRegistry = createAgentRegistry(10);
  agentRegistry.observe(present('host-1', 'i-1'), 1);
  expect(agentRegistry.successorOf('worker-1', 'i-1')).toBeNull();
  agentRegistry.observe(present('host-2', 'i-2'), 2);
  agentRegistry.observe(lost('host-2', 'i-2'), 3);
  expect(agentRegistry.successorOf('worker-1', 'i-1')).toBe('i-2');
  expect(agentRegistry.successorOf('worker-1', 'i-2')).toBeNull();
});

test('a lost agent keeps its last runtime', () => {
  const agentRegistry = createAgentRegistry(10);
  agentRegistry.observe(lost('host-1', 'i-1'), 3);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', instanceId: 'i-1', present: false });
});

test('without a record of the evaluator, the first reporter of an agent counts for a minute', () => {
  const agentRegistry = createAgentRegistry(10);
  agentRegistry.observeHeartbeat(heartbeatOf('host-1'), now);
  expect(agentRegistry.of('worker-1', now + REPORTER_MS - 1)).toMatchObject({ runtimeId: 'host-1', present: true });
  expect(agentRegistry.of('worker-1', now + REPORTER_MS)).toBeNull();
});

test('a heartbeat does not change what the evaluator has published', () => {
  const agentRegistry = createAgentRegistry(10);
  agentRegistry.observeHeartbeat(heartbeatOf('host-9'), now);
  agentRegistry.observe(lost('host-1', 'i-1'), 3);
  agentRegistry.observeHeartbeat(heartbeatOf('host-9'), now);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', present: false });
});

test('an agent that is still present is known to an instance that has not read of its beginning', () => {
  const agentRegistry = createAgentRegistry(10);
  const payload = { agentId: 'worker-1', runtimeId: 'host-1', instanceId: 'i-1', why: 'still_present' as const };
  agentRegistry.observeHeartbeat(heartbeatOf('host-9'), now);
  agentRegistry.observe(example(Topic.fleetPresence, 'AGENT_PRESENT', payload), 3);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', present: true });
});

test('a present agent is never forgotten; of the others the oldest are', () => {
  const agentRegistry = createAgentRegistry(3);
  const observe = (type: 'AGENT_PRESENT' | 'AGENT_LOST', agentId: string, offset: number) =>
    agentRegistry.observe(example(Topic.fleetPresence, type, { agentId, runtimeId: `of-${agentId}` }), offset);
  observe('AGENT_PRESENT', 'victim', 1);
  observe('AGENT_LOST', 'ended', 2);
  for (let n = 0; n < 3; n++) observe('AGENT_LOST', `lost-${n}`, 10 + n);
  for (let n = 0; n < 20; n++) observe('AGENT_PRESENT', `new-${n}`, 20 + n);
  expect(agentRegistry.of('victim', now)).toMatchObject({ runtimeId: 'of-victim', present: true });
  expect(agentRegistry.of('ended', now)).toBeNull();
  expect(agentRegistry.of('lost-0', now)).toMatchObject({ runtimeId: 'of-lost-0', present: false });
});

test('an agent that ends and comes back is remembered once', () => {
  const agentRegistry = createAgentRegistry(1);
  agentRegistry.observe(present('host-1', 'i-1'), 1);
  agentRegistry.observe(lost('host-1', 'i-1'), 2);
  agentRegistry.observe(present('host-2', 'i-2'), 3);
  agentRegistry.observe(example(Topic.fleetPresence, 'AGENT_LOST', { agentId: 'other' }), 4);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-2', present: true });
});
