import { metrics as api, type Counter } from '@opentelemetry/api';
import { METRICS } from '@vigil/stream/metrics';
import type { Part } from './probes.ts';

/** Every counter, with what it counts; `/metrics` shows it as `vigil_<name>_total`. */
export const COUNTERS = {
  ...METRICS,
  clock_drifts: "clocks of agents found beyond their policy's tolerance, counted once they are committed",
  heartbeats_accepted: 'heartbeats that came through the gateway',
  policies_applied: 'documents applied to what is in force, at the start and later',
  policies_refused: 'documents that were applied and have mistakes',
  requests_refused: 'HTTP requests answered with a problem',
  warrants: "warrants filed, counted once they are committed (omniclaude's metric)",
} as const;

export type CounterName = keyof typeof COUNTERS;

/** The label of a counter that does not name the processor, group, client or reason by `of`. */
const LABELS: Readonly<Partial<Record<CounterName, string>>> = { clock_drifts: 'direction', warrants: 'axis' };

/** Adds `by` to a counter. */
export type Count = (name: CounterName, by: number, of: string) => void;

/** Counters appear as `vigil_<name>_total`. Open telemetry first. */
export const createCount = (): Count => {
  const meter = api.getMeter('vigil');
  const counters = new Map<CounterName, Counter>();
  for (const [name, description] of Object.entries(COUNTERS))
    counters.set(name as CounterName, meter.createCounter(`vigil_${name}`, { description }));
  return (name, by, of) => counters.get(name)?.add(by, { [LABELS[name] ?? 'of']: of });
};

/** The status of each partition of each part, as `/metrics` names it. Labels: `of` (the part) and `partition`. */
export const GAUGES = {
  partition_lag: 'records not read yet, of all inputs',
  partition_time: "the partition's now, seconds since 1970; 0: it has not begun",
  partition_watched:
    'watched time of the partition, seconds: it grows more slowly than time while no absence can be judged',
  partition_running: '1: open and at work',
} as const;

/** Shows the status of the parts' partitions at every scrape, as `vigil_<name>`. */
export const showPartitions = (parts: Readonly<Record<string, Part>>): void => {
  const meter = api.getMeter('vigil');
  const gauge = (name: keyof typeof GAUGES) =>
    meter.createObservableGauge(`vigil_${name}`, { description: GAUGES[name] });
  const lag = gauge('partition_lag');
  const time = gauge('partition_time');
  const watched = gauge('partition_watched');
  const running = gauge('partition_running');
  meter.addBatchObservableCallback(
    (seen) => {
      for (const [of, part] of Object.entries(parts))
        for (const { partition, phase, ...figures } of part.status?.() ?? []) {
          seen.observe(lag, figures.lag, { of, partition });
          seen.observe(time, figures.time / 1000, { of, partition });
          seen.observe(watched, figures.watched / 1000, { of, partition });
          seen.observe(running, phase === 'running' ? 1 : 0, { of, partition });
        }
    },
    [lag, time, watched, running],
  );
};
