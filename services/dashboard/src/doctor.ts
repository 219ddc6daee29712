import { Topic, type TopicName } from '@vigil/events';
import type { FleetRow, ReadModel } from '@vigil/read-model';
import type { Log } from '@vigil/stream';
import type { Feed } from './feed.ts';

/** How the whole of Vigil is. Ages and lags that nobody could tell are null, never guessed. */
export type Doctor = {
  readonly services: readonly { readonly service: string; readonly ready: boolean; readonly said: string }[];
  /** how long ago the time of the slowest partition of what each processor writes last moved, milliseconds */
  readonly time: readonly { readonly processor: string; readonly ageMs: number | null }[];
  /** records that a group has not read yet */
  readonly lag: readonly { readonly group: string; readonly records: number | null }[];
  readonly duplicates: readonly {
    readonly agentId: string;
    readonly instanceId: string | null;
    readonly otherInstanceId: string;
    readonly count: number | null;
    readonly at: number | null;
  }[];
  /** the oldest observation of which all partitions still have their share, epoch milliseconds */
  readonly replayFrom: number | null;
  readonly fleet: FleetRow;
};

/** Which topic shows a processor's time: one that it writes and that carries time. */
const SHOWS: Readonly<Record<string, TopicName>> = {
  'heartbeat-ingest': Topic.agentObservation,
  'health-evaluator': Topic.agentHealth,
  'intervention-cases': Topic.agentIntervention,
  'intervention-governor': Topic.fleetGovernance,
  recovery: Topic.taskRecovery,
  alerting: Topic.alert,
};

const PROBE_LIMIT_MS = 2_000;
const FIRST_RECORDS = 100; // transaction markers take offsets too

export type DoctorPorts = {
  readonly log: Pick<Log, 'bounds' | 'read'>;
  readonly model: ReadModel;
  readonly feed: Pick<Feed, 'ticks'>;
  readonly probes: readonly (readonly [service: string, url: string])[];
  readonly now: () => number;
};

export async function examine(ports: DoctorPorts): Promise<Doctor> {
  const { model, probes } = ports;
  const [services, records, agents, replayFrom, fleet] = await Promise.all([
    Promise.all(probes.map(([service, url]) => probe(service, url))),
    projectorLag(ports),
    model.agents({}),
    replayReach(ports.log),
    model.fleet(),
  ]);
  const time = Object.entries(SHOWS).map(([processor, topic]) => ({ processor, ageMs: ageOf(ports, topic) }));
  const duplicates = agents.flatMap(({ agentId, instanceId, duplicateOf, duplicateCount, duplicateAt }) =>
    duplicateOf === null
      ? []
      : [{ agentId, instanceId, otherInstanceId: duplicateOf, count: duplicateCount, at: duplicateAt }],
  );
  return { services, time, lag: [{ group: 'projector', records }], duplicates, replayFrom, fleet };
}

function ageOf({ feed, now }: DoctorPorts, topic: TopicName): number | null {
  const ticks = feed.ticks(topic);
  return ticks.length === 0 ? null : Math.max(0, now() - Math.min(...ticks));
}

async function projectorLag({ log, model }: DoctorPorts): Promise<number | null> {
  const positions = await model.positions();
  if (positions.length === 0) return null;
  const topics = [...new Set(positions.map(({ topic }) => topic))];
  const bounds = new Map(await Promise.all(topics.map(async (topic) => [topic, await log.bounds(topic)] as const)));
  const behind = positions.map((at) => Math.max(0, (bounds.get(at.topic)?.[at.partition]?.high ?? 0) - at.offset));
  return behind.reduce((sum, records) => sum + records, 0);
}

async function replayReach(log: DoctorPorts['log']): Promise<number | null> {
  const bounds = await log.bounds(Topic.agentObservation);
  const firsts = await Promise.all(bounds.map(({ low, high }, partition) => firstIn(log, partition, low, high)));
  const known = firsts.filter((first) => first !== null);
  return known.length === 0 ? null : Math.max(...known);
}

async function firstIn(log: DoctorPorts['log'], partition: number, low: number, high: number): Promise<number | null> {
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
    return { service, ready: answer.ok, said: await answer.text() };
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code ?? (error as Error).message;
    return { service, ready: false, said: `${url} does not answer (${cause}): is it running?` };
  }
}
