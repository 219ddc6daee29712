import { type Codec, catalogue, type SchemaTable, Topic, type TopicName, tableCodec } from '@vigil/events';
import type { Log, Membership } from '../log/log.ts';
import { keepOf, partitionsOf } from '../log/topics.ts';
import type { StoredTopic } from './database.ts';
import { openSqliteLog } from './sqlite-log.ts';

/**
 * `path`: of the file, on a local disk; its folder exists. `partitions`: of the agent and task key spaces. `writes`: the
 * topics that this process writes. `now`: epoch milliseconds
 */
export type FileLogOptions = {
  readonly path: string;
  readonly partitions: number;
  readonly writes: readonly TopicName[];
  readonly now: () => number;
};

/** A replay folds the observations with their marks, so they stay as long as the observations. */
const REPLAYED_MS = 7 * 24 * 3_600_000;
/** Other readers continue at their positions. A reader that was away for longer misses marks, so less time passes for it. */
const MARKS_MS = 3_600_000;

const storedTopics = (partitions: number): readonly StoredTopic[] =>
  Object.values(catalogue).map((info) => ({
    topic: info.name,
    partitions: partitionsOf(info, partitions),
    keep: keepOf(info),
    keepMarksMs: info.name === Topic.agentObservation ? REPLAYED_MS : MARKS_MS,
  }));

/** The log of a file, as long as a user of this process has it. */
type Shared = { readonly log: Log; readonly schemas: SchemaTable; users: number };

const open = new Map<string, Promise<Shared>>();

const openShared = async ({ path, partitions, now }: FileLogOptions): Promise<Shared> => {
  const { promise, resolve } = Promise.withResolvers<SchemaTable>();
  const codec = (schemas: SchemaTable): Codec => {
    resolve(schemas);
    return tableCodec(schemas, []);
  };
  const log = await openSqliteLog({ path, codec, topics: storedTopics(partitions), now });
  return { log, schemas: await promise, users: 0 };
};

/** One user's part of a log: what it has joined and followed ends with it. */
const partOf = (shared: Shared, writes: readonly TopicName[], close: () => Promise<void>): Log => {
  const { log, schemas } = shared;
  const own = new AbortController();
  const joined = new Set<Membership>();
  return {
    ...log,
    codec: tableCodec(schemas, writes),
    join: async (member) => {
      const membership = await log.join(member);
      joined.add(membership);
      return membership;
    },
    follow: (topics, from, onRecord, signal) =>
      log.follow(topics, from, onRecord, AbortSignal.any([signal, own.signal])),
    [Symbol.asyncDispose]: async () => {
      if (own.signal.aborted) return;
      own.abort();
      for (const membership of joined) await membership.stop();
      await close();
    },
  };
};

/**
 * Vigil's log in one file: the topics of the catalogue, and the schemas of their records. Its users in one process
 * share a connection, so that a commit of one reaches the others at once. Throws Refused if the file has another number
 * of partitions or another form, and KeepSchemasCompatible for a schema that does not fit it.
 */
export const openFileLog = async (options: FileLogOptions): Promise<Log> => {
  const name = JSON.stringify([options.path, options.partitions]);
  const opening = open.get(name) ?? openShared(options);
  open.set(name, opening);
  const shared = await opening.catch((error: unknown) => {
    open.delete(name);
    throw error;
  });
  // Its last user may have closed it meanwhile.
  if (open.get(name) !== opening) return openFileLog(options);
  shared.users += 1;
  const close = async (): Promise<void> => {
    shared.users -= 1;
    if (shared.users > 0) return;
    open.delete(name);
    await shared.log[Symbol.asyncDispose]();
  };
  try {
    return partOf(shared, options.writes, close);
  } catch (error) {
    await close();
    throw error;
  }
};
