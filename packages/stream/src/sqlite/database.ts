import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { NewSchema, SchemaTable } from '@vigil/events';
import { Fatal, Refused, Retry } from '../errors.ts';
import { isCommand } from '../log/inputs.ts';
import type { Bounds, LogRecord, OutRecord, Position } from '../log/log.ts';
import { partitionKey } from '../log/partitioner.ts';
import type { Keep } from '../log/topics.ts';

/** A topic of the file. */
export type StoredTopic = {
  readonly topic: string;
  readonly partitions: number;
  readonly keep: Keep;
  /** how long it keeps records that only carry time, milliseconds */
  readonly keepMarksMs: number;
};

/** A schema of the file's records. */
export type StoredSchema = { readonly id: number; readonly subject: string; readonly json: string };

/** The number of the tables' form. A file of another form is refused. */
const FORM = 1;

/**
 * `records.id` has the partition's number above 40 bits of offset, so a partition is one range of the table, and an
 * append goes to the end of its range. Both fit in the 53 bits of a number.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS log (form INTEGER NOT NULL, cluster_id TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS partitions (
    id INTEGER PRIMARY KEY,
    topic TEXT NOT NULL,
    partition INTEGER NOT NULL,
    low INTEGER NOT NULL DEFAULT 0,
    high INTEGER NOT NULL DEFAULT 0,
    compacted INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic, partition)
  );
  CREATE TABLE IF NOT EXISTS records (
    id INTEGER PRIMARY KEY, key TEXT, timestamp INTEGER NOT NULL, headers TEXT, value BLOB
  );
  CREATE TABLE IF NOT EXISTS newest (
    partition INTEGER NOT NULL, key TEXT NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (partition, key)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS epochs (transactional_id TEXT PRIMARY KEY, epoch INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS processes (token TEXT PRIMARY KEY, pid INTEGER NOT NULL, heartbeats INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS groups (name TEXT PRIMARY KEY, generation INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS members (
    id INTEGER PRIMARY KEY, "group" TEXT NOT NULL, process TEXT NOT NULL, most INTEGER NOT NULL, assigned TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS offsets (
    "group" TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
    PRIMARY KEY ("group", topic, partition)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS schemas (
    id INTEGER PRIMARY KEY, subject TEXT NOT NULL, schema TEXT NOT NULL, UNIQUE (subject, schema)
  );
`;

const OFFSETS = 2 ** 40;
/** How long a transaction waits for one of another process, milliseconds. */
const BUSY_MS = 10_000;
/** The codes of SQLite for a file that another process holds too long. */
const BUSY = 5;
const LOCKED = 6;

type Row = Readonly<Record<string, unknown>>;
type PartitionRow = { readonly id: number; readonly topic: string; readonly partition: number } & Bounds;

/** Loaded at the first use: Node 20, which runs the commands that only ask a server, does not have it. */
const sqlite = () => {
  const found = process.getBuiltinModule?.('node:sqlite');
  if (found === undefined)
    throw new Refused(`Node ${process.versions.node} has no SQLite, which the log in one file needs: use Node 24`);
  return found;
};

const sqliteCode = (error: unknown): number => Number((error as { readonly errcode?: unknown }).errcode) & 0xff;

const asLogError = (error: unknown, file: string): unknown => {
  const code = sqliteCode(error);
  if (Number.isNaN(code)) return error;
  const message = `${file}: ${(error as Error).message}`;
  if (code === BUSY || code === LOCKED) return new Retry(message, { cause: error });
  return new Fatal(message, { cause: error });
};

const headersIn = (text: unknown): LogRecord['headers'] => (typeof text === 'string' ? JSON.parse(text) : {});

const valueIn = (value: unknown): Buffer | null => {
  if (!(value instanceof Uint8Array)) return null;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
};

/** SQLite writes into an existing file that is empty, and leaves its mode. */
const createPrivate = (path: string): void => {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    throw new Fatal(`the copy of the log cannot be written: ${(error as Error).message}`);
  }
};

/**
 * The file of the log. A commit survives a kill of its process. After a loss of power the newest commits may be
 * missing, and the file is consistent. Throws Refused for a file of another form, Fatal if it cannot be used.
 */
export class LogFile {
  readonly path: string;
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #partitions = new Map<string, number>();
  #ends: Map<string, number> | null = null;

  constructor(path: string) {
    this.path = path;
    const { DatabaseSync } = sqlite();
    try {
      this.#db = new DatabaseSync(path);
      this.#db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;`);
    } catch (error) {
      throw new Fatal(`the log cannot be opened at ${path}: ${(error as Error).message}`, { cause: error });
    }
    this.transaction(() => {
      this.#db.exec(TABLES);
      const [log] = this.all('SELECT form FROM log');
      if (log === undefined) this.run('INSERT INTO log (form, cluster_id) VALUES (?, ?)', FORM, randomUUID());
      else if (log.form !== FORM)
        throw new Refused(
          `${path} has form ${log.form}, and this version of Vigil reads form ${FORM}: use the version that wrote it, or another file`,
        );
    });
  }

  /** All or nothing, also for other processes. */
  transaction<T>(work: () => T): T {
    this.#guard(() => this.#db.exec('BEGIN IMMEDIATE'));
    try {
      const result = work();
      this.#guard(() => this.#db.exec('COMMIT'));
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.forgetEnds();
      throw error;
    }
  }

  all(sql: string, ...values: readonly (string | number | null)[]): readonly Row[] {
    return this.#guard(() => this.#prepared(sql).all(...values)) as readonly Row[];
  }

  run(sql: string, ...values: readonly (string | number | null | Uint8Array)[]): void {
    this.#guard(() => this.#prepared(sql).run(...values));
  }

  clusterId(): string {
    return String(this.all('SELECT cluster_id FROM log')[0]?.cluster_id);
  }

  /** A number that changes when another connection has committed. */
  commitsOfOthers(): number {
    return Number(this.all('PRAGMA data_version')[0]?.data_version);
  }

  /** Creates missing topics. Throws Refused if a topic has another number of partitions. */
  createTopics(topics: readonly StoredTopic[]): void {
    this.transaction(() => {
      const counts = this.#counts();
      for (const { topic, partitions } of topics) {
        const now = counts.get(topic) ?? 0;
        if (now !== 0 && now !== partitions)
          throw new Refused(
            `${topic} has ${now} partitions in ${this.path} and should have ${partitions}: set VIGIL_PARTITIONS to ${now}, or use another file`,
          );
        for (let partition = now; partition < partitions; partition += 1)
          this.run('INSERT INTO partitions (topic, partition) VALUES (?, ?)', topic, partition);
      }
    });
  }

  /** The schemas of the file's records. */
  readonly schemas: SchemaTable = {
    register: (schemas) => this.transaction(() => schemas.map((schema) => this.#register(schema))),
    find: (id) => this.all('SELECT schema FROM schemas WHERE id = ?', id)[0]?.schema as string | undefined,
  };

  #register({ subject, json, permit }: NewSchema): number {
    const rows = this.all('SELECT id, schema FROM schemas WHERE subject = ? ORDER BY id', subject);
    const known = rows.find(({ schema }) => schema === json);
    if (known !== undefined) return Number(known.id);
    permit(rows.map(({ schema }) => String(schema)));
    this.run('INSERT INTO schemas (subject, schema) VALUES (?, ?)', subject, json);
    return Number(this.all('SELECT last_insert_rowid() AS id')[0]?.id);
  }

  allSchemas(): readonly StoredSchema[] {
    const rows = this.all('SELECT id, subject, schema FROM schemas ORDER BY id');
    return rows.map(({ id, subject, schema }) => ({ id: Number(id), subject: String(subject), json: String(schema) }));
  }

  /** The published offsets of all groups. */
  groupOffsets(): readonly (Position & { readonly group: string })[] {
    return this.all('SELECT "group", topic, partition, "offset" FROM offsets') as unknown as readonly (Position & {
      readonly group: string;
    })[];
  }

  /** The number of partitions of each topic. */
  partitionCounts(): ReadonlyMap<string, number> {
    return this.#counts();
  }

  /**
   * Writes a copy that only its owner can read, consistent also while others write. Throws Fatal if the file exists, or
   * cannot be written.
   */
  copyTo(path: string): void {
    createPrivate(path);
    this.run('VACUUM INTO ?', path);
  }

  #counts(): ReadonlyMap<string, number> {
    const rows = this.all('SELECT topic, count(*) AS partitions FROM partitions GROUP BY topic');
    return new Map(rows.map(({ topic, partitions }) => [String(topic), Number(partitions)]));
  }

  /**
   * The ends of all partitions of all topics, by `topic/partition`. They are kept in memory: appends of this connection
   * change them there, and those of others are read after `forgetEnds`.
   */
  ends(): ReadonlyMap<string, number> {
    if (this.#ends === null) {
      const rows = this.all('SELECT topic, partition, high FROM partitions') as unknown as readonly PartitionRow[];
      this.#ends = new Map(rows.map(({ topic, partition, high }) => [partitionKey(topic, partition), high]));
    }
    return this.#ends;
  }

  forgetEnds(): void {
    this.#ends = null;
  }

  /** By partition number. Throws Refused for an unknown topic. */
  bounds(topic: string): readonly Bounds[] {
    const sql = 'SELECT low, high FROM partitions WHERE topic = ? ORDER BY partition';
    const rows = this.all(sql, topic) as unknown as readonly Bounds[];
    if (rows.length === 0) throw new Refused(`${this.path} has no topic ${topic}`);
    return rows.map(({ low, high }) => ({ low, high }));
  }

  /** Appends in the order of the records, inside a transaction. `now`: for records without a time, and for commands. */
  append(records: readonly OutRecord[], now: number): void {
    const highs = new Map<number, number>();
    for (const { topic, partition, key, value, timestamp, headers } of records) {
      const id = this.#idOf(topic, partition);
      const offset = highs.get(id) ?? this.#high(id);
      this.#ends?.set(partitionKey(topic, partition), offset + 1);
      const at = isCommand(topic) ? now : (timestamp ?? now);
      const sql = 'INSERT INTO records (id, key, timestamp, headers, value) VALUES (?, ?, ?, ?, ?)';
      this.run(sql, id * OFFSETS + offset, key, at, headers === undefined ? null : JSON.stringify(headers), value);
      highs.set(id, offset + 1);
    }
    for (const [id, high] of highs) this.run('UPDATE partitions SET high = ? WHERE id = ?', high, id);
  }

  /** At most `most` records of `[low, high)` in order. Offsets of deleted records are missing. */
  read(topic: string, partition: number, { low, high }: Bounds, most: number): readonly LogRecord[] {
    const first = this.#idOf(topic, partition) * OFFSETS;
    const sql = 'SELECT id, key, timestamp, headers, value FROM records WHERE id >= ? AND id < ? ORDER BY id LIMIT ?';
    return this.all(sql, first + low, first + high, most).map(({ id, key, timestamp, headers, value }) => ({
      topic,
      partition,
      offset: Number(id) - first,
      key: key as string | null,
      value: valueIn(value),
      timestamp: Number(timestamp),
      headers: headersIn(headers),
    }));
  }

  /** The offset of the first record at or after a time; the end if all are older. */
  offsetAt(topic: string, partition: number, time: number): number {
    const first = this.#idOf(topic, partition) * OFFSETS;
    const sql = 'SELECT id FROM records WHERE id >= ? AND id < ? AND timestamp >= ? ORDER BY id LIMIT 1';
    const [row] = this.all(sql, first, first + OFFSETS, time);
    return row === undefined ? (this.bounds(topic)[partition]?.high ?? 0) : Number(row.id) - first;
  }

  /**
   * Deletes what the topic does not keep: records older than its age; where it is compacted, records of a key before its
   * newest one; and marks, which only carry time. The newest record stays in all. `before`: only records that are older;
   * epoch milliseconds.
   */
  clean({ topic, partitions, keep, keepMarksMs }: StoredTopic, before: number): void {
    for (let partition = 0; partition < partitions; partition += 1)
      this.transaction(() => {
        if (keep === 'compact') return this.#compact(topic, partition, before);
        if (keep !== 'forever') this.#expire(topic, partition, before - keep);
        this.#deleteMarks(topic, partition, before - keepMarksMs);
      });
  }

  close(): void {
    this.#db.close();
  }

  #expire(topic: string, partition: number, before: number): void {
    const id = this.#idOf(topic, partition);
    const { low, high } = this.bounds(topic)[partition] ?? { low: 0, high: 0 };
    const end = Math.min(this.offsetAt(topic, partition, before), high - 1);
    if (end <= low) return;
    this.run('DELETE FROM records WHERE id >= ? AND id < ?', id * OFFSETS + low, id * OFFSETS + end);
    this.run('UPDATE partitions SET low = ? WHERE id = ?', end, id);
  }

  /** A mark has a key of the runner and no value. As in a compacted topic, each record is looked at once. */
  #deleteMarks(topic: string, partition: number, before: number): void {
    const id = this.#idOf(topic, partition);
    const [row] = this.all('SELECT compacted, high FROM partitions WHERE id = ?', id);
    const from = id * OFFSETS + Number(row?.compacted ?? 0);
    const newest = id * OFFSETS + Number(row?.high ?? 0) - 1;
    const recent = 'SELECT id FROM records WHERE id >= ? AND id < ? AND timestamp >= ? ORDER BY id LIMIT 1';
    const end = Number(this.all(recent, from, newest, before)[0]?.id ?? newest);
    if (end <= from) return;
    this.run("DELETE FROM records WHERE id >= ? AND id < ? AND value IS NULL AND key LIKE '@%'", from, end);
    this.run('UPDATE partitions SET compacted = ? WHERE id = ?', end - id * OFFSETS, id);
  }

  /** Each record is looked at once: `compacted` is the first one that has not been. */
  #compact(topic: string, partition: number, before: number): void {
    const id = this.#idOf(topic, partition);
    const [row] = this.all('SELECT compacted FROM partitions WHERE id = ?', id);
    const low = Number(row?.compacted ?? 0);
    const high = this.offsetAt(topic, partition, before);
    if (high <= low) return;
    const range = [id * OFFSETS + low, id * OFFSETS + high] as const;
    const latest = 'SELECT key, max(id) AS id FROM records WHERE id >= ? AND id < ? AND key IS NOT NULL GROUP BY key';
    this.run(
      `DELETE FROM records WHERE id IN (SELECT n.id FROM newest n JOIN (${latest}) l ON l.key = n.key WHERE n.partition = ?)`,
      ...range,
      id,
    );
    this.run(
      `DELETE FROM records WHERE id >= ? AND id < ? AND key IS NOT NULL AND id NOT IN (SELECT id FROM (${latest}))`,
      ...range,
      ...range,
    );
    this.run(
      `INSERT INTO newest (partition, key, id) SELECT ?, key, id FROM (${latest}) WHERE true
       ON CONFLICT (partition, key) DO UPDATE SET id = excluded.id`,
      id,
      ...range,
    );
    this.run('UPDATE partitions SET compacted = ? WHERE id = ?', high, id);
  }

  #high(id: number): number {
    return Number(this.all('SELECT high FROM partitions WHERE id = ?', id)[0]?.high);
  }

  #idOf(topic: string, partition: number): number {
    const key = partitionKey(topic, partition);
    const known = this.#partitions.get(key);
    if (known !== undefined) return known;
    const rows = this.all('SELECT id, topic, partition FROM partitions') as unknown as readonly PartitionRow[];
    this.#partitions = new Map(rows.map((row) => [partitionKey(row.topic, row.partition), row.id]));
    const found = this.#partitions.get(key);
    if (found === undefined) throw new Refused(`${topic} has no partition ${partition} in ${this.path}`);
    return found;
  }

  #prepared(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const made = this.#db.prepare(sql);
    this.#statements.set(sql, made);
    return made;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asLogError(error, this.path);
    }
  }
}
