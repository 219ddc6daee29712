import { type EventOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { type LogRecord, runProcessor, writer } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test, vi } from 'vitest';
import { inForceOf, loadPolicies } from './policies.ts';
import { evaluator } from './processor.ts';

const policies = inForceOf(loadPolicies(undefined, { fallback: 'vigil', requestable: 'any' }));

/** Ids, types and payloads of everything that the evaluator emits for these observations. */
const emitted = async (log: MemoryLog) => {
  const running = await runProcessor(
    log,
    evaluator(() => policies, 100),
    { ...quiet, partitions: 1, paceMs: 1 },
  );
  const health = () => log.events(Topic.agentHealth) as readonly EventOf<typeof Topic.agentHealth>[];
  await vi.waitFor(() => expect(health().some(({ type }) => type === 'WARRANT_FILED')).toBe(true), {
    timeout: 60_000,
    interval: 5,
  });
  await running.stop();
  return health().map(({ eventId, type, version, epoch, payload }) => ({ eventId, type, version, epoch, payload }));
};

test('without its snapshot the evaluator files the same warrants again, under the same ids: what its refusal names loses none', async () => {
  const first = new MemoryLog({ partitions: 1, now: () => EXAMPLE_TIME });
  const crashed = example(Topic.agentObservation, 'AGENT_EXITED', { reason: 'crashed', orderId: null });
  await writer(first, () => EXAMPLE_TIME).write([crashed]);
  const before = await emitted(first);
  const observed: LogRecord[] = [];
  const [range] = await first.bounds(Topic.agentObservation);
  await first.read(Topic.agentObservation, 0, range!, (record) => observed.push(record));
  const again = new MemoryLog({ partitions: 1, now: () => EXAMPLE_TIME });
  await again.write(observed);
  expect(await emitted(again)).toEqual(before);
});
