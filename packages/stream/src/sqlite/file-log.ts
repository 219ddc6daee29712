import { catalogue, type TopicName, tableCodec } from '@vigil/events';
import type { Log } from '../log/log.ts';
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

const storedTopics = (partitions: number): readonly StoredTopic[] =>
  Object.values(catalogue).map((info) => ({
    topic: info.name,
    partitions: partitionsOf(info, partitions),
    keep: keepOf(info),
  }));

/**
 * Vigil's log in one file: the topics of the catalogue, and the schemas of their records. Throws Refused if the file
 * has another number of partitions or another form, and KeepSchemasCompatible for a schema that does not fit it.
 */
export const openFileLog = ({ path, partitions, writes, now }: FileLogOptions): Promise<Log> =>
  openSqliteLog({ path, codec: (schemas) => tableCodec(schemas, writes), topics: storedTopics(partitions), now });
