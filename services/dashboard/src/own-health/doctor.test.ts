import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Topic } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { type DoctorDeps, examine, LOOK_BACK_MS, registryAnswers } from './doctor.ts';

const NOW = 100_000;

const SWEPT = {
  policy: 'swept',
  signals: { no_work_update: { after: '10m' }, progress_mismatch: { after: '10m' } },
  states: { STUCK: ['no_work_update + progress_mismatch'] },
};
const DOCUMENTS: Readonly<Record<string, object>> = {
  a: { default: 'swept' },
  n: { policy: 'newer', signals: { no_such_signal: {} } },
  s: SWEPT,
};

const model = {
  agents: async () => [
    { agentId: 'a', instanceId: 'i1', duplicateOf: null },
    { agentId: 'b', instanceId: 'i2', duplicateOf: 'i3', duplicateCount: 4, duplicateAt: 5 },
  ],
  fleet: async () => ({ halted: false }),
  policies: async () => [
    { name: 'assign.yaml', hash: 'a' },
    { name: 'newer', hash: 'n' },
    { name: 'swept', hash: 's' },
  ],
  policyDocument: async (hash: string) => JSON.stringify(DOCUMENTS[hash]),
  positions: async () => [
    { topic: 't', partition: 0, offset: 7 },
    { topic: 't', partition: 1, offset: 12 },
  ],
  projectedUpTo: async () => NOW - 700,
} as unknown as ReadModel;

const bounds = (...ends: readonly [number, number][]) => ends.map(([low, high]) => ({ low, high }));

type OnRecord = (record: object) => void;

/** A log of two partitions a topic, whose ticks are `ages` old. */
const logOf = (ages: (topic: string, partition: number) => number | null) =>
  ({
    clusterId: async () => 'cluster',
    bounds: async (topic: string) => (topic === 't' ? bounds([0, 10], [0, 12]) : bounds([3, 9], [0, 9], [4, 4])),
    read: async (_topic: string, partition: number, _range: object, apply: OnRecord) => {
      apply({ timestamp: partition === 0 ? 500 : 400 });
      apply({ timestamp: 9999 });
    },
    partitionCount: async () => 2,
    follow: async (topics: readonly string[], from: number, onRecord: OnRecord) => {
      expect(from).toBe(NOW - LOOK_BACK_MS);
      for (const topic of topics)
        for (const partition of [0, 1]) {
          const age = ages(topic, partition);
          onRecord({ topic, partition, timestamp: NOW, key: 'OMN-1' });
          if (age !== null) onRecord({ topic, partition, timestamp: NOW - age, key: `@tick/${partition}` });
        }
    },
  }) as never;

const stuck = { topic: 't', partition: 1, stableEnd: 3, end: 9, forMs: 25_000 };

const connect = async (): Promise<void> => {};

const deps = (ages = (_topic: string, _partition: number): number | null => 500): DoctorDeps => ({
  ...{ log: logOf(ages), model, connect, probes: [['x', 'http://127.0.0.1:9']], registry: 'http://127.0.0.1:9/api' },
  ...{ hanging: () => [stuck], away: () => [{ part: 'x', since: 7, detail: 'gone' }], now: () => NOW },
});

const report = (ages?: (topic: string, partition: number) => number | null) => examine(deps(ages));

test("a processor's time is as old as its slowest partition", async () => {
  const { time } = await report((topic, partition) => (topic === Topic.agentHealth ? 1000 * partition : 500));
  expect(time).toContainEqual({ processor: 'health-evaluator', ageMs: 1000, aheadMs: 0 });
  expect(time).toContainEqual({ processor: 'recovery', ageMs: 500, aheadMs: 0 });
});

test("a processor's time is ahead as far as its fastest partition", async () => {
  const { time } = await report((topic, partition) => (topic === Topic.agentHealth ? -60_000 * partition : 500));
  expect(time).toContainEqual({ processor: 'health-evaluator', ageMs: 0, aheadMs: 60_000 });
});

test('a processor with a partition without a tick for 15 s has no age', async () => {
  const { time } = await report((topic, partition) => (topic === Topic.taskRecovery && partition === 1 ? null : 500));
  expect(time).toContainEqual({ processor: 'recovery', ageMs: null, aheadMs: 0 });
  expect(time).toContainEqual({ processor: 'alerting', ageMs: 500, aheadMs: 0 });
});

test('where no tick at all was read in time, the time of the processors is unknown, and none is shown as standing', async () => {
  const { time, unknown } = await report(() => null);
  expect(time).toEqual([]);
  const why = 'no tick of the last 15 s was read within 2 s';
  expect(unknown).toContainEqual({ what: 'the time of the processors', why, parts: [], since: null });
});

test('no processor without ticks of its own has a time', async () => {
  const { time } = await report();
  expect(time.map(({ processor }) => processor)).not.toContain('alerting-agent');
  expect(time).toHaveLength(7);
});

test('the lag of the projector is what its positions lack to the ends of its topics, and the age of its rows', async () => {
  expect((await report()).lag).toEqual([{ group: 'projector', atMost: 3, behindMs: 700 }]);
});

test('replay reaches back to where the last of the partitions begins, empty ones aside', async () => {
  expect((await report()).replayFrom).toBe(500);
});

test('two instances of one name are reported', async () => {
  const duplicate = { agentId: 'b', instanceId: 'i2', otherInstanceId: 'i3', count: 4, at: 5 };
  expect((await report()).duplicates).toEqual([duplicate]);
});

test('a service that does not answer is not ready, and the address is named', async () => {
  expect((await report()).services).toMatchObject([
    { service: 'broker', ready: true, detail: '', since: null },
    { service: 'x', ready: false, since: 7 },
    { service: 'registry', ready: false, since: null },
    { service: 'postgres', ready: true, detail: '', since: null },
  ]);
  expect((await report()).services[1]?.detail).toContain('http://127.0.0.1:9 does not answer');
});

test('while Postgres and the broker fail, what is unknown is named, and the rest is found out', async () => {
  const failing = async () => {
    throw new Error('connect ECONNREFUSED');
  };
  const down = {
    ...model,
    agents: failing,
    fleet: failing,
    positions: failing,
    policies: failing,
    projectedUpTo: failing,
  } as unknown as ReadModel;
  const log = { clusterId: failing, bounds: failing, partitionCount: failing } as never;
  const probes = [['x', 'http://127.0.0.1:9']] as const;
  const found = await examine({
    log,
    model: down,
    connect: failing,
    probes,
    registry: 'http://127.0.0.1:9/api',
    hanging: () => [stuck],
    away: () => [{ part: 'broker', since: 9, detail: 'gone' }],
    now: () => NOW,
  });
  const partsOf = (name: string) => found.unknown.find(({ what }) => what === name);
  expect(partsOf('the reach of replay')).toMatchObject({ parts: ['broker'], since: 9 });
  expect(partsOf('the lag of the projector')).toMatchObject({ parts: ['broker', 'postgres'], since: 9 });
  expect(partsOf('what holds the fleet')).toMatchObject({ parts: ['postgres'], since: null });
  expect(found.unknown.map(({ what }) => what).toSorted()).toEqual([
    'duplicate instances',
    'the lag of the projector',
    'the reach of replay',
    'the stuck sweeps of the policies',
    'the time of the processors',
    'what holds the fleet',
  ]);
  expect(new Set(found.unknown.map(({ why }) => why))).toEqual(new Set(['connect ECONNREFUSED']));
  expect(found).toMatchObject({
    services: [
      { service: 'broker', ready: false, detail: 'connect ECONNREFUSED: is it running?' },
      { service: 'x', ready: false },
      { service: 'registry' },
      { service: 'postgres', ready: false, detail: 'connect ECONNREFUSED: is it running?' },
    ],
    lag: [],
    hanging: [stuck],
    time: [],
    fleet: null,
  });
});

test('without the broker a service that answers is not ready, since the broker went away', async () => {
  const server = createServer((_, response) => response.writeHead(200).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const failing = async () => {
    throw new Error('connect ECONNREFUSED');
  };
  const { services } = await examine({
    ...deps(),
    log: { ...(logOf(() => 500) as object), clusterId: failing } as never,
    probes: [['recovery', `http://127.0.0.1:${port}`]],
    away: () => [{ part: 'broker', since: 9, detail: 'gone' }],
  });
  server.close();
  expect(services[1]).toEqual({
    ...{ service: 'recovery', ready: false, since: 9 },
    detail: 'not ready: it cannot work while broker is away',
  });
});

test('a Postgres that accepts no connection is not ready, though open ones answer', async () => {
  const refused = async () => {
    throw new Error('timeout expired');
  };
  const { services, unknown } = await examine({ ...deps(), connect: refused });
  expect(services.at(-1)).toMatchObject({
    service: 'postgres',
    ready: false,
    detail: 'timeout expired: is it running?',
  });
  expect(unknown).toEqual([]);
});

test('what answers is not unknown', async () => {
  expect((await report()).unknown).toEqual([]);
});

test('a transaction that hangs is reported', async () => {
  expect((await report()).hanging).toEqual([stuck]);
});

test('the stuck sweeps are those of the policies in force; one of a newer version is left out', async () => {
  expect((await report()).sweeps).toMatchObject([
    { policy: 'swept', state: 'enabled', thresholdMs: 600_000, patterns: null, progressMismatch: true },
  ]);
});

test.each([
  [200, true],
  [401, true],
  [503, false],
])('a registry that answers with status %i is ready, or not', async (status, ready) => {
  const server = createServer((_, response) => response.writeHead(status).end());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await registryAnswers(`http://127.0.0.1:${port}/apis/ccompat/v7`)).toMatchObject({
    service: 'registry',
    ready,
  });
  server.close();
});
