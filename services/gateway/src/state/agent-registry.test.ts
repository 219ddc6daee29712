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
  const agentRegistry = createAgentRegistry();
  agentRegistry.observe(present('host-2', 'i-2'), 7);
  agentRegistry.observe(lost('host-1', 'i-1'), 3);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-2', instanceId: 'i-2', present: true });
});

test('an instance whose place another one has taken has a successor, also after the end of that one', () => {
  const agentRegistry = createAgentRegistry();
  agentRegistry.observe(present('host-1', 'i-1'), 1);
  expect(agentRegistry.successorOf('worker-1', 'i-1')).toBeNull();
  agentRegistry.observe(present('host-2', 'i-2'), 2);
  agentRegistry.observe(lost('host-2', 'i-2'), 3);
  expect(agentRegistry.successorOf('worker-1', 'i-1')).toBe('i-2');
  expect(agentRegistry.successorOf('worker-1', 'i-2')).toBeNull();
});

test('a lost agent keeps its last runtime', () => {
  const agentRegistry = createAgentRegistry();
  agentRegistry.observe(lost('host-1', 'i-1'), 3);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', instanceId: 'i-1', present: false });
});

test('without a record of the evaluator, the first reporter of an agent counts for a minute', () => {
  const agentRegistry = createAgentRegistry();
  agentRegistry.observeHeartbeat(heartbeatOf('host-1'), now);
  expect(agentRegistry.of('worker-1', now + REPORTER_MS - 1)).toMatchObject({ runtimeId: 'host-1', present: true });
  expect(agentRegistry.of('worker-1', now + REPORTER_MS)).toBeNull();
});

test('a heartbeat does not change what the evaluator has published', () => {
  const agentRegistry = createAgentRegistry();
  agentRegistry.observeHeartbeat(heartbeatOf('host-9'), now);
  agentRegistry.observe(lost('host-1', 'i-1'), 3);
  agentRegistry.observeHeartbeat(heartbeatOf('host-9'), now);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', present: false });
});

test('an agent that is still present is known to an instance that has not read of its beginning', () => {
  const agentRegistry = createAgentRegistry();
  const payload = { agentId: 'worker-1', runtimeId: 'host-1', instanceId: 'i-1', why: 'still_present' as const };
  agentRegistry.observeHeartbeat(heartbeatOf('host-9'), now);
  agentRegistry.observe(example(Topic.fleetPresence, 'AGENT_PRESENT', payload), 3);
  expect(agentRegistry.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', present: true });
});
