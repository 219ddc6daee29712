import { type EventOf, Topic } from '@vigil/events';
import { type Announcement, evaluate, type Policies, type Recorded } from '@vigil/health';
import { Fold, type Log, type LogRecord } from '@vigil/stream';

/** One decision, recorded or refolded. */
export type Decision = {
  readonly topic: string;
  readonly type: string;
  readonly stateKey: string;
  readonly version: number;
  readonly at: number;
  readonly payload: unknown;
};

const TICK = '@tick/';
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Moves time by the runner's own fold, with a mapper that emits nothing. */
const clockOf = ({ codec }: Pick<Log, 'codec'>, partition: number, partitions: number): Fold => {
  const topology = { processor: 'refold', service: 'health-evaluator', reads: [Topic.agentObservation], writes: [] };
  const time = { topic: Topic.agentObservation, sources: 'own' as const };
  const deps = { codec, partition, partitions: () => partitions, sources: partitions, count: () => {} };
  return new Fold({ ...topology, time, ticks: [], map: () => [] }, deps);
};

/** The evaluator's inputs, moment by moment: observations and ticks. Marks of ingresses only move their clock. */
function* moments({ codec }: Pick<Log, 'codec'>, clock: Fold, records: readonly LogRecord[]): Generator<Recorded> {
  for (const record of records) {
    clock.apply(record);
    const { topic, key, value } = record;
    if (key?.startsWith(TICK)) yield { clock: clock.time, input: null };
    if (key === null || key.startsWith('@') || value === null) continue;
    const { type, payload, envelope } = codec.decode(topic as typeof Topic.agentObservation, value);
    yield { clock: clock.time, input: { ...envelope, topic, type, key, payload } as Recorded['input'] };
  }
}

/** Numbers emitted events as the runner does: a count for each key, over all topics. */
const numbered = (
  emitted: readonly Announcement[],
  at: number,
  key: (one: Announcement) => string,
  counts: Map<string, number>,
) =>
  emitted.map((one): Decision => {
    const stateKey = key(one);
    const version = (counts.get(stateKey) ?? 0) + 1;
    counts.set(stateKey, version);
    return { topic: one.topic, type: one.type, stateKey, version, at, payload: plain(one.payload) };
  });

/** An observation or a tick, and the clock of its partition there. */
export type Moment = Recorded & { readonly partition: number };

export const momentsOf = (log: Pick<Log, 'codec'>, records: readonly LogRecord[]): readonly Moment[] => {
  const partitions = Map.groupBy(records, ({ partition }) => partition);
  return [...partitions].flatMap(([partition, here]) =>
    [...moments(log, clockOf(log, partition, partitions.size), here)].map((one) => ({ ...one, partition })),
  );
};

/**
 * Folds stored observations again, partition by partition, ticks and marks of ingresses included. Returns the decisions
 * under these policies.
 */
export const refold = (
  log: Pick<Log, 'codec'>,
  policies: Policies,
  records: readonly LogRecord[],
): readonly Decision[] => {
  const partitions = Map.groupBy(records, ({ partition }) => partition);
  return [...partitions].flatMap(([partition, here]) => {
    const counts = new Map<string, number>();
    const recorded = moments(log, clockOf(log, partition, partitions.size), here);
    return [...evaluate(policies, recorded)].flatMap(({ clock, emitted }) =>
      numbered(emitted, clock.now, (one) => one.payload.agentId ?? one.key, counts),
    );
  });
};

/** The same for the recorded decisions. */
export const recordedDecisions = (
  events: readonly EventOf<typeof Topic.agentHealth | typeof Topic.taskHealth | typeof Topic.fleetPresence>[],
): readonly Decision[] =>
  events.map(({ topic, type, stateKey, version, occurredAt, payload }) => ({
    topic,
    type,
    stateKey: stateKey ?? '',
    version: version ?? 0,
    at: occurredAt,
    payload: plain(payload),
  }));

/** The decisions by key, in their order. */
export const byKey = (decisions: readonly Decision[]): ReadonlyMap<string, readonly Decision[]> => {
  const keys = Map.groupBy(decisions, ({ stateKey }) => stateKey);
  return new Map([...keys].map(([key, of]) => [key, of.toSorted((a, b) => a.version - b.version)]));
};
