import { Topic, type TopicName } from '@vigil/events';
import type { FleetRow, ReadModel } from '@vigil/read-model';
import type { Hanging, Log } from '@vigil/stream';
import { newestTicks } from './ticks.ts';

/** The health of Vigil itself. Unknown ages and lags are null, never estimated. */
export type Doctor = {
  readonly services: readonly { readonly service: string; readonly ready: boolean; readonly detail: string }[];
  readonly time: readonly ProcessorTime[];
  /** records that a group may not have read yet: ticks alone move no position for a while */
  readonly lag: readonly { readonly group: string; readonly atMost: number | null }[];
  readonly duplicates: readonly {
    readonly agentId: string;
    readonly instanceId: string | null;
    readonly otherInstanceId: string;
    readonly count: number | null;
    readonly at: number | null;
  }[];
  /** transactions that will not end by themselves: readers of committed records stand before them */
  readonly hanging: readonly Hanging[];
  /** the oldest observation that all partitions still have, epoch milliseconds */
  readonly replayFrom: number | null;
  readonly fleet: FleetRow;
};

/**
 * `ageMs`: how long ago the time of the slowest written partition last moved; null: over 15 s.
 * `aheadMs`: how far the fastest is ahead of this host's clock.
 */
export type ProcessorTime = { readonly processor: string; readonly ageMs: number | null; readonly aheadMs: number };

type ProcessorOf<T> = T extends `onex.snapshot.${infer Processor}.state.v1` ? Processor : never;
/** Each processor has its snapshot topic. */
type ProcessorName = ProcessorOf<TopicName>;

/** The topic into which a processor writes ticks: it shows the processor's time. Null: the processor writes none. */
const TICKS_OF: Readonly<Record<ProcessorName, TopicName | null>> = {
  'heartbeat-ingest': Topic.agentObservation,
  'health-evaluator': Topic.agentHealth,
  'intervention-cases': Topic.agentIntervention,
  'intervention-governor': Topic.fleetGovernance,
  'intervention-spending': Topic.spending,
  recovery: Topic.taskRecovery,
  alerting: Topic.notify,
  'alerting-agent': null,
  'alerting-task': null,
  'alerting-fleet': null,
};

const TIMED = Object.entries(TICKS_OF).flatMap(([processor, topic]) =>
  topic === null ? [] : [[processor, topic] as const],
);

const PROBE_LIMIT_MS = 2_000;
const FIRST_RECORDS = 100; // transaction markers take offsets too

export type DoctorDeps = {
  readonly log: Pick<Log, 'bounds' | 'read' | 'follow' | 'partitionCount'>;
  readonly model: ReadModel;
  readonly probes: readonly (readonly [service: string, url: string])[];
  readonly hanging: () => readonly Hanging[];
  readonly now: () => number;
};

export async function examine(deps: DoctorDeps): Promise<Doctor> {
  const { model, probes, hanging } = deps;
  const [services, time, atMost, agents, replayFrom, fleet] = await Promise.all([
    Promise.all(probes.map(([service, url]) => probe(service, url))),
    ages(deps),
    projectorLag(deps),
    model.agents({}),
    replayReach(deps.log),
    model.fleet(),
  ]);
  const duplicates = agents.flatMap(({ agentId, instanceId, duplicateOf, duplicateCount, duplicateAt }) =>
    duplicateOf === null
      ? []
      : [{ agentId, instanceId, otherInstanceId: duplicateOf, count: duplicateCount, at: duplicateAt }],
  );
  const lag = [{ group: 'projector', atMost }];
  return { services, time, lag, duplicates, hanging: hanging(), replayFrom, fleet };
}

async function ages({ log, now }: DoctorDeps): Promise<Doctor['time']> {
  const at = now();
  const topics = TIMED.map(([, topic]) => topic);
  const ticks = await newestTicks(log, topics, at);
  return TIMED.map(([processor, topic]) => {
    const { slowest = null, fastest = null } = ticks.get(topic) ?? {};
    const ageMs = slowest === null ? null : Math.max(0, at - slowest);
    return { processor, ageMs, aheadMs: fastest === null ? 0 : Math.max(0, fastest - at) };
  });
}

async function projectorLag({ log, model }: DoctorDeps): Promise<number | null> {
  const positions = await model.positions();
  if (positions.length === 0) return null;
  const topics = [...new Set(positions.map(({ topic }) => topic))];
  const bounds = new Map(await Promise.all(topics.map(async (topic) => [topic, await log.bounds(topic)] as const)));
  const lagging = positions.map((at) => Math.max(0, (bounds.get(at.topic)?.[at.partition]?.high ?? 0) - at.offset));
  return lagging.reduce((sum, records) => sum + records, 0);
}

async function replayReach(log: DoctorDeps['log']): Promise<number | null> {
  const bounds = await log.bounds(Topic.agentObservation);
  const firsts = await Promise.all(bounds.map(({ low, high }, partition) => firstIn(log, partition, low, high)));
  const known = firsts.filter((first) => first !== null);
  return known.length === 0 ? null : Math.max(...known);
}

async function firstIn(log: DoctorDeps['log'], partition: number, low: number, high: number): Promise<number | null> {
  if (low >= high) return null;
  let first: number | null = null;
  const range = { low, high: Math.min(high, low + FIRST_RECORDS) };
  const signal = AbortSignal.timeout(PROBE_LIMIT_MS);
  await log.read(Topic.agentObservation, partition, range, ({ timestamp }) => (first ??= timestamp), signal);
  return first;
}

async function probe(service: string, url: string): Promise<Doctor['services'][number]> {
  try {
    const answer = await fetch(new URL('/ready', url), { signal: AbortSignal.timeout(PROBE_LIMIT_MS) });
    return { service, ready: answer.ok, detail: await answer.text() };
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message;
    return { service, ready: false, detail: `${url} does not answer (${cause}): is it running?` };
  }
}
