import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { type Database, tables } from '@vigil/read-model';
import { scratchReadModel } from '@vigil/read-model/testing';
import { type LogRecord, type PlacedEvent, readEvent } from '@vigil/stream';
import { MemoryLog } from '@vigil/stream/memory';
import { type ProjectedTopic, project } from '../../services/projector/src/project.ts';
import { rowsIn } from '../../services/projector/src/rows.ts';
import { openGround, RUNS } from './support/ground.ts';
import { print, report } from './support/report.ts';

/**
 * Measures events a second from records into Postgres, by the projector's own code in this process: decoding, rows and
 * transactions. The records are in memory. For comparison, in turns: COPY of the same rows, one row for
 * each change, from a file on the server into tables without keys and indexes. Heartbeats and changes of state are
 * measured apart.
 */
const EVENTS = 20_000;
const AGENTS = 1_000;

type Event = PlacedEvent<ProjectedTopic>;

const heartbeat = (n: number): Event =>
  ({
    ...example(Topic.agentObservation, 'AGENT_HEARTBEAT', {
      agent_id: `agent-${n % AGENTS}`,
      token_count: n,
      errors: [],
      output: null,
    }),
    ...{ key: `agent-${n % AGENTS}`, version: null, epoch: null, eventId: `heartbeat-${n}`, offset: n },
    occurredAt: EXAMPLE_TIME + n * 10,
  }) as Event;

const change = (n: number): Event =>
  ({
    ...example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId: `agent-${n % AGENTS}` }),
    ...{ key: `agent-${n % AGENTS}`, version: n + 1, epoch: 1, eventId: `change-${n}`, offset: n },
    occurredAt: EXAMPLE_TIME + n * 10,
  }) as Event;

const WORKLOADS = {
  heartbeats: { topic: Topic.agentObservation, of: heartbeat },
  'changes of state': { topic: Topic.agentHealth, of: change },
} as const;

/** Records of one fetch. */
const FETCH = 2_000;

/** Events a second of decoding, projecting and writing records, a transaction for each fetch. */
const projection = async (database: Database, log: MemoryLog, records: readonly LogRecord[]): Promise<number> => {
  const rows = rowsIn(database);
  const since = performance.now();
  for (let from = 0; from < records.length; from += FETCH) {
    const fetched = records.slice(from, from + FETCH);
    const events: Event[] = [];
    for (const record of fetched)
      events.push({ ...(await readEvent(log.codec, record)), offset: record.offset } as Event);
    const { topic, partition } = fetched[0] as LogRecord & { readonly topic: ProjectedTopic };
    await rows.apply({ topic, partition, from, next: from + fetched.length, time: 0, events });
  }
  return (records.length * 1000) / (performance.now() - since);
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

const figures = [];
for (const [name, { topic, of }] of Object.entries(WORKLOADS)) {
  const events = Array.from({ length: EVENTS }, (_, n) => of(n));
  const log = new MemoryLog({ partitions: 1 });
  for (let at = 0; at < EVENTS; at += CHUNK)
    await log.write(
      events.slice(at, at + CHUNK).map((event) => ({
        ...{ topic, partition: 0, key: event.key, timestamp: event.occurredAt },
        value: log.codec.encode(event),
      })),
    );
  const records = log.records(topic);
  const projected: number[] = [];
  const copied: number[] = [];
  for (let run = 0; run <= RUNS; run++) {
    await using database = await scratchReadModel();
    copied.push(await copy(database, events, folder));
    for (const file of new Set(events.flatMap(project).map(({ table }) => table)))
      rmSync(path.join(folder, file), { force: true });
    projected.push(await projection(database, log, records));
    print(
      `${name}, run ${run} of ${RUNS}: ${Math.round(projected.at(-1) ?? 0)} events/s${run === 0 ? ', to warm up' : ''}`,
    );
  }
  const reference = { name: 'COPY', runs: copied.slice(1) };
  figures.push({ name, unit: 'events/s', runs: projected.slice(1), reference });
}
report('projector', figures);
