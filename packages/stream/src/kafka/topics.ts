import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue, type TopicInfo } from '@vigil/events';
import type { Admin, ConfigEntries, ITopicConfig } from 'kafkajs';
import { Refused } from '../errors.ts';
import { keepOf, partitionsOf } from '../log/topics.ts';
import { silentLogger } from '../logger.ts';
import type { KafkaAccess } from './access.ts';
import { openClients } from './client.ts';

/** The desired settings of a topic. */
export type PlannedTopic = {
  readonly topic: string;
  readonly partitions: number;
  /** of each partition of a new topic; an existing topic keeps its own */
  readonly replicas: number;
  readonly config: Readonly<Record<string, string>>;
};

/** The change that a topic needs: creation, or other settings. */
export type TopicChange =
  | { readonly kind: 'create'; readonly planned: PlannedTopic }
  | {
      readonly kind: 'configure';
      readonly planned: PlannedTopic;
      /** the present values of the settings that change; they are lost */
      readonly from: Readonly<Record<string, string>>;
      /** other settings of the topic, which stay */
      readonly kept: Readonly<Record<string, string>>;
    };

/**
 * A topic that has fewer replicas than planned. The cluster's operators reassign partitions; `vigil topics` does not.
 */
export type TooFewReplicas = { readonly topic: string; readonly replicas: number; readonly planned: number };

/** A topic whose records an operator keeps longer than planned. It stays: a shorter age would delete records. */
export type KeptLonger = { readonly topic: string; readonly retentionMs: string; readonly planned: string };

const MIB = 1 << 20;

/** A segment is deleted as a whole, an hour after its newest record. Without this, records of an hour would stay for a week. */
const SHORT_SEGMENTS = { 'segment.ms': '600000' };

const retention = (info: TopicInfo): Readonly<Record<string, string>> => {
  const keep = keepOf(info);
  if (keep === 'forever') return { 'cleanup.policy': 'delete', 'retention.ms': '-1' };
  if (keep === 'compact') return { 'cleanup.policy': 'compact' };
  const short = info.retention.endsWith('h') ? SHORT_SEGMENTS : {};
  return { 'cleanup.policy': 'delete', 'retention.ms': String(keep), ...short };
};

/** Commands are stamped by the broker, and recompressed there, so that any client's codec can be read. */
const COMMANDS = {
  'message.timestamp.type': 'LogAppendTime',
  'compression.type': 'zstd',
  'max.message.bytes': String(512 * 1024),
};
/** Compacted often enough that a restore reads few outdated records. */
const SNAPSHOTS = {
  'segment.bytes': String(64 * MIB),
  'segment.ms': '600000',
  'min.cleanable.dirty.ratio': '0.2',
};

const configOf = (info: TopicInfo): Readonly<Record<string, string>> => ({
  ...retention(info),
  ...(info.kind === 'cmd' ? COMMANDS : { 'message.timestamp.type': 'CreateTime', 'compression.type': 'producer' }),
  ...(info.kind === 'snapshot' ? SNAPSHOTS : {}),
});

/**
 * For a topic whose partitions have three replicas or more: an acknowledged record survives the loss of one disk. With
 * fewer, all writes would stop with one broker.
 */
const DURABLE: Readonly<Record<string, { readonly value: string; readonly suffices: (now: string) => boolean }>> = {
  'min.insync.replicas': { value: '2', suffices: (now) => Number(now) >= 2 },
  'unclean.leader.election.enable': { value: 'false', suffices: (now) => now === 'false' },
};
const DURABLE_FROM = 3;

/**
 * The durability settings that a topic lacks. A stricter setting of an operator stays. A weaker one is corrected,
 * because acknowledged records could be lost.
 */
const durability = (replicas: number, now: PresentTopic | undefined): Readonly<Record<string, string>> => {
  if (replicas < DURABLE_FROM) return {};
  const missing = Object.entries(DURABLE).filter(
    ([name, { suffices }]) => now === undefined || !suffices(now.config[name] ?? ''),
  );
  return Object.fromEntries(missing.map(([name, { value }]) => [name, value]));
};

/** Every topic of the catalogue. `partitions`: of the agent and task key spaces; `replicas`: of each partition. */
export const planTopics = ({
  partitions,
  replicas,
}: {
  readonly partitions: number;
  readonly replicas: number;
}): readonly PlannedTopic[] =>
  Object.values(catalogue).map((info) => ({
    topic: info.name,
    partitions: partitionsOf(info, partitions),
    replicas,
    config: configOf(info),
  }));

/**
 * An existing topic. `config`: the effective values, the broker's defaults included; `set`: the values set on the topic
 * itself.
 */
export type PresentTopic = {
  readonly partitions: number;
  /** of the partition that has the fewest */
  readonly replicas: number;
  readonly config: Readonly<Record<string, string>>;
  readonly set: Readonly<Record<string, string>>;
};

const RETENTION = 'retention.ms';
const POLICY = 'cleanup.policy';
const FOR_EVER = '-1';

/** Whether records would be deleted that the topic keeps now, if it kept them for the planned age. */
const keepsLonger = (now: PresentTopic, planned: PlannedTopic): boolean => {
  const [present, wanted] = [now.config[RETENTION], planned.config[RETENTION]];
  if (present === undefined || wanted === undefined || wanted === FOR_EVER) return false;
  return present === FOR_EVER || Number(present) > Number(wanted);
};

/**
 * Throws Refused if the planned cleanup would delete records that the present one keeps: compaction the older records
 * of each key, deletion by age the newest record of a key.
 */
const refuseLoss = (now: PresentTopic, { topic, config }: PlannedTopic): void => {
  const present = now.config[POLICY] ?? '';
  const planned = config[POLICY] ?? '';
  const adds = (kind: string): boolean => planned.includes(kind) && !present.includes(kind);
  if (present !== '' && (adds('compact') || (adds('delete') && config[RETENTION] !== FOR_EVER)))
    throw new Refused(
      `${topic} has ${POLICY} ${present} and should have ${planned}: records would be deleted. Use another cluster, or change it with kafka-configs if they may be lost`,
    );
};

/** The topic as it is to be: with the durability that it lacks, and an operator's longer retention. */
const wantedOf = (planned: PlannedTopic, now: PresentTopic | undefined): PlannedTopic => {
  const kept = now !== undefined && keepsLonger(now, planned) ? { [RETENTION]: now.config[RETENTION] ?? '' } : {};
  return { ...planned, config: { ...planned.config, ...kept, ...durability(now?.replicas ?? planned.replicas, now) } };
};

/**
 * The required changes. Throws Refused if a partition count differs, because keys would be in other partitions; and if a
 * change would delete records.
 */
export const compareTopics = (
  planned: readonly PlannedTopic[],
  present: ReadonlyMap<string, PresentTopic>,
): readonly TopicChange[] =>
  planned.flatMap((one): readonly TopicChange[] => {
    const now = present.get(one.topic);
    const topic = wantedOf(one, now);
    if (now === undefined) return [{ kind: 'create', planned: topic }];
    if (now.partitions !== topic.partitions)
      throw new Refused(
        `${topic.topic} has ${now.partitions} partitions and should have ${topic.partitions}: set VIGIL_PARTITIONS to what the cluster has, or use another cluster`,
      );
    refuseLoss(now, topic);
    const differing = Object.keys(topic.config).filter((name) => now.config[name] !== topic.config[name]);
    const from = Object.fromEntries(differing.map((name) => [name, now.config[name] ?? '']));
    const kept = Object.fromEntries(Object.entries(now.set).filter(([name]) => !Object.hasOwn(topic.config, name)));
    return differing.length > 0 ? [{ kind: 'configure', planned: topic, from, kept }] : [];
  });

/** The existing topics with fewer replicas than planned. */
export const tooFewReplicas = (
  planned: readonly PlannedTopic[],
  present: ReadonlyMap<string, PresentTopic>,
): readonly TooFewReplicas[] =>
  planned.flatMap(({ topic, replicas }) => {
    const now = present.get(topic)?.replicas ?? replicas;
    return now < replicas ? [{ topic, replicas: now, planned: replicas }] : [];
  });

/** The existing topics whose records are kept longer than planned. */
export const keptLonger = (
  planned: readonly PlannedTopic[],
  present: ReadonlyMap<string, PresentTopic>,
): readonly KeptLonger[] =>
  planned.flatMap((one) => {
    const now = present.get(one.topic);
    if (now === undefined || !keepsLonger(now, one)) return [];
    return [{ topic: one.topic, retentionMs: now.config[RETENTION] ?? '', planned: one.config[RETENTION] ?? '' }];
  });

/**
 * Throws Refused if topics are missing and fewer brokers answer than there are replicas. A small cluster looks like a
 * cluster with brokers down.
 */
export const enoughBrokers = (changes: readonly TopicChange[], brokers: number): void => {
  const replicas = Math.max(0, ...changes.map(({ kind, planned }) => (kind === 'create' ? planned.replicas : 0)));
  if (brokers < replicas)
    throw new Refused(
      `topics are to be made with ${replicas} replicas, and ${brokers} brokers answer: start the others, or set VIGIL_REPLICAS to ${brokers} where the cluster has no more`,
    );
};

/** The changes that are needed or were made, and what only the cluster's operators can change. */
export type TopicReport = {
  readonly changes: readonly TopicChange[];
  readonly keptLonger: readonly KeptLonger[];
  readonly tooFewReplicas: readonly TooFewReplicas[];
};

/**
 * Creates and configures every topic of the catalogue. Changes nothing that is already correct, and deletes no record.
 * Returns the changes. Throws Refused.
 */
export const applyTopics = async ({
  kafka,
  partitions,
  replicas,
  dryRun = false,
}: {
  readonly kafka: KafkaAccess;
  readonly partitions: number;
  /** of each partition of a topic that is made */
  readonly replicas: number;
  /** only reports the changes */
  readonly dryRun?: boolean;
}): Promise<TopicReport> => {
  const admin = openClients(kafka, 'vigil-topics', silentLogger).admins.admin();
  await admin.connect();
  try {
    const { brokers: nodes } = await admin.describeCluster();
    const planned = planTopics({ partitions, replicas });
    const present = await presentTopics(admin, planned);
    const changes = compareTopics(planned, present);
    enoughBrokers(changes, nodes.length);
    const report = {
      changes,
      keptLonger: keptLonger(planned, present),
      tooFewReplicas: tooFewReplicas(planned, present),
    };
    if (dryRun) return report;
    await create(kafka, admin, changes);
    await configure(admin, changes);
    return report;
  } finally {
    await admin.disconnect();
  }
};

const TOPIC = 2; // the broker's number for a topic as a resource
const SET_ON_TOPIC = 1; // the broker's number for a value set on the topic itself

const presentTopics = async (
  admin: Admin,
  planned: readonly PlannedTopic[],
): Promise<ReadonlyMap<string, PresentTopic>> => {
  const all = new Set(await admin.listTopics());
  const topics = planned.map(({ topic }) => topic).filter((topic) => all.has(topic));
  if (topics.length === 0) return new Map();
  const { topics: metadata } = await admin.fetchTopicMetadata({ topics });
  const resources = topics.map((name) => ({ type: TOPIC, name }));
  const { resources: described } = await admin.describeConfigs({ includeSynonyms: false, resources });
  const configs = new Map(described.map(({ resourceName, configEntries }) => [resourceName, configEntries]));
  const valuesOf = (entries: readonly ConfigEntries[]) =>
    Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue]));
  return new Map(
    metadata.map(({ name, partitions }) => {
      const found = configs.get(name) ?? [];
      const set = found.filter(({ configSource }) => Number(configSource) === SET_ON_TOPIC);
      const replicas = Math.min(...partitions.map((partition) => partition.replicas.length));
      return [name, { partitions: partitions.length, replicas, config: valuesOf(found), set: valuesOf(set) }];
    }),
  );
};

const entries = (config: Readonly<Record<string, string>>) =>
  Object.entries(config).map(([name, value]) => ({ name, value }));

const create = async (kafka: KafkaAccess, admin: Admin, changes: readonly TopicChange[]): Promise<void> => {
  const topics = changes
    .filter(({ kind }) => kind === 'create')
    .map(({ planned: { topic, partitions, replicas, config } }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: replicas,
      configEntries: entries(config),
    }));
  if (topics.length > 0) await makeTopics(kafka, admin, topics);
};

/** How long the brokers may take to receive the new topics from their controller, milliseconds. */
const LEARNED_MS = 60_000;

/**
 * Creates topics, and waits until every broker has them, because a service may query any broker. kafkajs would wait for
 * leaders, but reports an error for a topic that its broker does not have yet.
 * @throws if a broker does not have them within a minute; and the errors of kafkajs
 */
export const makeTopics = async (kafka: KafkaAccess, admin: Admin, topics: readonly ITopicConfig[]): Promise<void> => {
  await admin.createTopics({ topics: [...topics], waitForLeaders: false });
  const { brokers: nodes } = await admin.describeCluster();
  const until = performance.now() + LEARNED_MS;
  await Promise.all(
    nodes.map(({ host, port }) => untilKnown({ ...kafka, brokers: [`${host}:${port}`] }, topics, until)),
  );
};

/**
 * Resolves when the one broker of `kafka` has the topics, or does not answer: it learns of them before it serves again.
 */
const untilKnown = async (kafka: KafkaAccess, topics: readonly ITopicConfig[], until: number): Promise<void> => {
  const admin = openClients(kafka, 'vigil-topics', silentLogger).admins.admin();
  const known = (): Promise<readonly string[] | null> => admin.listTopics().catch(() => null);
  try {
    await admin.connect().catch(() => undefined);
    for (;;) {
      const there = await known();
      if (there === null) return;
      const unknown = topics.filter(({ topic }) => !there.includes(topic)).map(({ topic }) => topic);
      if (unknown.length === 0) return;
      if (performance.now() > until)
        throw new Error(
          `the broker at ${kafka.brokers.join()} does not have ${unknown.join(', ')} a minute after they were made: see its log`,
        );
      await sleep(50);
    }
  } finally {
    await admin.disconnect();
  }
};

/** The broker replaces all settings of a topic, so the other settings are sent with the change. */
const configure = async (admin: Admin, changes: readonly TopicChange[]): Promise<void> => {
  const resources = changes
    .filter((one) => one.kind === 'configure')
    .map(({ planned: { topic, config }, kept }) => ({
      type: TOPIC,
      name: topic,
      configEntries: entries({ ...kept, ...config }),
    }));
  if (resources.length > 0) await admin.alterConfigs({ validateOnly: false, resources });
};
