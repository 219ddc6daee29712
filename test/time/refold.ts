import { isDeepStrictEqual } from 'node:util';
import { type EventOf, Topic } from '@vigil/events';
import { type Announcement, evaluate, type Observation, type Policies, type Recorded } from '@vigil/health';
import { type Clock, Fold, type LogRecord, partitionOf } from '@vigil/stream';
import type { TestSystem } from '../support/system.ts';

/** How a control differs from Vigil in reading the clock or the heartbeats. */
export type Otherwise = {
  readonly clock?: (clock: Clock) => Clock;
  readonly input?: (input: Observation) => Observation;
};
type Output = { readonly type: string; readonly key: string };
/** `order`: within it, events have one order: source partition, topic, and partition of that topic. */
export type Decision = { readonly order: string; readonly at: number; readonly output: Output };

const DECIDED = [Topic.agentHealth, Topic.fleetPresence, Topic.taskHealth] as const;
type Decided = EventOf<(typeof DECIDED)[number]>;

/** The time of a partition, record by record; nothing is decided. */
const timekeeper = (t: TestSystem, partition: number, partitions: number): ((record: LogRecord) => Clock) => {
  const fold = new Fold(
    {
      processor: 'refold',
      service: 'refold',
      reads: [Topic.agentObservation],
      writes: [],
      time: { topic: Topic.agentObservation, sources: 'own' },
      ticks: [],
      map: () => [],
    },
    { codec: t.log.codec, partition, partitions: () => partitions, sources: partitions, count: () => undefined },
  );
  return (record) => {
    fold.apply(record);
    return fold.time;
  };
};

function* recorded(
  t: TestSystem,
  records: readonly LogRecord[],
  timeOf: (record: LogRecord) => Clock,
  { clock = (same) => same, input = (same) => same }: Otherwise,
): Generator<Recorded> {
  for (const record of records) {
    const now = clock(timeOf(record));
    if (record.key?.startsWith('@tick/')) yield { clock: now, input: null };
    if (record.key?.startsWith('@') || record.value === null) continue;
    const { type, payload, envelope } = t.log.codec.decode(Topic.agentObservation, record.value);
    const recorded = { ...envelope, topic: Topic.agentObservation, type, key: record.key, payload } as Observation;
    yield { clock: now, input: input(recorded) };
  }
}

/** The decisions on the stored observations when they are folded again, partition by partition. */
export const refold = (
  t: TestSystem,
  policies: Policies,
  records: readonly LogRecord[],
  counts: ReadonlyMap<string, number>,
  otherwise: Otherwise = {},
): Decision[] => {
  const partitions = new Set(records.map(({ partition }) => partition));
  return [...partitions].flatMap((p) => {
    const own = records.filter(({ partition }) => partition === p);
    const time = timekeeper(t, p, partitions.size);
    return [...evaluate(policies, recorded(t, own, time, otherwise))].flatMap(({ emitted, clock }) =>
      emitted.map((one) => {
        const to = partitionOf(one.key, counts.get(one.topic) ?? 1);
        return { order: `${p} → ${one.topic}/${to}`, at: clock.now, output: plain(one) };
      }),
    );
  });
};

/** The evaluator's decisions, as recorded in its topics. */
export const decisions = async (t: TestSystem): Promise<Decision[]> => {
  const sources = await t.log.partitionCount(Topic.agentObservation);
  const all = await Promise.all(DECIDED.map((topic) => t.events(topic)));
  return all.flat().map((event) => ({
    order: `${partitionOf(event.stateKey ?? '', sources)} → ${event.topic}/${event.record.partition}`,
    at: event.occurredAt,
    output: plain(event),
  }));
};

const plain = ({ topic, type, key, payload, policy, correlationId }: Announcement | Decided): Output =>
  JSON.parse(JSON.stringify({ topic, type, key, payload, policy: policy ?? null, correlationId }));

/** The differences of two lists of decisions, order by order; empty if they are the same, event for event. */
export const differences = (left: readonly Decision[], right: readonly Decision[]): readonly object[] => {
  const here = Map.groupBy(left, ({ order }) => order);
  const there = Map.groupBy(right, ({ order }) => order);
  return [...new Set([...here.keys(), ...there.keys()])].flatMap((order) => {
    const [a, b] = [here.get(order) ?? [], there.get(order) ?? []];
    const i = Array.from({ length: Math.max(a.length, b.length) }).findIndex((_, n) => !isDeepStrictEqual(a[n], b[n]));
    return i === -1 ? [] : [{ order, i, left: a[i], right: b[i] }];
  });
};
