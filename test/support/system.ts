import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import {
  bundleOf,
  type EmbeddedServers,
  type Fleet,
  probesOf,
  SERVICES,
  type Servers,
  type ServiceName,
  type System,
  startFleet,
  startServers,
  startSystem,
  startTestEmbedded,
} from '@vigil/dev';
import {
  catalogue,
  connectCodec,
  type EventOf,
  type HealthEvent,
  registryFrom,
  Topic,
  type TopicName,
} from '@vigil/events';
import { connectLog, kafkaFrom, type Log, type LogRecord, openFileLog, silentLogger } from '@vigil/stream';
import { connectPlacement, type Placement } from '@vigil/stream/placement';
import pg from 'pg';
import { momentsOf } from './refold.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** `npm test embedded` runs the systems on the log in a file. */
const isEmbeddedRun = process.env.VIGIL_TEST_LOG === 'embedded';

/** System tests end brokers and begin with empty topics, so they cannot use the servers of the environment. */
export const ownServers: boolean =
  process.env.VIGIL_TEST_SERVERS !== undefined || process.env.KAFKA_BROKERS === undefined;

/** The program whose log has what a service writes: its own, or that of all services. */
export const logNameOf = (service: ServiceName): string => (isEmbeddedRun ? 'vigil' : service);

/** Budgets for every step and place, for tests that do not concern the governor's limits. */
export const ROOM = {
  VIGIL_GOVERNOR_MOST_CAPACITY: '100000',
  VIGIL_GOVERNOR_BRAKE_LEAST: '1000',
  VIGIL_GOVERNOR_STEPS_PER_MINUTE: '1000',
  VIGIL_GOVERNOR_SPAWNS_PER_HOUR: '1000',
};

/** The short form, or the long one of `npm test long`. */
export const soak = <T>(usual: T, long: T): T => (process.env.VIGIL_SOAK === undefined ? usual : long);

export type TestSystem = {
  /** throws on the log in a file */
  readonly servers: Servers;
  readonly system: System;
  readonly log: Log;
  /** throws on the log in a file */
  readonly placement: Placement;
  readonly sql: pg.Pool;
  readonly dir: string;
  readonly fleet: (only?: readonly string[]) => Promise<Fleet>;
  /** Runs the command line; resolves with any exit code. */
  readonly vigil: (
    ...args: string[]
  ) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;
  /** All committed records of a topic by partition, in order, those of the runner (keys with @) included. */
  readonly records: (topic: TopicName) => Promise<readonly LogRecord[]>;
  /** All committed events of a topic, in the order of its partitions. */
  readonly events: <T extends TopicName>(topic: T) => Promise<readonly (EventOf<T> & { readonly record: LogRecord })[]>;
  readonly stop: () => Promise<void>;
};

export type Wanted = {
  readonly name: string;
  readonly policy?: string;
  readonly services?: readonly ServiceName[];
  readonly env?: Readonly<Record<string, string>>;
};

/** Repeats until the answer is neither undefined nor false. Fails with the last answer. */
export const until = async <T>(
  what: string,
  request: () => Promise<T | undefined | false>,
  limitMs = 150_000,
): Promise<T> => {
  const end = Date.now() + limitMs;
  for (;;) {
    const answer = await request();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > end) throw new Error(`not within ${limitMs / 1000} s: ${what}`);
    await sleep(200);
  }
};

/**
 * Repeats until no expectation fails, and otherwise fails with the last failure. Topics arrive independently, so an
 * effect may arrive before its cause.
 */
export const holds = async (expected: () => unknown, limitMs = 150_000): Promise<void> => {
  for (const end = Date.now() + limitMs; ; await sleep(200))
    try {
      return void (await expected());
    } catch (error) {
      if (Date.now() > end) throw error;
    }
};

/** Reads partitions beside each other: on several brokers each read first waits for the broker's rebalance delay of 3 s. */
const readAll = async (log: Log, topic: TopicName): Promise<LogRecord[]> => {
  const bounds = await log.bounds(topic);
  const signal = new AbortController().signal;
  const read = bounds.map(async (range, partition) => {
    const records: LogRecord[] = [];
    if (range.high > range.low) await log.read(topic, partition, range, (record) => records.push(record), signal);
    return records;
  });
  return (await Promise.all(read)).flat();
};

const readEvents = async (log: Log, topic: TopicName): Promise<(HealthEvent & { record: LogRecord })[]> => {
  const records = await readAll(log, topic);
  return records
    .filter(({ key, value }) => value !== null && !key?.startsWith('@'))
    .map((record) => {
      const { type, payload, envelope } = log.codec.decode(topic, record.value as Buffer);
      return { ...envelope, topic, type, key: record.key, payload, record } as never;
    });
};

/** Writes the observations of a run, with the clock at each, into the folder VIGIL_KEEP_OBSERVATIONS: test/same-decisions folds them again. */
const keepObservations = async (name: string, log: Log): Promise<void> => {
  const folder = process.env.VIGIL_KEEP_OBSERVATIONS;
  if (folder === undefined) return;
  const moments = momentsOf(log, await readAll(log, Topic.agentObservation));
  const lines = moments.map((moment) => JSON.stringify(moment)).join('\n');
  writeFileSync(path.join(folder, `${name}.jsonl.gz`), gzipSync(lines, { level: 9 }));
};

/** Of the servers that other tests of the run share. The log in a file excludes them. */
const { KAFKA_BROKERS: _brokers, SCHEMA_REGISTRY_URL: _registry, ...withoutKafka } = process.env;

const runVigil =
  (env: Readonly<Record<string, string>>) =>
  (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> =>
    new Promise((resolve) => {
      const command = [bundleOf('vigil'), ...args];
      const inherited = 'VIGIL_LOG_FILE' in env ? withoutKafka : process.env;
      execFile(process.execPath, command, { env: { ...inherited, ...env, NO_COLOR: '1' } }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
      );
    });

/** The form of `npm test cluster` and `npm test secured`; otherwise one broker. */
const form = (['cluster', 'secured'] as const).find((each) => each === process.env.VIGIL_TEST_BROKERS) ?? 'one';

export const isCluster: boolean = form === 'cluster';

/** The servers of a system, its log as tests read it, and what a test can do to the servers. */
type Ground = {
  readonly servers: Servers | EmbeddedServers;
  readonly kafka: Pick<TestSystem, 'servers' | 'placement'> | null;
  /** once the system runs, because a service may create the topics */
  readonly openLog: () => Promise<Log>;
  readonly close: () => Promise<void>;
};

const everyTopic = Object.keys(catalogue) as TopicName[];

const openKafka = async (dir: string, note: (line: string) => void): Promise<Ground> => {
  // The systems of a run share its registry: each start of one takes seconds of a core, and no test ends or changes it.
  const sharedRegistry = process.env.SCHEMA_REGISTRY_URL ?? null;
  const mode = { purpose: 'test', given: null, form, sharedRegistry } as const;
  const servers = await startServers({ ...mode, dir, env: process.env, onProgress: note });
  const kafka = kafkaFrom({ ...servers.env, KAFKA_BROKERS: servers.env.KAFKA_BROKERS.split(',') });
  const placement = await connectPlacement(kafka);
  return {
    servers,
    kafka: { servers, placement },
    openLog: async () => {
      const codec = await connectCodec(registryFrom(servers.env), everyTopic);
      return connectLog({ kafka, clientId: 'test', codec, logger: silentLogger });
    },
    close: async () => placement[Symbol.asyncDispose](),
  };
};

const openEmbedded = async (dir: string, note: (line: string) => void): Promise<Ground> => {
  const servers = await startTestEmbedded({ dir, env: {}, report: note });
  const { VIGIL_LOG_FILE: file, VIGIL_PARTITIONS: partitions } = servers.env;
  return {
    servers,
    kafka: null,
    openLog: () => openFileLog({ path: file, partitions: Number(partitions), writes: everyTopic, now: Date.now }),
    close: async () => undefined,
  };
};

const ofKafka = (ground: Ground): Pick<TestSystem, 'servers' | 'placement'> => {
  if (ground.kafka === null) throw new Error('this test needs Kafka: run it without `embedded`');
  return ground.kafka;
};

/** A whole system on separate servers, empty at the beginning. */
export const openSystem = async ({ name, policy = 'demo', services, env = {} }: Wanted): Promise<TestSystem> => {
  const dir = path.join(root, '.vigil', `system-${name}-${process.pid}`);
  mkdirSync(dir, { recursive: true });
  const lines: string[] = [];
  const note = (line: string): void => {
    lines.push(`${new Date().toISOString()} ${line}`);
    writeFileSync(path.join(dir, 'system.log'), `${lines.join('\n')}\n`);
  };
  const ground = await (isEmbeddedRun ? openEmbedded : openKafka)(dir, note);
  const { servers } = ground;
  const all = { VIGIL_REQUESTABLE_POLICIES: 'any', ...env };
  const options = { servers, dir, policy, inherited: process.env, env: all, onLine: note };
  const starting = startSystem({ ...options, ...(services && { services }) });
  const system = await starting.catch(async (error: unknown) => {
    await ground.close();
    await servers.stop();
    throw error;
  });
  const log = await ground.openLog();
  const sql = new pg.Pool({ connectionString: servers.env.DATABASE_URL, max: 2 });
  sql.on('error', () => {});
  const fleets: Fleet[] = [];
  const { VIGIL_GATEWAY_URL: gatewayUrl, VIGIL_GATEWAY_TOKEN: token } = system.env;
  const fleet = async (only?: readonly string[]): Promise<Fleet> => {
    const started = await startFleet({
      ...{ dir: path.join(dir, 'fleet'), gatewayUrl, token, policy, env: process.env },
      ...(only && { only }),
    });
    fleets.push(started);
    return started;
  };
  const stop = async (): Promise<void> => {
    await Promise.all(fleets.map((one) => one.stop()));
    await keepObservations(name, log);
    await sql.end();
    await ground.close();
    await log[Symbol.asyncDispose]();
    await system.stop();
    await servers.stop();
    if (process.env.VIGIL_KEEP === undefined) rmSync(dir, { recursive: true, force: true });
  };
  const records = (topic: TopicName) => readAll(log, topic);
  const events = (topic: TopicName) => readEvents(log, topic) as never;
  return {
    get servers() {
      return ofKafka(ground).servers;
    },
    get placement() {
      return ofKafka(ground).placement;
    },
    system,
    log,
    sql,
    dir,
    fleet,
    vigil: runVigil({ ...servers.env, ...system.env, VIGIL_PROBES: probesOf(system.ports, services ?? SERVICES) }),
    records,
    events,
    stop,
  };
};
