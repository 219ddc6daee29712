import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { inForceOf, loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';

test('two instances of one name at once: the older is refused record by record and announced once; the service keeps running', async () => {
  await using log = new MemoryLog({ ...quiet, partitions: 1 });
  const demo = inForceOf(loadPolicies(undefined, { fallback: 'demo', requestable: 'any' }));
  await using running = await runProcessor(
    log,
    evaluator(() => demo, 100),
    { ...quiet, partitions: 1 },
  );
  const ended = running.finished.catch((error: Error) => error);
  const sendHeartbeat = (instance: string, sequence: number) => {
    const now = Date.now();
    const rest = { instance_id: instance, sequence, timestamp: now };
    return log.publish(
      example(Topic.agentObservation, 'AGENT_HEARTBEAT', { agent_id: 'twin', task_id: null, ...rest }),
    );
  };
  await sendHeartbeat('twin.1', 1);
  for (let i = 1; i <= 25; i++) {
    await sendHeartbeat('twin.2', i);
    await sendHeartbeat('twin.1', i + 1);
  }
  for (let i = 1; i <= 25; i++) await sendHeartbeat('twin.1', i + 100);
  await sendHeartbeat('twin.2', 100);
  await Promise.race([log.settled(), ended]);
  const deadLetters = log.events(Topic.dlqHealthEvaluator) as readonly { payload: { failure_reason: string } }[];
  expect(deadLetters.map(({ payload }) => payload.failure_reason)).toEqual(Array(50).fill('older_instance'));
  const announced = log.events(Topic.agentHealth).filter(({ type }) => type === 'DUPLICATE_INSTANCE');
  expect(announced).toMatchObject([{ payload: { otherInstanceId: 'twin.1' } }]);
  expect(running.status()).toMatchObject([{ phase: 'running', lag: 0 }]);
});
