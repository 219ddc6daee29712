import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLogger } from '../logger.ts';
import { connectPlacement, coordinatesGroups } from '../testing/placement.ts';
import { type KafkaAccess, kafkaFrom } from './access.ts';
import { Client, openClients } from './client.ts';
import { makeTopics as makeKnown } from './topics.ts';

/** The brokers of integration tests: from the environment, as packages/dev sets it. */
export const brokers: readonly string[] = (process.env.KAFKA_BROKERS ?? '').split(',').filter(Boolean);
if (brokers.length === 0) throw new Error('set KAFKA_BROKERS to run integration tests, or use `npm test`');

/** Names are unique to a run, because tests share one broker. */
export const RUN: string = randomBytes(4).toString('hex');
let made = 0;
export const unique = (name: string): string => `${name}-${RUN}-${made++}`;

/** How tests connect to the brokers: with TLS and authentication if the environment has both. */
export const kafka: KafkaAccess = kafkaFrom({ ...process.env, KAFKA_BROKERS: brokers });

export const clients = openClients(kafka, `test-${RUN}`, silentLogger);
const admin = clients.admins.admin();
let connected: Promise<void> | undefined;

/** Tests write records with fixed times, which a broker's usual retention of a week deletes sooner or later. */
const KEPT = { 'retention.ms': '-1' };

/** Creates topics with their partitions and settings. They keep every record, unless the settings set a retention. */
export const makeTopics = async (
  counts: Readonly<Record<string, number>>,
  config: Readonly<Record<string, string>> = {},
): Promise<void> => {
  connected ??= admin.connect();
  await connected;
  const configEntries = Object.entries({ ...KEPT, ...config }).map(([name, value]) => ({ name, value }));
  const topics = Object.entries(counts).map(([topic, numPartitions]) => ({ topic, numPartitions, configEntries }));
  await makeKnown(kafka, admin, topics);
};

const MOVE_MS = 2000;
const MOVES_PER_COORDINATOR_MOVE = 10;

/**
 * On several brokers, makes the next replica of each partition its leader every two seconds until the signal. The
 * coordinators of groups move with every tenth move only: a group cannot form while its coordinator moves faster than a
 * rebalance.
 */
export const moveLeaders = async (signal: AbortSignal): Promise<void> => {
  if (brokers.length === 1) return;
  await using placement = await connectPlacement(kafka);
  for (let move = 1; !signal.aborted; move++) {
    const withCoordinators = move % MOVES_PER_COORDINATOR_MOVE === 0;
    const moved = (await placement.all()).filter(({ topic }) => withCoordinators || !coordinatesGroups(topic));
    await placement.assign(
      moved.map((one) => ({ ...one, replicas: [...one.replicas.slice(1), ...one.replicas.slice(0, 1)] })),
    );
    await sleep(MOVE_MS, undefined, { signal }).catch(() => undefined);
  }
};

export const closeServers = async (): Promise<void> => {
  if (connected !== undefined) await admin.disconnect();
};

export { Client };
