import { type Heartbeat, PROOF_HEADER, proofCheck, proofSigner, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { partitionOf, runProcessor } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { quiet } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { createIngest } from './processor.ts';

const KEY = 'a-key-of-proofs-for-tests-only-0001';
const sign = proofSigner(KEY);
const VERIFIED = { kind: 'runtime', name: 'host-1' } as const;
const MINUTE = 60_000;

type Sent = { readonly payload?: Partial<Heartbeat>; readonly headers?: Readonly<Record<string, string>> };

/** Sends heartbeats to an ingest with this key, in JSON, and returns what it writes. */
const ingested = async (key: string | null, sent: readonly Sent[]) => {
  await using log = new MemoryLog({ partitions: 2 });
  const running = await runProcessor(log, createIngest(key === null ? null : proofCheck([key])), {
    ...quiet,
    partitions: 2,
  });
  for (const { payload, headers = {} } of sent) {
    const { payload: whole } = example(Topic.heartbeat, 'HEARTBEAT', { verified: null, ...payload });
    const value = Buffer.from(JSON.stringify(whole));
    const partition = partitionOf(whole.agent_id, 2);
    log.append([{ topic: Topic.heartbeat, partition, key: whole.agent_id, value, headers }]);
  }
  await log.settled();
  await running.stop();
  const observed = log.events(Topic.agentObservation) as readonly { readonly payload: Heartbeat }[];
  const letters = log.events(Topic.dlqHeartbeatIngest) as readonly {
    readonly payload: { readonly failure_reason: string };
  }[];
  return {
    verified: observed.map(({ payload }) => payload.verified),
    refused: letters.map(({ payload }) => payload.failure_reason),
    checkpoints: log.events(Topic.taskCheckpoint).map(({ payload }) => payload.verified),
  };
};

const proven = (payload: Partial<Heartbeat>, at = Date.now()): Sent => {
  const { payload: whole } = example(Topic.heartbeat, 'HEARTBEAT', { verified: null, ...payload });
  const proof = sign(whole.agent_id, Buffer.from(JSON.stringify(whole)), at);
  return { payload, headers: { [PROOF_HEADER]: proof } };
};

test('a heartbeat that the gateway has signed is verified, and so is its checkpoint', async () => {
  const { verified, refused, checkpoints } = await ingested(KEY, [proven({ verified: VERIFIED })]);
  expect(verified).toEqual([VERIFIED]);
  expect(refused).toEqual([]);
  expect(checkpoints).toEqual([true]);
});

test('a heartbeat that was sent directly to Kafka is accepted, and marked as not verified', async () => {
  const { verified, refused, checkpoints } = await ingested(KEY, [{}]);
  expect(verified).toEqual([null]);
  expect(refused).toEqual([]);
  expect(checkpoints).toEqual([false]);
});

test('a stamp without proof is a dead letter', async () => {
  const [header = ''] = Object.values(proven({ verified: VERIFIED }).headers ?? {});
  const stolen = { [PROOF_HEADER]: header };
  const { verified, refused } = await ingested(KEY, [
    { payload: { verified: VERIFIED } },
    { payload: { verified: VERIFIED }, headers: { [PROOF_HEADER]: 'yes' } },
    { payload: { verified: VERIFIED, phase: 'another' }, headers: stolen },
    { payload: { verified: { ...VERIFIED, name: 'host-2' } }, headers: stolen },
    { payload: { agent_id: 'worker-2', verified: VERIFIED }, headers: stolen },
    // The header of a moved record names an earlier time, which anybody can write.
    { ...proven({ verified: VERIFIED }, Date.now() - 6 * MINUTE) },
    {
      payload: { verified: VERIFIED },
      headers: {
        ...proven({ verified: VERIFIED }, Date.now() - 6 * MINUTE).headers,
        moved: String(Date.now() - 6 * MINUTE),
      },
    },
  ]);
  expect(verified).toEqual([]);
  expect(refused).toEqual(Array.from({ length: 7 }, () => 'stamp_without_proof'));
});

test('without a key nothing is verified: a signed heartbeat counts as one that was sent directly to Kafka', async () => {
  const { verified, refused } = await ingested(null, [
    proven({ verified: VERIFIED }),
    { payload: { verified: VERIFIED } },
  ]);
  expect(verified).toEqual([null]);
  expect(refused).toEqual(['stamp_without_proof']);
});

test('a signed heartbeat that is moved to its partition stays verified', async () => {
  await using log = new MemoryLog({ partitions: 2 });
  const running = await runProcessor(log, createIngest(proofCheck([KEY])), { ...quiet, partitions: 2 });
  const { payload } = example(Topic.heartbeat, 'HEARTBEAT', { verified: VERIFIED });
  const value = Buffer.from(JSON.stringify(payload));
  const headers = { [PROOF_HEADER]: sign(payload.agent_id, value, Date.now()) };
  const partition = 1 - partitionOf(payload.agent_id, 2);
  log.append([{ topic: Topic.heartbeat, partition, key: payload.agent_id, value, headers }]);
  await log.settled();
  await running.stop();
  expect(log.events(Topic.agentObservation)).toMatchObject([{ payload: { verified: VERIFIED } }]);
});
