import { type Draft, type HealthEvent, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import fc, { type Arbitrary } from 'fast-check';
import { expect, test } from 'vitest';
import { createIngest } from '../../services/heartbeat-ingest/src/processor.ts';
import { change, changes, edited, edits, jsonFor, word } from './requests.ts';

const ingest = createIngest(null);

/** Agents may write this topic only: docs/between-servers.md. Services that read others stop at many unreadable records. */
const TOPIC = Topic.heartbeat;
const COUNT = process.env.VIGIL_SOAK === '1' ? 10_000 : 1000;
const SEED = Number(process.env.VIGIL_FUZZ_SEED ?? 20_261_125);
const PARTITIONS = 2;
const { codec } = new MemoryLog();
const heartbeat = example(TOPIC, 'HEARTBEAT');

/** As Avro; the unchanged one where no client could encode the changes either. */
const encoded = (payload: unknown): Buffer => {
  try {
    return codec.encode({ ...heartbeat, payload } as HealthEvent);
  } catch {
    return codec.encode(heartbeat);
  }
};

const avro = fc
  .tuple(fc.oneof(fc.constant([]), changes), edits)
  .map(([all, cuts]) => edited(encoded(all.reduce(change, heartbeat.payload)), cuts));
const record: Arbitrary<{ readonly key: string; readonly value: Buffer | null }> = fc.record({
  key: word,
  value: fc.oneof(
    { weight: 5, arbitrary: avro },
    { weight: 5, arbitrary: jsonFor('POST /v1/heartbeats').map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constant(null) },
  ),
});

test(`${COUNT} random and mutated heartbeats over Kafka do not end ingest, and the next one is observed (seed ${SEED})`, async () => {
  const log = new MemoryLog({ partitions: PARTITIONS });
  await using running = await runProcessor(log, ingest, { ...quiet, partitions: PARTITIONS, paceMs: 1 });
  for (const { key, value } of fc.sample(record, { numRuns: COUNT, seed: SEED })) log.publishRaw(TOPIC, key, value);
  await log.publish({ ...example(TOPIC, 'HEARTBEAT', { agent_id: 'after', verified: null }), key: 'after' } as Draft);
  await Promise.race([log.settled(), running.finished]);
  expect(running.ready()).toBe(true);
  expect(log.events(Topic.dlqHeartbeatIngest).length).toBeGreaterThan(0);
  expect(log.events(Topic.agentObservation).map(({ key }) => key)).toContain('after');
});
