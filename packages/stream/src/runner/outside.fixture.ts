import { DeadLetter, Retry } from '../errors.ts';
import type { Log, LogRecord, OutRecord } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';
import type { Count } from '../metrics.ts';
import { type ProjectionBatch, runProjection } from '../projection/run-projection.ts';
import { type ReactorOptions, runReactor } from '../reactor/run-reactor.ts';
import { quiet } from '../testing.ts';
import type { Emitted } from './processors.fixture.ts';
import { PARTITIONS, T } from './runner.fixture.ts';

/** A value that the codec of the fixtures does not read as JSON. */
const isRaw = (type: string): boolean => type === 'garbage' || type === 'newer' || type.startsWith('?');

export const event = (run: string, key: string, n: number, type = 'HEARTBEAT'): OutRecord => ({
  topic: `${run}.in`,
  partition: partitionOf(key, PARTITIONS),
  key,
  value: Buffer.from(isRaw(type) ? type : JSON.stringify({ type, payload: { n }, eventId: `${key}-${n}` })),
  timestamp: T + n,
});
export const tick = (run: string, partition: number): OutRecord => ({
  topic: `${run}.in`,
  partition,
  key: `@tick/${partition}`,
  value: null,
});

export const follow = async (log: Log, topic: string) => {
  const received: LogRecord[] = [];
  const stop = new AbortController();
  await log.follow([topic], 'beginning', (record) => received.push(record), stop.signal);
  const events = () => received.map(({ value }) => JSON.parse(String(value)) as Emitted);
  return { received, events, stop: () => stop.abort() };
};

export const reacting = (
  log: Log,
  run: string,
  react: (event: Emitted) => Promise<readonly object[]>,
  maxInFlight = 8,
  count: Count = quiet.count,
) => {
  const reads = [`${run}.in`];
  const options = { group: `${run}-reactor`, service: run, reads, react, maxInFlight, now: Date.now, ...quiet, count };
  return runReactor(log, options as unknown as ReactorOptions<never, never>);
};

/** A store with positions beside its rows, as a projection uses it. */
export const sinkOf = (rows: Map<string, number> = new Map(), positions: Map<string, number> = new Map()) => ({
  rows,
  positions,
  applied: 0,
  open: async () => new Map(positions),
  async apply({ topic, partition, from, next, events }: ProjectionBatch<never>) {
    const key = `${topic}/${partition}`;
    if ((positions.get(key) ?? 0) !== from) throw new Retry(`${key} stands at ${positions.get(key)}, not at ${from}`);
    for (const one of events as unknown as Emitted[]) {
      if (one.type === 'BOOM') throw new DeadLetter('misfit', 'no');
    }
    for (const one of events as unknown as Emitted[]) rows.set(one.key, (rows.get(one.key) ?? 0) + 1);
    positions.set(key, next);
    this.applied += 1;
  },
});
export const projecting = (log: Log, run: string, sink: ReturnType<typeof sinkOf>, count: Count = quiet.count) =>
  runProjection(log, {
    group: `${run}-projection`,
    service: run,
    reads: [`${run}.in` as never],
    open: sink.open,
    apply: (batch) => sink.apply(batch),
    onTime: () => {},
    ...quiet,
    count,
  });
