import type { Codec } from '@vigil/events';
import { Fatal, Refused } from '../errors.ts';
import type { From, Log, Position } from '../log/log.ts';
import type { Logger } from '../logger.ts';
import type { KafkaAccess } from './access.ts';
import { askBrokers, openClients } from './client.ts';
import { ClusterAdmin } from './cluster-admin.ts';
import { Follower } from './follower.ts';
import { join } from './membership.ts';
import { Reader } from './reader.ts';
import { openSender } from './sender.ts';
import { SerializedProducer } from './serialized-producer.ts';
import { fence } from './transactor.ts';

/** `sessionMs`: the session timeout of group members; default 10 000. */
export type LogOptions = {
  readonly kafka: KafkaAccess;
  readonly clientId: string;
  readonly codec: Codec;
  readonly logger: Logger;
  readonly sessionMs?: number;
};

/** Whether the brokers have refused the user, the password or the token. */
const isRefusedIdentity = (error: unknown): boolean => {
  const { name, cause } = (error ?? {}) as { readonly name?: unknown; readonly cause?: unknown };
  return name === 'KafkaJSSASLAuthenticationError' || (cause !== undefined && isRefusedIdentity(cause));
};

/** Refused where the brokers refuse the credentials, else Fatal: a restart may find a broker. */
export const failureOf = ({ brokers }: KafkaAccess, cause: Error): Refused | Fatal =>
  isRefusedIdentity(cause)
    ? new Refused(
        `the Kafka brokers at ${brokers.join(', ')} refuse the credentials: ${cause.message}; correct KAFKA_SASL_…`,
        { cause },
      )
    : new Fatal(`no Kafka broker answers at ${brokers.join(', ')}: ${cause.message}`, { cause });

const REACH_MS = 5000;

/** Asks the brokers once. Throws Fatal if none answers within five seconds, Refused if they refuse the credentials. */
export const reachBrokers = (kafka: KafkaAccess): Promise<void> =>
  askBrokers(kafka, REACH_MS).catch((error: Error) => {
    throw failureOf(kafka, error);
  });

/** Throws Fatal if no broker answers, Refused if they refuse the credentials. */
export const connectLog = async ({ kafka, clientId, codec, logger, sessionMs = 10_000 }: LogOptions): Promise<Log> => {
  const { consumers, producers, admins } = openClients(kafka, clientId, logger);
  const questions = new ClusterAdmin(admins);
  const queue = new SerializedProducer(() => openSender(producers));
  await Promise.all([questions.open(), queue.open()]).catch((error: Error) => {
    throw failureOf(kafka, error);
  });
  const readRanges: Log['readRanges'] = async (ranges, apply, signal) => {
    const begin = ranges.flatMap(({ topic, partition, low: offset, high: until }) =>
      offset < until ? [{ topic, partition, offset, until }] : [],
    );
    if (begin.length > 0) await untilDone(new Reader(admins, begin, apply), signal);
  };
  const { clusterId, partitionCount, bounds, stableEnds, groupOffsets } = questions;
  return {
    codec,
    clusterId,
    partitionCount,
    bounds,
    stableEnds,
    groupOffsets,
    read: (topic, partition, range, apply, signal) => readRanges([{ topic, partition, ...range }], apply, signal),
    readRanges,
    fence: (transactionalId) => fence(producers, transactionalId),
    write: (records) => queue.write(records),
    join: (member) => join(consumers, member, sessionMs, logger),
    follow: async (topics, from, onRecord, signal) => {
      const begin = await positions(questions, topics, from);
      const follower = new Follower(admins, begin, onRecord, stableEnds);
      void untilDone(follower, signal);
      return { ready: () => follower.ready };
    },
    [Symbol.asyncDispose]: async () => {
      await queue.close();
      await questions.close();
    },
  };
};

const untilDone = async (reader: Reader | Follower, signal: AbortSignal): Promise<void> => {
  const stop = () => reader.stop();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await reader.done;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

const positions = async (
  questions: ClusterAdmin,
  topics: readonly string[],
  from: From,
): Promise<readonly Position[]> => {
  const all = topics.map(async (topic) => {
    await questions.partitionCount(topic);
    if (typeof from === 'number')
      return (await questions.offsetsAt(topic, from)).map((offset, partition) => ({ topic, partition, offset }));
    const offsets =
      from === 'end' ? await questions.stableEnds(topic) : (await questions.bounds(topic)).map(({ low }) => low);
    return offsets.map((offset, partition) => ({ topic, partition, offset }));
  });
  return (await Promise.all(all)).flat();
};
