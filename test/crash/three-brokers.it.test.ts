import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Broker, type Cluster, startCluster } from '@vigil/dev';
import { Topic } from '@vigil/events';
import { applyTopics, connectLog, type Log, plaintext, silentLogger } from '@vigil/stream';
import { connectPlacement, type Placement } from '@vigil/stream/placement';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { moveLeaders, reassign, untilWhole } from '../support/cluster.ts';
import { type Faults, freezeBroker, killBroker, randomFrom, restartBroker } from '../support/faults.ts';
import { ownServers, soak, until } from '../support/system.ts';
import { type Fed, feed, judge, judgeInputs, type Read, readAll, startWorker } from './counting.ts';
import { type Counted, jsonCodec } from './worker.ts';

const NAMES = { processor: 'heartbeat-ingest', reads: Topic.heartbeat, writes: Topic.agentObservation };
const SNAPSHOT = Topic.snapshotHeartbeatIngest;
const MOVES = 5;
const ROUNDS = soak(1, 8);
const STORY_MS = soak(600_000, 3_600_000);
const dir = path.resolve(import.meta.dirname, '../../.vigil', `system-three-brokers-${process.pid}`);

type Story = {
  readonly fed: Fed;
  readonly inputs: readonly Read<{ readonly id: number }>[];
  readonly written: readonly Read<Counted>[];
  /** the number of workers that ended by themselves */
  readonly ends: number;
};

/** Leaders move, partitions are copied, and a broker goes away and comes back: one at a time, each when all replicas are in sync again. */
const round = async (faults: Faults, placement: Placement, brokers: readonly Broker[]): Promise<void> => {
  for (let moves = 0; moves < MOVES; moves++) await moveLeaders(faults, placement);
  await reassign(faults, placement);
  for (const inject of soak([killBroker], [killBroker, freezeBroker, restartBroker])) {
    await inject(faults, brokers);
    await untilWhole(placement);
  }
  await moveLeaders(faults, placement);
};

const live = async (
  faults: Faults,
  { addresses, brokers }: Cluster,
  log: Log,
  placement: Placement,
): Promise<Story> => {
  const plan = { ...NAMES, brokers: addresses, sessionMs: 10_000, fencing: true };
  const workers = ['a', 'b'].map((name) => startWorker(`worker-${name}`, plan, dir));
  const enough = new AbortController();
  const feeding = feed(log, NAMES.reads, enough.signal);
  const written = () => readAll<Counted>(log, NAMES.writes);
  const inputs = () => readAll<{ id: number }>(log, NAMES.reads);
  try {
    // A partition whose leader moves briefly cannot be read, so the read is repeated.
    const count = () =>
      written().then(
        (all) => new Set(all.map(({ payload }) => payload.id)).size,
        () => 0,
      );
    await until('the workers count', async () => (await count()) > 0);
    for (let rounds = 0; rounds < ROUNDS; rounds++) await round(faults, placement, brokers);
    enough.abort();
    const fed = await feeding;
    await untilWhole(placement);
    const all = await inputs();
    // The tests report inputs that are never counted.
    await until('every input is counted', async () => (await count()) >= all.length, 90_000).catch(() => undefined);
    const ends = workers.reduce((sum, worker) => sum + worker.ends(), 0);
    return { fed, inputs: all, written: await written(), ends };
  } finally {
    enough.abort();
    await feeding;
    await Promise.all(workers.map((worker) => worker.end()));
  }
};

describe.skipIf(!ownServers)('a processor on three brokers with the settings of production', () => {
  let cluster: Cluster;
  let log: Log;
  let placement: Placement;
  let story: Story;
  const faults: Faults = { done: [], random: randomFrom(Number(process.env.VIGIL_SEED ?? Date.now() % 1_000_000)) };
  beforeAll(async () => {
    mkdirSync(dir, { recursive: true });
    cluster = await startCluster(dir, () => undefined);
    await applyTopics({ kafka: plaintext(cluster.addresses), partitions: 4, replicas: 3 });
    log = await connectLog({
      kafka: plaintext(cluster.addresses),
      clientId: 'feeder',
      codec: jsonCodec,
      logger: silentLogger,
    });
    placement = await connectPlacement(plaintext(cluster.addresses));
    story = await live(faults, cluster, log, placement);
  }, STORY_MS);
  afterAll(async () => {
    console.log(
      JSON.stringify({ 'three brokers': faults.done, ends: story?.ends, unknown: story?.fed.unknown.length }),
    );
    await placement?.[Symbol.asyncDispose]();
    await log?.[Symbol.asyncDispose]();
    await cluster?.stop();
    if (process.env.VIGIL_KEEP === undefined) rmSync(dir, { recursive: true, force: true });
  });

  test('every topic has three replicas, which are in sync again', async () => {
    const all = await placement.all();
    expect(all.filter(({ topic }) => topic === NAMES.reads)).toHaveLength(4);
    for (const { replicas, inSync } of all) expect([replicas.length, inSync.length]).toEqual([3, 3]);
  });

  test('each acknowledged record is in the log, and none is in it twice', () => {
    expect(story.fed.acknowledged.length).toBeGreaterThan(1000);
    expect(judgeInputs(story.fed, story.inputs)).toEqual({ missing: 0, repeated: 0 });
  });

  test('every input counts once, with the right state and in order', () => {
    expect(judge(story.inputs, story.written)).toEqual({
      inputs: story.inputs.length,
      lost: 0,
      doubled: 0,
      wrong: 0,
      disordered: 0,
    });
  });

  test('all transactions come to an end', async () => {
    for (const topic of [NAMES.reads, NAMES.writes, SNAPSHOT]) {
      const ends = (await log.bounds(topic)).map(({ high }) => high);
      await until(`${topic} is read to its end`, async () => {
        const stable = await log.stableEnds(topic);
        return ends.every((end, partition) => (stable[partition] ?? 0) >= end);
      });
    }
  });
});
