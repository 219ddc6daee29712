import { memoryCodec, Topic } from '@vigil/events';
import { afterAll, expect, test, vi } from 'vitest';
import { silentLogger } from '../logger.ts';
import { startIngress } from '../time/ticks.ts';
import { connectLog } from './connect.ts';
import { clients, closeServers, kafka, unique } from './servers.fixture.ts';
import { applyTopics } from './topics.ts';

afterAll(closeServers);

test('applying makes every topic; applying again changes nothing; command topics are stamped by the broker', async () => {
  await applyTopics({ kafka, partitions: 4, replicas: 1 });
  expect(await applyTopics({ kafka, partitions: 4, replicas: 1 })).toEqual({
    changes: [],
    keptLonger: [],
    tooFewReplicas: [],
  });
  await using log = await connectLog({
    kafka,
    clientId: unique('client'),
    codec: memoryCodec(),
    logger: silentLogger,
  });
  const before = (await log.bounds(Topic.heartbeat)).map(({ high }) => high);
  await log.write([{ topic: Topic.heartbeat, partition: 1, key: '@tick/1', value: null, timestamp: 1000 }]);
  const stamps: number[] = [];
  const low = before[1] as number;
  await log.read(
    Topic.heartbeat,
    1,
    { low, high: low + 1 },
    ({ timestamp }) => stamps.push(timestamp),
    AbortSignal.timeout(60_000),
  );
  expect(stamps[0]).toBeGreaterThan(1_700_000_000_000);
});

test('applying corrects Vigil’s own settings of a topic, and keeps other settings of an operator', async () => {
  await applyTopics({ kafka, partitions: 4, replicas: 1 });
  const admin = clients.admins.admin();
  await admin.connect();
  const resource = { type: 2, name: Topic.dlqRecovery };
  // The controller answers before the next queried broker has the change.
  const patience = { timeout: 60_000, interval: 50 };
  const settings = async () => {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] });
    const values = new Map(resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]));
    return [values.get('retention.ms'), values.get('segment.ms')];
  };
  try {
    const set = [
      { name: 'retention.ms', value: '5' },
      { name: 'segment.ms', value: '77000000' },
    ];
    await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries: set }] });
    await vi.waitFor(async () => expect(await settings()).toEqual(['5', '77000000']), patience);
    const { changes } = await applyTopics({ kafka, partitions: 4, replicas: 1 });
    expect(changes.map(({ kind, planned: { topic } }) => [kind, topic])).toEqual([['configure', Topic.dlqRecovery]]);
    await vi.waitFor(async () => expect(await settings()).toEqual(['2592000000', '77000000']), patience);
  } finally {
    await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries: [] }] });
    await admin.disconnect();
    await applyTopics({ kafka, partitions: 4, replicas: 1 });
  }
});

test('a plan changes nothing; another number of partitions is refused with both, and no topic is changed', async () => {
  await applyTopics({ kafka, partitions: 4, replicas: 1 });
  for (const dryRun of [true, false])
    for (const partitions of [2, 8])
      await expect(applyTopics({ kafka, partitions, replicas: 1, dryRun })).rejects.toThrow(
        `has 4 partitions and should have ${partitions}`,
      );
  expect(await applyTopics({ kafka, partitions: 4, replicas: 1, dryRun: true })).toEqual({
    changes: [],
    keptLonger: [],
    tooFewReplicas: [],
  });
});

test('an open ingress is announced in every partition of the heartbeat topic', async () => {
  await applyTopics({ kafka, partitions: 4, replicas: 1 });
  await using log = await connectLog({
    kafka,
    clientId: unique('client'),
    codec: memoryCodec(),
    logger: silentLogger,
  });
  const ingressPartitions = new Set<string>();
  const all = Promise.withResolvers<void>();
  const stop = new AbortController();
  await log.follow(
    [Topic.heartbeat],
    'end',
    ({ key, partition }) => {
      if (key === '@ingress/gateway') ingressPartitions.add(String(partition));
      if (ingressPartitions.size === 4) all.resolve();
    },
    stop.signal,
  );
  const ingress = { name: 'gateway', write: log.write, isOpen: () => true, logger: silentLogger };
  await using _ingress = await startIngress(log, ingress);
  await all.promise;
  stop.abort();
});
