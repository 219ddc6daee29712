import { setTimeout as sleep } from 'node:timers/promises';
import { type Heartbeat, Topic } from '@vigil/events';
import type { Log, LogRecord } from '@vigil/stream';
import { recordOf, working } from './heartbeats.ts';
import { quantile } from './report.ts';

/** Every fiftieth heartbeat is the first of a fresh instance, whose start is reported at once. */
const PROBE_EVERY = 50;
const PROBE_AGENTS = 50;
const STEP_MS = 5;
/** Decisions later than this are counted as this late. */
const LAST_MS = 5_000;
const CAUGHT_UP_MS = 120_000;

/** Milliseconds. `p99OfMinutes`: of the heartbeats sent in each minute. */
export type Latency = { readonly p50: number; readonly p99: number; readonly p99OfMinutes: readonly number[] };

/** The agents of a load, and the `n`th heartbeat of one at a time. */
export type LoadAgents = { readonly count: number; readonly heartbeat: typeof working };
export const AT_WORK: LoadAgents = { count: 1_000, heartbeat: working };

/** The instance of a record that belongs to a probe. */
export type Seen = (record: LogRecord) => string | null;

/** The topic of the awaited records, and how probes are identified there. */
export type Target = { readonly topic: typeof Topic.heartbeat | typeof Topic.agentHealth; readonly seen: Seen };

/** The decision: INSTANCE_STARTED. */
export const judgements = (log: Log): Target => ({
  topic: Topic.agentHealth,
  seen: ({ key, value }) => {
    if (value === null || !key?.startsWith('probe-')) return null;
    const { type, payload } = log.codec.decode(Topic.agentHealth, value);
    return type === 'INSTANCE_STARTED' ? (payload as { instanceId: string }).instanceId : null;
  },
});

/** The heartbeat itself, which measures the time of the log alone. */
export const heartbeats = (log: Log): Target => ({
  topic: Topic.heartbeat,
  seen: ({ key, value }) => {
    if (value === null || !key?.startsWith('probe-')) return null;
    return (log.codec.decode(Topic.heartbeat, value).payload as Heartbeat).instance_id;
  },
});

let instances = 0;

/** The `n`th heartbeat of the load. */
const heartbeatOf = (n: number, { count, heartbeat }: LoadAgents): Heartbeat => {
  const at = Date.now();
  if (n % PROBE_EVERY > 0) return heartbeat(`agent-${n % count}`, Math.floor(n / count) + 1, at);
  instances += 1;
  return { ...working(`probe-${instances % PROBE_AGENTS}`, 1, at), instance_id: `probe.${process.pid}.${instances}` };
};

/** The pending probes, from the call that sends one until a reader of committed records has it. */
class Probes {
  readonly #log: Log;
  readonly #partitions: number;
  readonly #sent = new Map<string, number>();
  readonly #reading = new AbortController();
  /** milliseconds, of the probes sent since `countFrom` */
  readonly took: { readonly since: number; readonly ms: number }[] = [];
  countFrom = 0;

  constructor(log: Log, partitions: number) {
    this.#log = log;
    this.#partitions = partitions;
  }

  async follow({ topic, seen }: Target): Promise<void> {
    const receive = (record: LogRecord) => {
      const instance = seen(record);
      const since = instance === null ? undefined : this.#sent.get(instance);
      if (instance === null || since === undefined) return;
      this.#sent.delete(instance);
      if (since >= this.countFrom) this.took.push({ since, ms: performance.now() - since });
    };
    await this.#log.follow([topic], 'end', receive, this.#reading.signal);
  }

  send(heartbeats: readonly Heartbeat[]): void {
    if (heartbeats.length === 0) return;
    const now = performance.now();
    for (const { agent_id, instance_id } of heartbeats)
      if (agent_id.startsWith('probe-')) this.#sent.set(instance_id ?? '', now);
    void this.#log.write(heartbeats.map((heartbeat) => recordOf(this.#log, this.#partitions, heartbeat)));
  }

  /** Waits for all probes. Those that do not arrive in time count with the full time. */
  async settle(limitMs: number): Promise<void> {
    for (const end = performance.now() + limitMs; this.#sent.size > 0 && performance.now() < end; )
      await sleep(STEP_MS);
    for (const since of this.#sent.values()) if (since >= this.countFrom) this.took.push({ since, ms: limitMs });
    this.#reading.abort();
  }
}

const follow = async (log: Log, target: Target): Promise<Probes> => {
  const probes = new Probes(log, await log.partitionCount(Topic.heartbeat));
  await probes.follow(target);
  return probes;
};

/** Waits until all existing records have been read, in every partition. */
export const caughtUp = async (log: Log, target: Target): Promise<void> => {
  const probes = await follow(log, target);
  probes.send(Array.from({ length: PROBE_AGENTS }, (_, n) => heartbeatOf(n * PROBE_EVERY, AT_WORK)));
  await probes.settle(CAUGHT_UP_MS);
};

/**
 * An open loop: heartbeats are sent when they are due, whether or not earlier ones have arrived. Those of the first
 * `warmMs` do not count.
 */
export const latencyAt = async (
  log: Log,
  target: Target,
  perSecond: number,
  forMs: number,
  warmMs: number,
  agents: LoadAgents,
): Promise<Latency> => {
  const probes = await follow(log, target);
  const begun = performance.now();
  probes.countFrom = begun + warmMs;
  for (let n = 0; performance.now() < begun + warmMs + forMs; await sleep(STEP_MS)) {
    const due = Math.floor(((performance.now() - begun) * perSecond) / 1_000);
    probes.send(Array.from({ length: Math.max(0, due - n) }, (_, i) => heartbeatOf(n + i, agents)));
    n = Math.max(n, due);
  }
  await probes.settle(LAST_MS);
  const all = probes.took.map(({ ms }) => ms);
  const minutes = Map.groupBy(probes.took, ({ since }) => Math.floor((since - probes.countFrom) / 60_000));
  const p99OfMinutes = [...minutes.values()].map((of) =>
    quantile(
      of.map(({ ms }) => ms),
      0.99,
    ),
  );
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99), p99OfMinutes };
};
