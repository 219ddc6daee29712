import { setTimeout as sleep } from 'node:timers/promises';
import { Topic } from '@vigil/events';
import { connectLog, type Log, plaintext, silentLogger } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, soak, type TestSystem, until } from '../support/system.ts';
import { feed, judge, type Outcome, readAll, startWorker, type Worker } from './counting.ts';
import { type Counted, jsonCodec, type WorkerPlan } from './worker.ts';

const SESSION_MS = 2000;
/** Longer than the session and its rebalance, so that another worker has taken over and written. */
const FROZEN_MS = 3500;
const ROUNDS = soak(3, 12);
/** Whether a freeze falls between a read and its write is chance, so the control continues until one does. */
const MOST_CONTROL_ROUNDS = 30;
const TEST_MS = 600_000;

/** Waits until a worker writes to each partition: a frozen one does not. */
const takenOver = async (log: Log, topic: string): Promise<void> => {
  const before = await log.bounds(topic);
  await until('another has taken over', async () => {
    const now = await log.bounds(topic);
    // Waits for a record, not only for the marker that ends the transaction of the frozen worker.
    return now.every(({ high }, partition) => high > (before[partition]?.high ?? 0) + 10);
  });
};

/**
 * Two workers. Each in turn is frozen until the other has its partitions, then continues. `rounds`: at most so many;
 * `isEnough`: whether the outcome so far ends them.
 */
const tryZombies = async (
  on: TestSystem,
  plan: Omit<WorkerPlan, 'brokers' | 'sessionMs'>,
  { rounds, isEnough }: { rounds: number; isEnough: (outcome: Outcome) => boolean },
): Promise<Outcome> => {
  const brokers = on.servers.env.KAFKA_BROKERS.split(',');
  await using log = await connectLog({
    kafka: plaintext(brokers),
    clientId: 'feeder',
    codec: jsonCodec,
    logger: silentLogger,
  });
  const whole = { ...plan, brokers, sessionMs: SESSION_MS };
  const workers = ['a', 'b'].map((name) => startWorker(`${plan.processor}-${name}`, whole, on.dir));
  const enough = new AbortController();
  const feeding = feed(log, plan.reads, enough.signal);
  const written = () => readAll<Counted>(log, plan.writes);
  try {
    await until('the workers count', async () => (await written()).length > 0);
    const outcome = async () => judge(await readAll(log, plan.reads), await written());
    for (let round = 0; round < rounds && !isEnough(await outcome()); round++) {
      const worker = workers[round % 2] as Worker;
      worker.send('SIGSTOP');
      await sleep(FROZEN_MS);
      await takenOver(log, plan.writes);
      worker.send('SIGCONT');
      await sleep(1500);
    }
    enough.abort();
    const { acknowledged, unknown } = await feeding;
    expect(unknown).toEqual([]);
    const all = async () => new Set((await written()).map(({ payload }) => payload.id)).size === acknowledged.length;
    await until('everything sent is counted', all);
    return await outcome();
  } finally {
    enough.abort();
    await feeding.catch(() => {});
    await Promise.all(workers.map((worker) => worker.end()));
  }
};

describe.skipIf(!ownServers)('a processor that was stopped for longer than its session', () => {
  let on: TestSystem;
  beforeAll(async () => {
    on = await openSystem({ name: 'zombies', services: [] });
  });
  afterAll(() => on.stop());

  test(
    'cannot write any more: every input counts once, with the right state, in order',
    async () => {
      const names = { processor: 'heartbeat-ingest', reads: Topic.heartbeat, writes: Topic.agentObservation };
      const outcome = await tryZombies(on, { ...names, fencing: true }, { rounds: ROUNDS, isEnough: () => false });
      console.log(JSON.stringify({ zombies: ROUNDS, ...outcome }));
      expect(outcome).toMatchObject({ lost: 0, doubled: 0, wrong: 0, disordered: 0 });
    },
    TEST_MS,
  );

  test(
    'would write, were it not for the fence: the control without it doubles or miscounts',
    async () => {
      const names = { processor: 'health-evaluator', reads: Topic.controlAgent, writes: Topic.agentHealth };
      const mistakes = ({ doubled, wrong }: Outcome): number => doubled + wrong;
      const isEnough = (outcome: Outcome) => mistakes(outcome) > 0;
      const outcome = await tryZombies(on, { ...names, fencing: false }, { rounds: MOST_CONTROL_ROUNDS, isEnough });
      console.log(JSON.stringify({ control: true, ...outcome }));
      expect(mistakes(outcome)).toBeGreaterThan(0);
    },
    TEST_MS,
  );
});
