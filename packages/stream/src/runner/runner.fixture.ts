import { RegistryTrouble } from '@vigil/events';
import { expect, vi } from 'vitest';
import { eventOf } from '../log/inputs.ts';
import type { Log, LogRecord, OutRecord } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';
import { OWNER_KEY } from '../processor/ownership.ts';
import { type RunningProcessor, runProcessor } from '../processor/run-processor.ts';
import type { AnyProcessor } from '../processor/topology.ts';
import { quiet } from '../testing.ts';
import type { Emitted } from './processors.fixture.ts';

/**
 * Logs for the runners: each call creates a client. `topics` creates the topics of the fixture and returns the name of
 * the run.
 */
export type LogFactory = {
  readonly log: () => Promise<Log>;
  readonly topics: (partitions: number) => Promise<string>;
};

export const PARTITIONS = 4;
export const T = 1_795_305_600_000;
export const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 60_000, interval: 20 });

export const start = (log: Log, processor: AnyProcessor): Promise<RunningProcessor> =>
  runProcessor(log, processor as never, { ...quiet, partitions: PARTITIONS, paceMs: 10 });

/** Four partitions for a test: the written inputs, the outputs and the snapshot. */
export const testBed = async (log: Log, run: string) => {
  const out: LogRecord[] = [];
  const deadLetters: LogRecord[] = [];
  const stop = new AbortController();
  await log.follow([`${run}.out`], 'beginning', (record) => out.push(record), stop.signal);
  await log.follow([`onex.dlq.${run}.dead-letter.v1`], 'beginning', (record) => deadLetters.push(record), stop.signal);
  const marks = (key: (p: number) => string, at: number): OutRecord[] =>
    Array.from({ length: PARTITIONS }, (_, p) => ({
      topic: `${run}.in`,
      partition: p,
      key: key(p),
      value: null,
      timestamp: T + at,
    }));
  const heartbeat = (key: string, at: number, type = 'HEARTBEAT', topic = `${run}.in`): OutRecord => ({
    topic,
    partition: partitionOf(key, PARTITIONS),
    key,
    value: Buffer.from(type.startsWith('?') || type === 'garbage' ? type : JSON.stringify({ type, payload: {} })),
    timestamp: T + at,
  });
  return {
    run,
    out,
    deadLetters,
    heartbeat,
    stop: () => stop.abort(),
    emitted: () =>
      out.filter(({ key }) => !key?.startsWith('@')).map((record) => eventOf(record, log.codec) as unknown as Emitted),
    write: (...records: OutRecord[]) => log.write(records),
    tick: (at: number) => log.write(marks((p) => `@tick/${p}`, at)),
  };
};

/** The transactional ids that have a partition of a run: one, except while a new owner takes it. */
export const ownersOf = async (log: Log, run: string, partition: number): Promise<readonly string[]> => {
  const topic = `onex.snapshot.${run}.state.v1`;
  const owners = new Set<string>();
  const find = ({ key, value }: LogRecord) => {
    if (!key?.startsWith(OWNER_KEY)) return;
    const id = key.slice(OWNER_KEY.length);
    if (value === null) owners.delete(id);
    else owners.add(id);
  };
  const high = (await log.stableEnds(topic))[partition] ?? 0;
  await log.read(topic, partition, { low: 0, high }, find, new AbortController().signal);
  return [...owners];
};

/** Asserts that every key's versions are 1, 2, 3 …: no event is lost or repeated, and no state is wrong. */
export const expectGapless = (emitted: readonly Emitted[]): void => {
  for (const [key, events] of Map.groupBy(emitted, ({ stateKey }) => stateKey)) {
    const versions = events.map(({ version }) => version);
    expect({ key, versions }).toEqual({ key, versions: versions.map((_, i) => i + 1) });
  }
};

/** The same log, with a registry that can be made unreachable. */
export const withRegistry = (log: Log) => {
  const registry = { isAway: true, attempts: 0 };
  const learn: Log['codec']['learn'] = (unknown) => {
    registry.attempts += 1;
    return registry.isAway ? Promise.reject(new RegistryTrouble('the registry is away')) : log.codec.learn(unknown);
  };
  return { registry, log: { ...aliased(log), codec: { ...log.codec, learn } } };
};

/** The same log, so that a test can replace one of its calls. */
export const aliased = (log: Log): Log => {
  const { codec, clusterId, partitionCount, bounds, stableEnds, groupOffsets } = log;
  const { read, readRanges, fence, write, join, follow } = log;
  return {
    codec,
    clusterId,
    partitionCount,
    bounds,
    stableEnds,
    groupOffsets,
    read,
    readRanges,
    fence,
    write,
    join,
    follow,
    [Symbol.asyncDispose]: async () => {},
  };
};
