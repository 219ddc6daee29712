import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { type Database, type Sql, tables } from '@vigil/read-model';
import { scratchReadModel } from '@vigil/read-model/testing';
import { type LogRecord, type PlacedEvent, readEvent } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { type ProjectedTopic, project } from '../../packages/projection/src/project.ts';
import { rowsIn } from '../../packages/projection/src/rows.ts';
import { spentMs } from './support/cpu.ts';
import { openGround, RUNS } from './support/ground.ts';
import { type Figure, print, report } from './support/report.ts';

/**
 * Measures events a second from records into Postgres, by the projector's own code in this process: decoding, rows and
 * transactions. The records are in memory. All partitions are projected at once, as in the product; then one alone, and
 * where its time goes. For comparison, in turns: COPY of the same rows, one row for each change, from a file on the
 * server into tables without keys and indexes. Heartbeats and changes of state are measured apart.
 */
const PARTITIONS = 4;
/** Of each partition. */
const EVENTS = 20_000;
const AGENTS = 1_000;

type Event = PlacedEvent<ProjectedTopic>;
type EventOf = (partition: number, n: number) => Event;

const heartbeat: EventOf = (partition, n) => {
  const key = `agent-${partition}-${n % AGENTS}`;
  const fields = { agent_id: key, token_count: n, errors: [], output: null };
  return {
    ...example(Topic.agentObservation, 'AGENT_HEARTBEAT', fields),
    ...{ key, version: null, epoch: null, eventId: `heartbeat-${partition}-${n}`, offset: n },
    occurredAt: EXAMPLE_TIME + n * 10,
  } as Event;
};

const change: EventOf = (partition, n) => {
  const key = `agent-${partition}-${n % AGENTS}`;
  return {
    ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId: key }),
    ...{ key, version: n + 1, epoch: 1, eventId: `change-${partition}-${n}`, offset: n },
    occurredAt: EXAMPLE_TIME + n * 10,
  } as Event;
};

const WORKLOADS = {
  heartbeats: { topic: Topic.agentObservation, of: heartbeat },
  'changes of state': { topic: Topic.agentHealth, of: change },
} as const;

/** Records of one fetch. */
const FETCH = 2_000;

type Rows = ReturnType<typeof rowsIn>;

/** Decodes, projects and writes the records of a partition, a transaction for each fetch. */
const projectOne = async (rows: Rows, log: MemoryLog, records: readonly LogRecord[]): Promise<void> => {
  for (let from = 0; from < records.length; from += FETCH) {
    const fetched = records.slice(from, from + FETCH);
    const events: Event[] = [];
    for (const record of fetched)
      events.push({ ...(await readEvent(log.codec, record)), offset: record.offset } as Event);
    const { topic, partition } = fetched[0] as LogRecord & { readonly topic: ProjectedTopic };
    await rows.apply({ topic, partition, from, next: from + fetched.length, time: 0, events });
  }
};

/** Events a second of these partitions at once. */
const projection = async (
  database: Database,
  log: MemoryLog,
  partitions: readonly (readonly LogRecord[])[],
): Promise<number> => {
  const rows = rowsIn(database);
  const since = performance.now();
  await Promise.all(partitions.map((records) => projectOne(rows, log, records)));
  return (partitions.flat().length * 1000) / (performance.now() - since);
};

/** What a statement does to which table: `INSERT INTO agents`. */
const nameOf = (text: string): string => text.match(/^\w+( INTO)? ?"?\w*/)?.[0].replaceAll('"', '') ?? text;

/** Where the time of one partition goes, milliseconds for 10,000 events: each statement of Postgres, and the rest. */
const timesOf = async (
  database: Database,
  log: MemoryLog,
  records: readonly LogRecord[],
): Promise<ReadonlyMap<string, number>> => {
  const times = new Map<string, number>();
  const share = (ms: number): number => (ms * 10_000) / records.length;
  const timed = (sql: Sql): Sql => ({
    query: async (text, values) => {
      const since = performance.now();
      const answer = await sql.query(text, values);
      times.set(nameOf(text), (times.get(nameOf(text)) ?? 0) + share(performance.now() - since));
      return answer;
    },
  });
  const measured: Database = {
    ...database,
    transaction: (work) => database.transaction((sql) => work(timed(sql))),
  };
  // One partition uses one connection of the pool, which was opened with it.
  const { rows } = await database.query('SELECT pg_backend_pid() AS pid');
  const postgres = Number(rows[0]?.pid);
  const [since, before, spent] = [performance.now(), process.cpuUsage(), spentMs(postgres)];
  await projectOne(rowsIn(measured), log, records);
  const { user, system } = process.cpuUsage(before);
  return new Map([
    ['all', share(performance.now() - since)],
    ['processor time of Node', share((user + system) / 1000)],
    ['processor time of Postgres', share(spentMs(postgres) - spent)],
    ...[...times].filter(([, ms]) => ms >= 1).toSorted(([, one], [, other]) => other - one),
  ]);
};

type Row = Readonly<Record<string, unknown>>;

/** Rows in chunks that fit one parameter. */
const CHUNK = 5_000;

/** Events a second of COPY: the rows of the same changes, table by table. */
const copy = async (database: Database, events: readonly Event[], folder: string): Promise<number> => {
  const statements = events.flatMap(project);
  const byTable = Map.groupBy(statements, ({ table }) => table);
  const files = new Map<string, string>();
  for (const [table, of] of byTable) {
    await database.query(`CREATE TABLE source_${table} (LIKE ${table})`);
    for (const column of Object.keys(tables[table].key))
      await database.query(`ALTER TABLE source_${table} ALTER COLUMN ${column} DROP NOT NULL`);
    const rows = of.map((one): Row => {
      const order = one.kind === 'register' ? { [`${one.group}_order`]: one.order } : {};
      return { ...one.key, ...order, ...one.columns };
    });
    for (let at = 0; at < rows.length; at += CHUNK)
      await database.query(
        `INSERT INTO source_${table} SELECT * FROM jsonb_populate_recordset(NULL::source_${table}, $1::jsonb)`,
        [JSON.stringify(rows.slice(at, at + CHUNK))],
      );
    const file = path.join(folder, table);
    await database.query(`COPY source_${table} TO '${file}'`);
    await database.query(`CREATE TABLE copied_${table} (LIKE source_${table})`);
    files.set(table, file);
  }
  const since = performance.now();
  await database.transaction(async (sql) => {
    for (const [table, file] of files) await sql.query(`COPY copied_${table} FROM '${file}'`);
  });
  return (EVENTS * 1000) / (performance.now() - since);
};

await using opened = new AsyncDisposableStack();
if (process.env.DATABASE_URL === undefined) {
  const ground = opened.use(await openGround('projector'));
  process.env.DATABASE_URL = ground.test.servers.env.DATABASE_URL;
}

const folder = mkdtempSync(path.join(tmpdir(), 'vigil-bench-'));
opened.defer(() => rmSync(folder, { recursive: true, force: true }));
chmodSync(folder, 0o777);

const figures: Figure[] = [];
for (const [name, { topic, of }] of Object.entries(WORKLOADS)) {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) =>
    Array.from({ length: EVENTS }, (_, n) => of(partition, n)),
  );
  const events = partitions[0] ?? [];
  const log = new MemoryLog({ partitions: PARTITIONS });
  for (const [partition, written] of partitions.entries())
    for (let at = 0; at < EVENTS; at += CHUNK)
      await log.write(
        written.slice(at, at + CHUNK).map((event) => ({
          ...{ topic, partition, key: event.key, timestamp: event.occurredAt },
          value: log.codec.encode(event),
        })),
      );
  const records = partitions.map((_, partition) => log.records(topic).filter((one) => one.partition === partition));
  const atOnce: number[] = [];
  const alone: number[] = [];
  const copied: number[] = [];
  const parts: ReadonlyMap<string, number>[] = [];
  for (let run = 0; run <= RUNS; run++) {
    await using database = await scratchReadModel();
    copied.push(await copy(database, events, folder));
    for (const file of new Set(events.flatMap(project).map(({ table }) => table)))
      rmSync(path.join(folder, file), { force: true });
    atOnce.push(await projection(database, log, records));
    await using second = await scratchReadModel();
    alone.push(await projection(second, log, records.slice(0, 1)));
    await using third = await scratchReadModel();
    parts.push(await timesOf(third, log, records[0] ?? []));
    print(
      `${name}, run ${run} of ${RUNS}: ${Math.round(atOnce.at(-1) ?? 0)} events/s${run === 0 ? ', to warm up' : ''}`,
    );
  }
  const reference = { name: 'COPY', runs: copied.slice(1) };
  figures.push({ name: `${name}, ${PARTITIONS} partitions`, unit: 'events/s', runs: atOnce.slice(1), reference });
  figures.push({ name: `${name}, one partition`, unit: 'events/s', runs: alone.slice(1), reference });
  for (const part of parts.at(-1)?.keys() ?? [])
    figures.push({
      name: `${name}, one partition: ${part}`,
      unit: 'ms for 10,000',
      runs: parts.slice(1).map((times) => times.get(part) ?? 0),
    });
}
report('projector', figures);
