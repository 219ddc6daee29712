import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type EventOf, Topic, type TopicName } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { type Log, type LogRecord, type OutRecord, openFileLog, partitionOf } from '@vigil/stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSystem, ownServers, type TestSystem } from '../support/system.ts';

const MINUTE = 60_000;
const AGENTS = ['worker-1', 'worker-2', 'worker-3', 'worker-4', 'worker-5', 'worker-6', 'worker-7', 'worker-8'];
const WRITES = [Topic.agentOrder, Topic.agentHealth] as const;
const TOPICS: readonly TopicName[] = [...WRITES, Topic.snapshotHealthEvaluator];
/** The key of a record that the file has deleted. */
const DELETED = 'worker-deleted';

/** The file was written an hour ago. */
const T = Date.now() - 60 * MINUTE;

const health = (agent: string, version: number): EventOf<typeof Topic.agentHealth> => ({
  ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED'),
  key: agent,
  stateKey: agent,
  version,
  occurredAt: T + version,
});

/** More events of one agent than one write has, some of each other agent, and a tombstone of each. */
const healthRecords = ({ codec }: Log, partitions: number): readonly OutRecord[] =>
  AGENTS.flatMap((agent, place) => {
    const at = { topic: Topic.agentHealth, partition: partitionOf(agent, partitions), key: agent };
    const events = Array.from({ length: place === 0 ? 1100 : 20 }, (_, n) => ({
      ...at,
      value: codec.encode(health(agent, n + 1)),
      timestamp: T + 1000 * n + place,
      headers: { traceparent: `00-${String(n).padStart(32, '0')}-0000000000000001-01`, agent },
    }));
    return [...events, { ...at, value: null, timestamp: T + 50 * MINUTE }];
  });

const orderRecords = ({ codec }: Log, partitions: number): readonly OutRecord[] =>
  AGENTS.map((agent) => ({
    topic: Topic.agentOrder,
    partition: partitionOf(agent, partitions),
    key: agent,
    value: codec.encode(example(Topic.agentOrder, 'NUDGE_AGENT')),
    headers: { agent },
  }));

/** States in the runner's own bytes. They may begin like an event of schema 1. */
const snapshotRecords = (partitions: number): readonly OutRecord[] =>
  [DELETED, ...AGENTS].flatMap((agent) => {
    const partition = partitionOf(agent, partitions);
    const at = { topic: Topic.snapshotHealthEvaluator, partition, key: agent };
    const state = { ...at, value: Buffer.from([0, 0, 0, 0, 1, 7]), timestamp: T };
    return [state, { ...at, key: `ended-${agent}`, value: null, timestamp: T + MINUTE }];
  });

/** The group has read one partition to its end, and the others nearly. */
const groupOffset = (records: readonly LogRecord[], partition: number): number =>
  Math.max(
    0,
    records.filter((one) => one.topic === Topic.agentHealth && one.partition === partition).length - partition,
  );

/** Writes a file with a log, and two groups that have read nearly all of it. Returns the records as they are in the file. */
const writeFile = async (file: string, partitions: number): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = [];
  {
    await using log = await openFileLog({ path: file, partitions, writes: WRITES, now: () => T });
    await log.write([
      ...healthRecords(log, partitions),
      ...orderRecords(log, partitions),
      ...snapshotRecords(partitions),
    ]);
    for (const topic of TOPICS)
      for (const [partition, range] of (await log.bounds(topic)).entries())
        await log.read(topic, partition, range, (record) => records.push(record), new AbortController().signal);
  }
  const database = new DatabaseSync(file);
  database.prepare('DELETE FROM records WHERE key = ?').run(DELETED);
  const offset = database.prepare('INSERT INTO offsets ("group", topic, partition, "offset") VALUES (?, ?, ?, ?)');
  for (const group of ['intervention', 'projector'])
    for (let partition = 0; partition < partitions; partition += 1)
      offset.run(group, Topic.agentHealth, partition, groupOffset(records, partition));
  database.close();
  return records;
};

const schemaIdOf = ({ value }: { readonly value: Buffer | null }) => value?.readInt32BE(1);
const isOf = (topic: TopicName) => (record: LogRecord) => record.topic === topic;

describe.skipIf(!ownServers)('vigil log import', () => {
  let on: TestSystem;
  let partitions: number;
  const fileOf = (name: string) => path.join(on.dir, name);
  const imported = (file: string) => on.vigil('log', 'import', file, '--json');
  const onKafka = async () => (await Promise.all(TOPICS.map((topic) => on.records(topic)))).flat();

  beforeAll(async () => {
    on = await openSystem({ name: 'transfer', services: [] });
    partitions = await on.log.partitionCount(Topic.agentHealth);
  });
  afterAll(async () => on?.stop());

  test('a file with another number of partitions is refused with both numbers, and nothing is written', async () => {
    const more = partitions + 3;
    await writeFile(fileOf('more.db'), more);
    const { code, stdout, stderr } = await imported(fileOf('more.db'));
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`has ${more} partitions in the file and ${partitions} in the target`);
    expect(await onKafka()).toEqual([]);
  });

  describe('into topics that nothing has written', () => {
    let inFile: readonly LogRecord[];
    let records: readonly LogRecord[];
    let result: Awaited<ReturnType<TestSystem['vigil']>>;
    const kept = () => inFile.filter(({ key }) => key !== DELETED);
    /** The imported record at the place of one of the file. */
    const at = ({ topic, partition, offset }: LogRecord) =>
      records.find((one) => one.topic === topic && one.partition === partition && one.offset === offset);

    beforeAll(async () => {
      inFile = await writeFile(fileOf('fleet.db'), partitions);
      result = await imported(fileOf('fleet.db'));
      records = await onKafka();
    });

    test('reports what it has written', () => {
      expect(result).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(result.stdout)).toMatchObject({ records: inFile.length, groups: 1 });
      expect(records).toHaveLength(inFile.length);
    });

    test('keeps keys, order and offsets in several partitions', () => {
      const placed = kept().map(({ topic, partition, offset, key }) => ({ topic, partition, offset, key }));
      expect(
        new Set(placed.filter(({ topic }) => topic === Topic.agentHealth).map((one) => one.partition)).size,
      ).toBeGreaterThan(1);
      expect(placed.map((one) => ({ ...one, key: at(one as LogRecord)?.key }))).toEqual(placed);
    });

    test('keeps the times and headers of events, snapshots and tombstones', () => {
      const events = kept().filter(({ topic }) => topic !== Topic.agentOrder);
      const dated = events.map(({ timestamp, headers }) => ({ timestamp, headers }));
      expect(events.map(at).map((one) => ({ timestamp: one?.timestamp, headers: one?.headers }))).toEqual(dated);
    });

    test('keeps the bytes of events except the id of their schema, which is that of the registry', () => {
      const [first] = inFile.filter(isOf(Topic.agentHealth)) as [LogRecord];
      const registered = schemaIdOf({ value: on.log.codec.encode(health('worker-1', 1)) });
      expect(schemaIdOf(first)).not.toBe(registered);
      for (const record of kept()) {
        const value = at(record)?.value;
        if (record.value === null) expect(value).toBeNull();
        else if (record.topic === Topic.snapshotHealthEvaluator) expect(value).toEqual(record.value);
        else expect(value?.subarray(5)).toEqual(record.value.subarray(5));
        if (record.topic === Topic.agentHealth && value) expect(schemaIdOf({ value })).toBe(registered);
      }
    });

    test('keeps the versions of events', async () => {
      const events = await on.events(Topic.agentHealth);
      for (const [place, agent] of AGENTS.entries())
        expect(events.filter(({ key }) => key === agent).map(({ version }) => version)).toEqual(
          Array.from({ length: place === 0 ? 1100 : 20 }, (_, n) => n + 1),
        );
      expect((await on.events(Topic.agentOrder)).map(({ type }) => type)).toEqual(AGENTS.map(() => 'NUDGE_AGENT'));
    });

    test('gives a command the time of the file in the header `moved`, because the broker stamps it', () => {
      for (const order of records.filter(isOf(Topic.agentOrder))) {
        expect(order.headers).toEqual({ agent: order.key, moved: String(T) });
        expect(order.timestamp).toBeGreaterThan(T + 50 * MINUTE);
      }
    });

    test('puts a record that no reader uses in the place of a deleted one', () => {
      const [deleted] = inFile.filter(({ key }) => key === DELETED) as [LogRecord];
      expect(at(deleted)).toMatchObject({ key: expect.stringMatching(/^@/), value: null });
    });

    test('lets groups continue where they were, and the projector read everything again', async () => {
      const offsets = Array.from({ length: partitions }, (_, partition) => groupOffset(inFile, partition));
      expect(await on.log.groupOffsets('intervention', Topic.agentHealth)).toEqual(offsets);
      expect(await on.log.groupOffsets('projector', Topic.agentHealth)).toEqual(offsets.map(() => null));
    });

    test('is refused a second time, and the records stay', async () => {
      const { code, stdout, stderr } = await imported(fileOf('fleet.db'));
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain('import into topics that nothing has written');
      expect(await onKafka()).toEqual(records);
    });
  });
});
