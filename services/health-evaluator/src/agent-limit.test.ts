import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { inForceOf, loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';

test('above the limit of a partition invented agents are refused, and the others are judged as before', async () => {
  await using log = new MemoryLog({ ...quiet, partitions: 1 });
  const policies = inForceOf(loadPolicies(undefined, { fallback: 'vigil', requestable: 'any' }));
  await using running = await runProcessor(
    log,
    evaluator(() => policies, 2),
    { ...quiet, partitions: 1 },
  );
  const report = (agentId: string, more: object = {}) => {
    const payload = { agent_id: agentId, instance_id: `${agentId}.1`, timestamp: Date.now(), task_id: null, ...more };
    return log.publish({ ...example(Topic.agentObservation, 'AGENT_HEARTBEAT', payload), key: agentId });
  };
  for (const agentId of ['first', 'second', ...Array.from({ length: 100 }, (_, n) => `invented-${n}`)])
    await report(agentId);
  await report('first', { activity: 'stuck', sequence: null });
  await log.settled();
  const refused = log.events(Topic.dlqHealthEvaluator).map(({ key, payload }) => [key, payload.failure_reason]);
  expect(refused).toEqual(Array.from({ length: 100 }, (_, n) => [`invented-${n}`, 'too_many_keys']));
  const present = log.events(Topic.fleetPresence).filter(({ type }) => type === 'AGENT_PRESENT');
  expect(present.map(({ payload }) => (payload as { agentId: string }).agentId)).toEqual(['first', 'second']);
  const changed = log.events(Topic.agentHealth).filter(({ type }) => type === 'HEALTH_STATE_CHANGED');
  expect(changed.map(({ key }) => key)).toEqual(['first']);
  expect(running.status()).toMatchObject([{ phase: 'running', lag: 0 }]);
});
