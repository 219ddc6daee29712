import { Topic } from '@vigil/events';
import { expect, test } from 'vitest';
import { Refused } from '../errors.ts';
import { compareTopics, enoughBrokers, keptLonger, type PresentTopic, planTopics, tooFewReplicas } from './topics.ts';

const planned = planTopics({ partitions: 4, replicas: 1 });
const of = (topic: string) => planned.find((one) => one.topic === topic)!;
const asPlanned = (): Map<string, PresentTopic> =>
  new Map(
    planned.map(({ topic, partitions, replicas, config }) => [topic, { partitions, replicas, config, set: config }]),
  );

/** A topic as planned, except for some settings. */
const as = (topic: string, set: Readonly<Record<string, string>>, replicas = 1): PresentTopic => {
  const { partitions, config } = of(topic);
  const all = { ...config, ...set };
  return { partitions, replicas, config: { 'min.insync.replicas': '1', ...all }, set: all };
};

test('every topic of the catalogue is planned, with the partitions of its key space', () => {
  expect(planned.map(({ topic }) => topic).toSorted()).toEqual(Object.values(Topic).toSorted());
  expect([of(Topic.heartbeat).partitions, of(Topic.admitStep).partitions]).toEqual([4, 1]);
});

test('commands are stamped and recompressed by the broker, events keep the time they are written with', () => {
  expect(of(Topic.heartbeat).config).toMatchObject({
    'message.timestamp.type': 'LogAppendTime',
    'compression.type': 'zstd',
    'max.message.bytes': '524288',
    'retention.ms': '604800000',
  });
  expect(of(Topic.agentHealth).config).toMatchObject({ 'message.timestamp.type': 'CreateTime', 'retention.ms': '-1' });
  expect(of(Topic.dlqRecovery).config).toMatchObject({ 'retention.ms': '2592000000' });
  expect(of(Topic.agentTerminal).config).toMatchObject({ 'retention.ms': '3600000', 'segment.ms': '600000' });
});

test('snapshots are compacted, in small segments', () => {
  expect(of(Topic.snapshotRecovery).config).toMatchObject({
    'cleanup.policy': 'compact',
    'segment.bytes': '67108864',
    'min.cleanable.dirty.ratio': '0.2',
  });
});

test('a topic that is as planned is unchanged; a missing one is made, a different setting is set', () => {
  const present = asPlanned();
  expect(compareTopics(planned, present)).toEqual([]);
  present.delete(Topic.heartbeat);
  present.set(Topic.policy, as(Topic.policy, { 'cleanup.policy': 'compact,delete' }));
  expect(compareTopics(planned, present).map(({ kind, planned: { topic } }) => [kind, topic])).toEqual([
    ['create', Topic.heartbeat],
    ['configure', Topic.policy],
  ]);
});

test('another number of partitions is refused, because keys would be in other partitions', () => {
  const present = asPlanned();
  present.set(Topic.heartbeat, { ...as(Topic.heartbeat, {}), partitions: 8 });
  expect(() => compareTopics(planned, present)).toThrow(Refused);
  expect(() => compareTopics(planned, present)).toThrow('has 8 partitions and should have 4');
  present.set(Topic.heartbeat, { ...as(Topic.heartbeat, {}), partitions: 3 });
  expect(() => compareTopics(planned, present)).toThrow('has 3 partitions and should have 4');
});

test('a longer retention than planned stays, also when another setting of the topic is corrected', () => {
  const week = of(Topic.heartbeat).config['retention.ms'] ?? '';
  const withSettings = (set: Readonly<Record<string, string>>) =>
    asPlanned().set(Topic.heartbeat, as(Topic.heartbeat, set));
  for (const longer of ['-1', String(Number(week) + 1)]) {
    const present = withSettings({ 'retention.ms': longer });
    expect(compareTopics(planned, present)).toEqual([]);
    expect(keptLonger(planned, present)).toEqual([{ topic: Topic.heartbeat, retentionMs: longer, planned: week }]);
    const [change] = compareTopics(planned, withSettings({ 'retention.ms': longer, 'compression.type': 'gzip' }));
    expect(change).toMatchObject({ kind: 'configure', from: { 'compression.type': 'gzip' } });
    expect(change?.planned.config['retention.ms']).toBe(longer);
  }
  const shorter = withSettings({ 'retention.ms': String(Number(week) - 1) });
  expect(compareTopics(planned, shorter)).toMatchObject([
    { kind: 'configure', planned: { config: { 'retention.ms': week } } },
  ]);
  expect(keptLonger(planned, shorter)).toEqual([]);
  expect(keptLonger(planned, asPlanned())).toEqual([]);
});

test('a topic that is planned to be kept for ever is corrected to it, because that deletes nothing', () => {
  const present = asPlanned().set(Topic.agentHealth, as(Topic.agentHealth, { 'retention.ms': '604800000' }));
  expect(compareTopics(planned, present)).toMatchObject([{ kind: 'configure', from: { 'retention.ms': '604800000' } }]);
});

test('a cleanup that would delete records is refused with both values, one that keeps more is set', () => {
  const compared = (topic: string, policy: string) => () =>
    compareTopics(planned, asPlanned().set(topic, as(topic, { 'cleanup.policy': policy })));
  const refusal = (now: string, wanted: string) => `has cleanup.policy ${now} and should have ${wanted}`;
  expect(compared(Topic.snapshotRecovery, 'delete')).toThrow(refusal('delete', 'compact'));
  expect(compared(Topic.heartbeat, 'compact')).toThrow(refusal('compact', 'delete'));
  for (const [topic, policy] of [
    [Topic.snapshotRecovery, 'compact,delete'],
    [Topic.agentHealth, 'compact'],
    [Topic.heartbeat, 'compact,delete'],
  ] as const)
    expect(compared(topic, policy)()).toMatchObject([{ kind: 'configure', from: { 'cleanup.policy': policy } }]);
});

test('topics are made with the configured replicas; where fewer brokers answer, no topic is made: others may be down', () => {
  const changes = compareTopics(planTopics({ partitions: 4, replicas: 3 }), new Map());
  expect(new Set(changes.map(({ planned: { replicas } }) => replicas))).toEqual(new Set([3]));
  expect(() => enoughBrokers(changes, 3)).not.toThrow();
  expect(() => enoughBrokers(changes, 2)).toThrow('2 brokers answer: start the others, or set VIGIL_REPLICAS to 2');
});

test('existing topics are corrected even while a broker is down', () => {
  const present = asPlanned();
  present.set(Topic.policy, as(Topic.policy, { 'cleanup.policy': 'compact,delete' }, 3));
  const changes = compareTopics(planTopics({ partitions: 4, replicas: 3 }), present);
  expect(changes).toMatchObject([{ kind: 'configure' }]);
  expect(() => enoughBrokers(changes, 2)).not.toThrow();
});

test('a topic with fewer replicas than planned is named, one with as many or more is not', () => {
  const present = asPlanned();
  for (const topic of present.keys()) present.set(topic, as(topic, {}, 3));
  present.set(Topic.policy, as(Topic.policy, {}, 1));
  present.set(Topic.heartbeat, as(Topic.heartbeat, {}, 4));
  expect(tooFewReplicas(planTopics({ partitions: 4, replicas: 3 }), present)).toEqual([
    { topic: Topic.policy, replicas: 1, planned: 3 },
  ]);
});

test('with three replicas, two must have an acknowledged record and no other may lead; with fewer that would stop all writes', () => {
  const durable = { 'min.insync.replicas': '2', 'unclean.leader.election.enable': 'false' };
  const madeWith = (replicas: number) =>
    compareTopics(planTopics({ partitions: 4, replicas }), new Map())[0]?.planned.config;
  expect(madeWith(3)).toMatchObject(durable);
  expect(madeWith(2)).not.toHaveProperty('min.insync.replicas');
  const three = planTopics({ partitions: 4, replicas: 3 });
  const changes = (replicas: number) => {
    const present = asPlanned();
    present.set(Topic.policy, as(Topic.policy, {}, replicas));
    return compareTopics(three, present).map(({ planned: { topic, config } }) => ({ topic, config }));
  };
  expect(changes(3)).toMatchObject([{ topic: Topic.policy, config: durable }]);
  expect(changes(1)).toEqual([]);
});

test('a min.insync.replicas below two is put back, on the topic or on the broker; a higher one of an operator stays', () => {
  const three = planTopics({ partitions: 4, replicas: 3 });
  const changes = (set: Readonly<Record<string, string>>, broker: Readonly<Record<string, string>> = {}) => {
    const now = as(Topic.policy, { 'unclean.leader.election.enable': 'false', ...set }, 3);
    const present = asPlanned().set(Topic.policy, { ...now, config: { ...now.config, ...broker } });
    return compareTopics(three, present).map((one) => (one.kind === 'configure' ? one.from : {}));
  };
  expect(changes({ 'min.insync.replicas': '3' })).toEqual([]);
  expect(changes({ 'min.insync.replicas': '2' })).toEqual([]);
  expect(changes({ 'min.insync.replicas': '1' })).toEqual([{ 'min.insync.replicas': '1' }]);
  const unclean = { 'min.insync.replicas': '2', 'unclean.leader.election.enable': 'true' };
  expect(changes(unclean)).toEqual([{ 'unclean.leader.election.enable': 'true' }]);
  expect(changes({}, { 'min.insync.replicas': '3' })).toEqual([]);
  expect(changes({}, { 'min.insync.replicas': '2' })).toEqual([]);
  expect(changes({}, { 'min.insync.replicas': '1' })).toEqual([{ 'min.insync.replicas': '1' }]);
});

test('what an operator has set on a topic stays when another setting of it is corrected', () => {
  const present = asPlanned();
  present.set(Topic.dlqRecovery, as(Topic.dlqRecovery, { 'retention.ms': '5', 'retention.bytes': '1000000' }));
  expect(compareTopics(planned, present)).toMatchObject([
    { kind: 'configure', kept: { 'retention.bytes': '1000000' } },
  ]);
});

test('a correction names the settings that it changes, as they are, and no others', () => {
  const present = asPlanned();
  present.set(Topic.dlqRecovery, as(Topic.dlqRecovery, { 'retention.ms': '5', 'retention.bytes': '1000000' }));
  const [change] = compareTopics(planned, present);
  expect(change).toHaveProperty('from', { 'retention.ms': '5' });
});

test('these topics are kept for ever, and a tombstone deletes nothing there: a further one needs the decision on deletion read again', () => {
  const forEver = planned.filter(({ config }) => config['retention.ms'] === '-1');
  expect(new Set(forEver.map(({ config }) => config['cleanup.policy']))).toEqual(new Set(['delete']));
  expect(forEver.map(({ topic }) => topic).toSorted()).toEqual(
    [
      Topic.agentHealth,
      Topic.agentHealthcheck,
      Topic.agentIntervention,
      Topic.agentRequest,
      Topic.alert,
      Topic.applyPolicy,
      Topic.fleetGovernance,
      Topic.spawnRuling,
      Topic.stepRuling,
      Topic.taskHealth,
      Topic.taskRecovery,
    ].toSorted(),
  );
});
