import { metrics as api } from '@opentelemetry/api';
import { type MetricDefinition, RUNNER_METRICS } from '@vigil/stream/metrics';
import type { Part } from '../probes.ts';
import { type Count, FLEET_GAUGES, METRICS, PARTITION_GAUGES, type ReadFleet } from './definitions.ts';

type Labels = Readonly<Record<string, string>>;
type Add = (value: number, labels: Labels) => void;

const instrumentOf = (name: string, metric: MetricDefinition): Add => {
  const meter = api.getMeter('vigil');
  const options = { description: metric.help };
  switch (metric.kind) {
    case 'counter': {
      const counter = meter.createCounter(`vigil_${name}`, options);
      return (value, labels) => counter.add(value, labels);
    }
    case 'histogram': {
      const advice = { explicitBucketBoundaries: [...metric.buckets] };
      const histogram = meter.createHistogram(`vigil_${name}`, { ...options, advice });
      return (value, labels) => histogram.record(value, labels);
    }
    case 'gauge':
      return () => {};
  }
};

const RUNNER_COUNTERS: readonly string[] = Object.entries(RUNNER_METRICS).flatMap(([name, { kind }]) =>
  kind === 'counter' ? [name] : [],
);

/**
 * Makes the instruments of every counter and histogram. Open telemetry first. With the first count of a processor all
 * its counters begin at 0: Prometheus' increase() does not see the first value of a counter that begins with it.
 */
export const createCount = (): Count => {
  const instruments = new Map<string, Add>();
  const begun = new Set<string>();
  for (const [name, metric] of Object.entries(METRICS)) instruments.set(name, instrumentOf(name, metric));
  const begin = (processor: string): void => {
    begun.add(processor);
    for (const name of RUNNER_COUNTERS) instruments.get(name)?.(0, { processor });
  };
  return (name, value, labels) => {
    if ('processor' in labels && !begun.has(labels.processor)) begin(labels.processor);
    instruments.get(name)?.(value, labels);
  };
};

/** Shows the numbers of the fleet at every scrape. While they cannot be read, they are missing. */
export const showFleet = (read: ReadFleet): void => {
  const meter = api.getMeter('vigil');
  const gauge = (name: keyof typeof FLEET_GAUGES) =>
    meter.createObservableGauge(`vigil_${name}`, { description: FLEET_GAUGES[name].help });
  const agents = gauge('agents');
  const casesOpen = gauge('cases_open');
  meter.addBatchObservableCallback(
    async (seen) => {
      const fleet = await read();
      for (const { value, labels } of fleet.agents) seen.observe(agents, value, labels);
      for (const { value, labels } of fleet.cases_open) seen.observe(casesOpen, value, labels);
    },
    [agents, casesOpen],
  );
};

/** Shows the status of the parts' partitions at every scrape. A reader has no time and no state, and shows neither. */
export const showPartitions = (parts: readonly Part[]): void => {
  const meter = api.getMeter('vigil');
  const gauge = (name: keyof typeof PARTITION_GAUGES) =>
    meter.createObservableGauge(`vigil_${name}`, { description: PARTITION_GAUGES[name].help });
  const lag = gauge('partition_lag');
  const running = gauge('partition_running');
  const time = gauge('partition_time_seconds');
  const watched = gauge('partition_watched_seconds');
  const restored = gauge('partition_restored_ratio');
  const keys = gauge('partition_keys');
  meter.addBatchObservableCallback(
    (seen) => {
      for (const part of parts)
        for (const status of part.status?.() ?? []) {
          const { processor, partition, phase } = status;
          const labels = { processor, partition };
          seen.observe(lag, status.lag, labels);
          seen.observe(running, phase === 'running' ? 1 : 0, labels);
          if (!('time' in status)) continue;
          seen.observe(time, status.time / 1000, labels);
          seen.observe(watched, status.watched / 1000, labels);
          seen.observe(restored, status.restored, labels);
          seen.observe(keys, status.keys, labels);
        }
    },
    [lag, running, time, watched, restored, keys],
  );
};
