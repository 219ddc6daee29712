import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createOwners, HEARD_MS } from './owners.ts';

const now = EXAMPLE_TIME;
const present = (runtimeId: string, instanceId: string) =>
  example(Topic.fleetPresence, 'AGENT_PRESENT', { agentId: 'worker-1', runtimeId, instanceId });
const lost = (runtimeId: string, instanceId: string) =>
  example(Topic.fleetPresence, 'AGENT_LOST', { agentId: 'worker-1', runtimeId, instanceId });
const beat = (runtime_id: string | null) =>
  example(Topic.heartbeat, 'HEARTBEAT', { agent_id: 'worker-1', runtime_id, instance_id: 'i-1' }).payload;

test('the newest in the log counts, in whatever order it is read', () => {
  const owners = createOwners();
  owners.observe(present('host-2', 'i-2'), 7);
  owners.observe(lost('host-1', 'i-1'), 3);
  expect(owners.of('worker-1', now)).toMatchObject({ runtimeId: 'host-2', instanceId: 'i-2', present: true });
});

test('who is lost is remembered as the last that lived there', () => {
  const owners = createOwners();
  owners.observe(lost('host-1', 'i-1'), 3);
  expect(owners.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', instanceId: 'i-1', present: false });
});

test('of whom the evaluator says nothing, who was heard counts for a minute, and no longer', () => {
  const owners = createOwners();
  owners.heard(beat('host-1'), now);
  expect(owners.of('worker-1', now + HEARD_MS - 1)).toMatchObject({ runtimeId: 'host-1', present: true });
  expect(owners.of('worker-1', now + HEARD_MS)).toBeNull();
});

test('what the evaluator says is not changed by who is heard', () => {
  const owners = createOwners();
  owners.heard(beat('host-9'), now);
  owners.observe(lost('host-1', 'i-1'), 3);
  owners.heard(beat('host-9'), now);
  expect(owners.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', present: false });
});

test('an agent that is still present is known to an instance that has not read of its beginning', () => {
  const owners = createOwners();
  const payload = { agentId: 'worker-1', runtimeId: 'host-1', instanceId: 'i-1', why: 'still_present' as const };
  owners.heard(beat('host-9'), now);
  owners.observe(example(Topic.fleetPresence, 'AGENT_PRESENT', payload), 3);
  expect(owners.of('worker-1', now)).toMatchObject({ runtimeId: 'host-1', present: true });
});
