import { setTimeout as sleep } from 'node:timers/promises';
import { catalogue, type TopicInfo } from '@vigil/events';
import type { Admin, ITopicConfig } from 'kafkajs';
import { Refused } from '../errors.ts';
import { silent } from '../logger.ts';
import { openClients } from './client.ts';

/** A topic as it is to be. */
export type PlannedTopic = {
  readonly topic: string;
  readonly partitions: number;
  readonly config: Readonly<Record<string, string>>;
};

/** What is to be done about a topic: made, or its settings changed. */
export type TopicChange =
  | { readonly change: 'create'; readonly planned: PlannedTopic }
  | { readonly change: 'configure'; readonly planned: PlannedTopic; readonly from: Readonly<Record<string, string>> };

const DAY_MS = 86_400_000;
const MIB = 1 << 20;

const retention = (info: TopicInfo): Readonly<Record<string, string>> => {
  if (info.retention === 'forever') return { 'cleanup.policy': 'delete', 'retention.ms': '-1' };
  if (info.retention === 'compact') return { 'cleanup.policy': 'compact' };
  return { 'cleanup.policy': 'delete', 'retention.ms': String(Number.parseInt(info.retention, 10) * DAY_MS) };
};

/** Commands are stamped by the broker, and recompressed there, so that any client's codec can be read. */
const COMMANDS = {
  'message.timestamp.type': 'LogAppendTime',
  'compression.type': 'zstd',
  'max.message.bytes': String(512 * 1024),
};
/** Compacted often enough that a restore reads little that is no longer so. */
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

/** Every topic of the catalogue. `partitions`: of the agent and task key spaces. */
export const planTopics = ({ partitions }: { readonly partitions: number }): readonly PlannedTopic[] =>
  Object.values(catalogue).map((info) => ({
    topic: info.name,
    partitions: info.partitions === 'one' ? 1 : partitions,
    config: configOf(info),
  }));

/** A topic as it is; undefined config entries are the broker's own. */
export type PresentTopic = { readonly partitions: number; readonly config: Readonly<Record<string, string>> };

/** What must change. Throws Refused where a partition count differs: keys would lie elsewhere. */
export const compareTopics = (
  planned: readonly PlannedTopic[],
  present: ReadonlyMap<string, PresentTopic>,
): readonly TopicChange[] =>
  planned.flatMap((topic): readonly TopicChange[] => {
    const now = present.get(topic.topic);
    if (now === undefined) return [{ change: 'create', planned: topic }];
    if (now.partitions !== topic.partitions)
      throw new Refused(
        `${topic.topic} has ${now.partitions} partitions and should have ${topic.partitions}: set VIGIL_PARTITIONS to what the cluster has, or use another cluster`,
      );
    const from = Object.fromEntries(Object.keys(topic.config).map((name) => [name, now.config[name] ?? '']));
    const differs = Object.entries(topic.config).some(([name, value]) => from[name] !== value);
    return differs ? [{ change: 'configure', planned: topic, from }] : [];
  });

/** Makes every topic of the catalogue as it is to be, and changes nothing where it is so already. Gives what it changed. */
export const applyTopics = async ({
  brokers,
  partitions = 4,
  dryRun = false,
}: {
  readonly brokers: readonly string[];
  readonly partitions?: number;
  /** only says what it would change */
  readonly dryRun?: boolean;
}): Promise<readonly TopicChange[]> => {
  const admin = openClients(brokers, 'vigil-topics', silent).admins.admin();
  await admin.connect();
  try {
    const planned = planTopics({ partitions });
    const changes = compareTopics(planned, await presentTopics(admin, planned));
    if (dryRun) return changes;
    await create(admin, changes);
    await configure(admin, changes);
    return changes;
  } finally {
    await admin.disconnect();
  }
};

const TOPIC = 2; // the broker's number for a topic as a resource

const presentTopics = async (
  admin: Admin,
  planned: readonly PlannedTopic[],
): Promise<ReadonlyMap<string, PresentTopic>> => {
  const all = new Set(await admin.listTopics());
  const topics = planned.map(({ topic }) => topic).filter((topic) => all.has(topic));
  if (topics.length === 0) return new Map();
  const { topics: metadata } = await admin.fetchTopicMetadata({ topics });
  const configNames = [...new Set(planned.flatMap(({ config }) => Object.keys(config)))];
  const resources = topics.map((name) => ({ type: TOPIC, name, configNames }));
  const { resources: described } = await admin.describeConfigs({ includeSynonyms: false, resources });
  const configs = new Map(
    described.map(({ resourceName, configEntries }) => [
      resourceName,
      Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  );
  return new Map(
    metadata.map(({ name, partitions }) => [name, { partitions: partitions.length, config: configs.get(name) ?? {} }]),
  );
};

const entries = (config: Readonly<Record<string, string>>) =>
  Object.entries(config).map(([name, value]) => ({ name, value }));

const create = async (admin: Admin, changes: readonly TopicChange[]): Promise<void> => {
  const topics = changes
    .filter(({ change }) => change === 'create')
    .map(({ planned: { topic, partitions, config } }) => ({
      topic,
      numPartitions: partitions,
      configEntries: entries(config),
    }));
  if (topics.length > 0) await makeTopics(admin, topics);
};

/** How long the broker may take to hear of what its controller has made, milliseconds. */
const HEARD_MS = 60_000;

/**
 * Makes topics, and waits until the broker knows them. kafkajs would wait for their leaders, but takes a topic of which the broker has not heard yet for an error.
 * @throws where the broker does not know them within a minute; and what kafkajs throws
 */
export const makeTopics = async (admin: Admin, topics: readonly ITopicConfig[]): Promise<void> => {
  await admin.createTopics({ topics: [...topics], waitForLeaders: false });
  for (const until = Date.now() + HEARD_MS; ; await sleep(50)) {
    const known = new Set(await admin.listTopics());
    const unknown = topics.filter(({ topic }) => !known.has(topic)).map(({ topic }) => topic);
    if (unknown.length === 0) return;
    if (Date.now() > until)
      throw new Error(`the broker does not know ${unknown.join(', ')} a minute after it was to make them: see its log`);
  }
};

const configure = async (admin: Admin, changes: readonly TopicChange[]): Promise<void> => {
  const resources = changes
    .filter(({ change }) => change === 'configure')
    .map(({ planned: { topic, config } }) => ({ type: TOPIC, name: topic, configEntries: entries(config) }));
  if (resources.length > 0) await admin.alterConfigs({ validateOnly: false, resources });
};
