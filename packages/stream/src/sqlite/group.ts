import { randomUUID } from 'node:crypto';
import type { Batch, Member, Membership, Position } from '../log/log.ts';
import { partitionKey, shareOut } from '../log/partitioner.ts';
import type { LogFile } from './database.ts';

/** Records of one batch at most. */
export const MOST_RECORDS = 1000;

/** This process, also where a later one gets its number. */
const PROCESS = randomUUID();

/** How often a process shows that it runs, milliseconds. */
export const HEARTBEAT_MS = 1000;
/** A process without a heartbeat for so many of another one is stopped: its members lose their partitions. */
const MISSED_HEARTBEATS = 30;

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

type ProcessRow = { readonly token: string; readonly pid: number; readonly heartbeats: number };

/** The processes that use the file. One of them removes the members of those that have ended or stand still. */
export class Processes {
  readonly #file: LogFile;
  readonly #seen = new Map<string, { readonly heartbeats: number; readonly missed: number }>();

  constructor(file: LogFile) {
    this.#file = file;
    this.heartbeat();
  }

  /** Shows that this process runs, and removes those that do not. */
  heartbeat(): void {
    this.#file.transaction(() => {
      this.#file.run(
        `INSERT INTO processes (token, pid, heartbeats) VALUES (?, ?, 1)
         ON CONFLICT (token) DO UPDATE SET heartbeats = heartbeats + 1`,
        PROCESS,
        process.pid,
      );
      const rows = this.#file.all('SELECT token, pid, heartbeats FROM processes') as unknown as readonly ProcessRow[];
      const ended = rows.filter((row) => this.#hasEnded(row)).map(({ token }) => token);
      for (const token of ended) this.#remove(token);
    });
  }

  /** A number is used again: another process with this process's number has ended. */
  #hasEnded({ token, pid, heartbeats }: ProcessRow): boolean {
    if (token === PROCESS) return false;
    if (pid === process.pid || !isRunning(pid)) return true;
    const before = this.#seen.get(token);
    const missed = before?.heartbeats === heartbeats ? before.missed + 1 : 0;
    this.#seen.set(token, { heartbeats, missed });
    return missed >= MISSED_HEARTBEATS;
  }

  #remove(token: string): void {
    this.#seen.delete(token);
    const groups = this.#file.all('SELECT DISTINCT "group" AS name FROM members WHERE process = ?', token);
    this.#file.run('DELETE FROM members WHERE process = ?', token);
    this.#file.run('DELETE FROM processes WHERE token = ?', token);
    for (const { name } of groups) share(this.#file, String(name));
  }
}

type MemberRow = { readonly id: number; readonly most: number; readonly assigned: string };

/** Shares the partitions of a group out among its members, inside a transaction. */
const share = (file: LogFile, group: string): void => {
  const sql = 'SELECT id, most, assigned FROM members WHERE "group" = ? ORDER BY id';
  const rows = file.all(sql, group) as unknown as readonly MemberRow[];
  const members = rows.map(({ id, assigned }) => ({
    id: String(id).padStart(16, '0'),
    held: JSON.parse(assigned) as number[],
  }));
  const shares = members.length === 0 ? new Map() : shareOut(members, Math.max(...rows.map(({ most }) => most)));
  for (const [id, mine] of shares)
    file.run('UPDATE members SET assigned = ? WHERE id = ?', JSON.stringify(mine), Number(id));
  file.run(
    'INSERT INTO groups (name, generation) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET generation = generation + 1',
    group,
  );
};

/** `due`: milliseconds of this process's monotonic clock before which no further batch is given. */
type Reading = { position: number; due: number; busy: boolean; declined: boolean };

/** A member of a group, in this process. `changed`: it has written to the file. */
export class SqliteMember implements Membership {
  readonly #file: LogFile;
  readonly #member: Member;
  readonly #counts: ReadonlyMap<string, number>;
  readonly #changed: () => void;
  readonly #left: () => void;
  readonly #paused = new Set<number>();
  #id: number;
  #generation = 0;
  #assigned: readonly number[] = [];
  #readings = new Map<string, Reading>();
  #isStopped = false;

  constructor(
    file: LogFile,
    member: Member,
    { changed, left }: { readonly changed: () => void; readonly left: () => void },
  ) {
    this.#file = file;
    this.#member = member;
    this.#counts = new Map(member.topics.map((topic) => [topic, file.bounds(topic).length]));
    this.#changed = changed;
    this.#left = left;
    this.#id = this.#enter();
  }

  /** What other processes have changed: the assignment, and new records. */
  look(ends: ReadonlyMap<string, number>): void {
    if (this.#isStopped) return;
    const sql = `SELECT g.generation, m.assigned FROM groups g LEFT JOIN members m ON m.id = ? WHERE g.name = ?`;
    const [row] = this.#file.all(sql, this.#id, this.#member.group);
    if (row?.assigned === null) {
      // This process stood still for so long that another one has removed it.
      this.#id = this.#enter();
      this.#changed();
      return;
    }
    if (row !== undefined && row.generation !== this.#generation) {
      this.#generation = Number(row.generation);
      this.#assign(JSON.parse(String(row.assigned)));
    }
    for (const [topic, partition] of this.#mine()) this.#giveSoon(topic, partition, ends);
  }

  heartbeat(): void {
    if (!this.#isStopped) this.#member.onHeartbeat();
  }

  readonly seek = (topic: string, partition: number, offset: number): void => {
    const key = partitionKey(topic, partition);
    if (!this.#readings.has(key)) return;
    this.#readings.set(key, { position: offset, due: 0, busy: false, declined: false });
    this.#changed();
  };

  readonly pause = (partition: number): void => void this.#paused.add(partition);

  readonly resume = (partition: number): void => {
    this.#paused.delete(partition);
    this.#changed();
  };

  readonly publish = async (offsets: readonly Position[]): Promise<void> => {
    const mine = offsets.filter(({ topic, partition }) => this.#readings.has(partitionKey(topic, partition)));
    this.#file.transaction(() => {
      for (const { topic, partition, offset } of mine)
        this.#file.run(
          `INSERT INTO offsets ("group", topic, partition, "offset") VALUES (?, ?, ?, ?)
           ON CONFLICT ("group", topic, partition) DO UPDATE SET "offset" = excluded."offset"`,
          this.#member.group,
          topic,
          partition,
          offset,
        );
    });
  };

  readonly stop = async (): Promise<void> => {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#readings = new Map();
    this.#assigned = [];
    this.#file.transaction(() => {
      this.#file.run('DELETE FROM members WHERE id = ?', this.#id);
      share(this.#file, this.#member.group);
    });
    this.#left();
    this.#changed();
  };

  #enter(): number {
    const { group, held } = this.#member;
    return this.#file.transaction(() => {
      const values = [group, PROCESS, Math.max(...this.#counts.values()), JSON.stringify(held())] as const;
      this.#file.run('INSERT INTO members ("group", process, most, assigned) VALUES (?, ?, ?, ?)', ...values);
      const id = Number(this.#file.all('SELECT last_insert_rowid() AS id')[0]?.id);
      share(this.#file, group);
      return id;
    });
  }

  #assign(partitions: readonly number[]): void {
    this.#assigned = partitions;
    this.#paused.clear();
    this.#readings = new Map(
      this.#mine().map(([topic, partition]) => [
        partitionKey(topic, partition),
        { position: this.#published(topic, partition), due: 0, busy: false, declined: false },
      ]),
    );
    this.#member.onAssigned(new Set(partitions), this);
  }

  #published(topic: string, partition: number): number {
    return groupOffset(this.#file, this.#member.group, topic, partition) ?? 0;
  }

  #mine(): readonly (readonly [topic: string, partition: number])[] {
    return [...this.#counts].flatMap(([topic, count]) =>
      this.#assigned.filter((partition) => partition < count).map((partition) => [topic, partition] as const),
    );
  }

  /** Batches of a partition begin at least `paceMs` apart, unless one is full. */
  #giveSoon(topic: string, partition: number, ends: ReadonlyMap<string, number>): void {
    const key = partitionKey(topic, partition);
    const reading = this.#readings.get(key);
    if (reading === undefined || reading.busy || reading.declined || this.#paused.has(partition)) return;
    if (reading.position >= (ends.get(key) ?? 0)) return;
    reading.busy = true;
    const wait = reading.due - performance.now();
    const give = (): void => void this.#give(topic, partition, reading).catch((error) => this.#member.onLost(error));
    if (wait > 0) setTimeout(give, wait);
    else setImmediate(give);
  }

  /** A declined batch waits for a seek, which starts a new reading. */
  async #give(topic: string, partition: number, reading: Reading): Promise<void> {
    const key = partitionKey(topic, partition);
    const isCurrent = (): boolean => this.#readings.get(key) === reading;
    if (!isCurrent()) return;
    if (this.#paused.has(partition)) {
      reading.busy = false;
      return;
    }
    reading.due = performance.now() + this.#member.paceMs;
    const { high: end } = this.#file.bounds(topic)[partition] ?? { high: 0 };
    const fetched = reading.position;
    const records = this.#file.read(topic, partition, { low: fetched, high: end }, MOST_RECORDS);
    const isFull = records.length === MOST_RECORDS;
    const next = isFull ? (records.at(-1)?.offset ?? fetched) + 1 : end;
    const taken = await this.#offer({ topic, partition, fetched, next, end, records });
    if (!isCurrent()) return;
    if (isFull) reading.due = 0;
    if (taken) reading.position = next;
    reading.busy = false;
    reading.declined = !taken;
    this.#changed();
  }

  async #offer(batch: Batch): Promise<boolean> {
    if (batch.records.length > 0) return this.#member.take(batch);
    const { topic, partition, fetched, next } = batch;
    this.#member.onSkipped({ topic, partition, fetched, next });
    return true;
  }
}

/** Null: none was published. */
export const groupOffset = (file: LogFile, group: string, topic: string, partition: number): number | null => {
  const sql = 'SELECT "offset" FROM offsets WHERE "group" = ? AND topic = ? AND partition = ?';
  const [row] = file.all(sql, group, topic, partition);
  return row === undefined ? null : Number(row.offset);
};
