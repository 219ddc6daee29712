import { setTimeout as sleep } from 'node:timers/promises';
import { type Heartbeat, Topic } from '@vigil/events';
import type { Log, LogRecord } from '@vigil/stream';
import { recordOf, working } from './heartbeats.ts';
import { quantile } from './report.ts';

/** A fleet of agents at work; every fiftieth heartbeat is the first of a fresh instance, whose start is said at once. */
const AGENTS = 1_000;
const PROBE_EVERY = 50;
const PROBE_AGENTS = 50;
const STEP_MS = 5;
/** Verdicts that are later than this are counted as this late. */
const LAST_MS = 5_000;

export type Latency = { readonly p50: number; readonly p99: number };

/** The instance that a record is about, where it is one of a probe. */
export type Seen = (record: LogRecord) => string | null;

/** Where probes are awaited, and how they are known there. */
export type Target = { readonly topic: typeof Topic.heartbeat | typeof Topic.agentHealth; readonly seen: Seen };

/** The verdict: INSTANCE_STARTED. */
export const verdicts = (log: Log): Target => ({
  topic: Topic.agentHealth,
  seen: ({ key, value }) => {
    if (value === null || !key?.startsWith('probe-')) return null;
    const { type, payload } = log.codec.decode(Topic.agentHealth, value);
    return type === 'INSTANCE_STARTED' ? (payload as { instanceId: string }).instanceId : null;
  },
});

/** The heartbeat itself, read as it was written: what the log takes on its own. */
export const heartbeats = (log: Log): Target => ({
  topic: Topic.heartbeat,
  seen: ({ key, value }) => {
    if (value === null || !key?.startsWith('probe-')) return null;
    return (log.codec.decode(Topic.heartbeat, value).payload as Heartbeat).instance_id;
  },
});

let instances = 0;

/** The `n`th heartbeat of the load. */
const beatOf = (n: number): Heartbeat => {
  const at = Date.now();
  if (n % PROBE_EVERY > 0) return working(`agent-${n % AGENTS}`, Math.floor(n / AGENTS) + 1, at);
  instances += 1;
  return { ...working(`probe-${instances % PROBE_AGENTS}`, 1, at), instance_id: `probe.${process.pid}.${instances}` };
};

/**
 * An open loop: heartbeats are sent when they are due, whatever has become of those before. From the call that sends a probe until a
 * reader of committed records has it; milliseconds. What is seen within `warmMs` does not count.
 */
export const latencyAt = async (
  log: Log,
  target: Target,
  perSecond: number,
  forMs: number,
  warmMs: number,
): Promise<Latency> => {
  const partitions = await log.partitionCount(Topic.heartbeat);
  const sent = new Map<string, number>();
  const took: number[] = [];
  const reading = new AbortController();
  const hear = (record: LogRecord) => {
    const instance = target.seen(record);
    const since = instance === null ? undefined : sent.get(instance);
    if (instance === null || since === undefined) return;
    sent.delete(instance);
    if (since >= counted) took.push(performance.now() - since);
  };
  await log.follow([target.topic], 'end', hear, reading.signal);
  const begun = performance.now();
  const counted = begun + warmMs;
  for (let n = 0; performance.now() < counted + forMs; await sleep(STEP_MS)) {
    const due = Math.floor(((performance.now() - begun) * perSecond) / 1_000);
    const beats = Array.from({ length: Math.max(0, due - n) }, (_, i) => beatOf(n + i));
    n = Math.max(n, due);
    const now = performance.now();
    for (const { agent_id, instance_id } of beats) if (agent_id.startsWith('probe-')) sent.set(instance_id ?? '', now);
    if (beats.length > 0) void log.write(beats.map((beat) => recordOf(log, partitions, beat)));
  }
  for (const end = performance.now() + LAST_MS; sent.size > 0 && performance.now() < end; ) await sleep(STEP_MS);
  reading.abort();
  const missed = [...sent.values()].filter((since) => since >= counted).map(() => LAST_MS);
  return { p50: quantile([...took, ...missed], 0.5), p99: quantile([...took, ...missed], 0.99) };
};
