import { setImmediate as turn } from 'node:timers/promises';
import type { Codec, SchemaTable } from '@vigil/events';
import { Retry } from '../errors.ts';
import { isCommand } from '../log/inputs.ts';
import type {
  Bounds,
  Following,
  From,
  Log,
  LogRecord,
  Member,
  Membership,
  OutRecord,
  PartitionRange,
  Position,
  Transactor,
} from '../log/log.ts';
import { partitionKey } from '../log/partitioner.ts';
import { LogFile, type StoredTopic } from './database.ts';
import { groupOffset, HEARTBEAT_MS, MOST_RECORDS, Processes, SqliteMember } from './group.ts';

/** How often the file is looked at for commits of other processes, milliseconds. */
const LOOK_MS = 25;
/** How often old records are deleted, milliseconds. */
const CLEAN_MS = 60_000;
/** A compacted topic keeps every record for so long, because a reader may be between two of a key. Milliseconds. */
const KEPT_MS = 60_000;

/**
 * `path`: of the file, on a local disk. `codec`: on the schemas of the file, or one that needs none. `topics`: those
 * that are missing are created. `now`: epoch milliseconds
 */
export type SqliteOptions = {
  readonly path: string;
  readonly codec: (schemas: SchemaTable) => Codec;
  readonly topics: readonly StoredTopic[];
  readonly now: () => number;
};

/**
 * The log of one machine, in one file, for services in one process or in several. Commits of other processes are seen
 * within 25 ms. Throws Refused if a topic has another number of partitions or the file another form; and the errors of
 * the codec.
 */
export const openSqliteLog = async (options: SqliteOptions): Promise<Log> => {
  const file = new LogFile(options.path);
  try {
    file.createTopics(options.topics);
    return new SqliteLog(file, options);
  } catch (error) {
    file.close();
    throw error;
  }
};

type Follow = { readonly positions: Map<string, Position>; readonly onRecord: (record: LogRecord) => void };

class SqliteLog implements Log {
  readonly codec: Codec;
  readonly #file: LogFile;
  readonly #now: () => number;
  readonly #processes: Processes;
  readonly #members = new Set<SqliteMember>();
  readonly #follows = new Set<Follow>();
  readonly #timers: readonly NodeJS.Timeout[];
  #commits: number;
  #isLooking = false;
  #isClosed = false;

  constructor(file: LogFile, { codec, topics, now }: SqliteOptions) {
    this.codec = codec(file.schemas);
    this.#file = file;
    this.#now = now;
    this.#processes = new Processes(file);
    this.#commits = file.commitsOfOthers();
    this.#timers = [
      setInterval(() => this.#lookAtOthers(), LOOK_MS),
      setInterval(() => this.#heartbeat(), HEARTBEAT_MS),
      setInterval(() => this.#clean(topics), CLEAN_MS),
    ].map((timer) => timer.unref());
  }

  readonly clusterId = async (): Promise<string> => this.#file.clusterId();

  readonly partitionCount = async (topic: string): Promise<number> => this.#file.bounds(topic).length;

  readonly bounds = async (topic: string): Promise<readonly Bounds[]> => this.#file.bounds(topic);

  readonly stableEnds = async (topic: string): Promise<readonly number[]> =>
    this.#file.bounds(topic).map(({ high }) => high);

  readonly groupOffsets = async (group: string, topic: string): Promise<readonly (number | null)[]> =>
    this.#file.bounds(topic).map((_, partition) => groupOffset(this.#file, group, topic, partition));

  readonly read: Log['read'] = (topic, partition, range, apply, signal) =>
    this.readRanges([{ topic, partition, ...range }], apply, signal);

  /** Other work of the process has a turn between two parts of a long range. */
  readonly readRanges = async (
    ranges: readonly PartitionRange[],
    apply: (record: LogRecord) => void,
    signal: AbortSignal,
  ): Promise<void> => {
    for (const { topic, partition, low, high } of ranges)
      for (let from = low; from < high && !signal.aborted; ) {
        const records = this.#file.read(topic, partition, { low: from, high }, MOST_RECORDS);
        records.forEach(apply);
        from = records.length < MOST_RECORDS ? high : (records.at(-1)?.offset ?? high) + 1;
        await turn();
      }
  };

  readonly fence = async (id: string): Promise<Transactor> => {
    const epoch = this.#file.transaction(() => {
      this.#file.run(
        `INSERT INTO epochs (transactional_id, epoch) VALUES (?, 1)
         ON CONFLICT (transactional_id) DO UPDATE SET epoch = epoch + 1`,
        id,
      );
      return this.#epochOf(id);
    });
    const commit = async (records: readonly OutRecord[]): Promise<void> => {
      this.#append(records, () => {
        if (this.#epochOf(id) !== epoch) throw new Retry(`${id} was fenced`);
      });
    };
    return { commit, close: async () => {} };
  };

  readonly write = async (records: readonly OutRecord[]): Promise<number | null> => {
    const at = this.#append(records, () => {});
    return records.some(({ topic }) => isCommand(topic)) ? at : null;
  };

  readonly join = async (member: Member): Promise<Membership> => {
    const joined: SqliteMember = new SqliteMember(this.#file, member, {
      changed: () => this.#lookSoon(),
      left: () => void this.#members.delete(joined),
    });
    this.#members.add(joined);
    this.#lookSoon();
    return joined;
  };

  readonly follow = async (
    topics: readonly string[],
    from: From,
    onRecord: (record: LogRecord) => void,
    signal: AbortSignal,
  ): Promise<Following> => {
    const begin = topics.flatMap((topic) =>
      this.#file
        .bounds(topic)
        .map((bounds, partition) => ({ topic, partition, offset: this.#begin(topic, partition, bounds, from) })),
    );
    this.#file.forgetEnds();
    const ends = new Map(this.#file.ends());
    const positions = new Map(begin.map((one) => [partitionKey(one.topic, one.partition), one]));
    const follow: Follow = { positions, onRecord };
    this.#follows.add(follow);
    signal.addEventListener('abort', () => this.#follows.delete(follow), { once: true });
    if (signal.aborted) this.#follows.delete(follow);
    this.#lookSoon();
    return {
      ready: () => [...positions].every(([key, { offset }]) => offset >= (ends.get(key) ?? 0)),
    };
  };

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    for (const timer of this.#timers) clearInterval(timer);
    for (const member of [...this.#members]) await member.stop();
    this.#follows.clear();
    this.#isClosed = true;
    this.#file.close();
  }

  #begin(topic: string, partition: number, { low, high }: Bounds, from: From): number {
    if (from === 'end') return high;
    return from === 'beginning' ? low : this.#file.offsetAt(topic, partition, from);
  }

  #epochOf(id: string): number {
    return Number(this.#file.all('SELECT epoch FROM epochs WHERE transactional_id = ?', id)[0]?.epoch);
  }

  /** Returns the time of the commit. */
  #append(records: readonly OutRecord[], permit: () => void): number {
    const now = this.#now();
    this.#file.transaction(() => {
      permit();
      this.#file.append(records, now);
    });
    this.#lookSoon();
    return now;
  }

  #lookAtOthers(): void {
    const commits = this.#file.commitsOfOthers();
    if (commits === this.#commits) return;
    this.#commits = commits;
    this.#file.forgetEnds();
    this.#lookSoon();
  }

  #heartbeat(): void {
    this.#processes.heartbeat();
    for (const member of this.#members) member.heartbeat();
    this.#lookSoon();
  }

  #clean(topics: readonly StoredTopic[]): void {
    for (const topic of topics) this.#file.clean(topic, this.#now() - KEPT_MS);
  }

  #lookSoon(): void {
    if (this.#isLooking || this.#isClosed) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      if (!this.#isClosed) this.#look();
    });
  }

  #look(): void {
    const ends = this.#file.ends();
    for (const member of this.#members) member.look(ends);
    for (const follow of this.#follows) this.#deliver(follow, ends);
  }

  #deliver({ positions, onRecord }: Follow, ends: ReadonlyMap<string, number>): void {
    for (const [key, { topic, partition, offset }] of positions) {
      const high = ends.get(key) ?? 0;
      if (offset >= high) continue;
      const records = this.#file.read(topic, partition, { low: offset, high }, MOST_RECORDS);
      const isFull = records.length === MOST_RECORDS;
      positions.set(key, { topic, partition, offset: isFull ? (records.at(-1)?.offset ?? offset) + 1 : high });
      if (isFull) this.#lookSoon();
      records.forEach(onRecord);
    }
  }
}
