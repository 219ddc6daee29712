import { catalogue, type EventOf, SYMBOLS, Topic } from '@vigil/events';
import {
  type Definitions,
  type LabelsOf,
  type MetricDefinition,
  PROCESSOR,
  type Recorded,
  RUNNER_METRICS,
} from '@vigil/stream/metrics';

/** The types of the events of a topic, as values of a label. */
const typesOf = <Of extends keyof typeof catalogue>(topic: Of) =>
  catalogue[topic].events.map(({ type }) => type) as readonly EventOf<Of>['type'][];

const PARTITION = { ...PROCESSOR, partition: { boundedBy: 'the partitions of the topics' } } as const;

const gauge = (unit: string, help: string) => ({ kind: 'gauge', unit, labels: PARTITION, help }) as const;

/** The state of each partition that a process reads, at the moment of a scrape. */
export const PARTITION_GAUGES = {
  partition_lag: gauge('records', 'records not read yet, of all inputs'),
  partition_time_seconds: gauge(
    'seconds since 1970',
    'the time of the partition; 0: it has not begun. Its age is `time() - vigil_partition_time_seconds`',
  ),
  partition_watched_seconds: gauge(
    'seconds',
    'watched time of the partition: it grows more slowly than time while no absence can be judged',
  ),
  partition_running: gauge('0 or 1', '1: open and at work'),
  partition_restored_ratio: gauge('0 to 1', 'the part of its snapshot that a partition has read while it opens'),
  partition_keys: gauge('keys', 'agents, tasks or alerts with a state in the partition'),
} as const satisfies Definitions;

const WAITS_FOR = ['person', 'service'] as const;

/** The numbers of the fleet, of the projector's rows at the moment of a scrape. */
export const FLEET_GAUGES = {
  agents: {
    kind: 'gauge',
    unit: 'agents',
    labels: { state: SYMBOLS.HealthState },
    help: 'agents by their newest state. Each projector shows all of them, so take the largest',
  },
  cases_open: {
    kind: 'gauge',
    unit: 'cases',
    labels: { waits_for: WAITS_FOR },
    help: 'open cases: those that wait for the decision of a person, and the others. Each projector shows all of them',
  },
} as const satisfies Definitions;

const DIRECTIONS = ['behind', 'ahead'] as const;
const AXES = ['regex', 'progress_mismatch', ...SYMBOLS.Axis, 'none'] as const;
const DELIVERY_OUTCOMES = ['delivered', 'retried', 'refused'] as const;

/** Every metric of Vigil. No other is made. */
export const METRICS = {
  ...RUNNER_METRICS,
  ...PARTITION_GAUGES,
  ...FLEET_GAUGES,
  heartbeats_accepted: {
    kind: 'counter',
    unit: 'heartbeats',
    labels: {},
    help: 'heartbeats that the gateway accepted',
  },
  requests_refused: {
    kind: 'counter',
    unit: 'requests',
    labels: { reason: { boundedBy: 'the reasons of problems that the gateway answers with' } },
    help: 'HTTP requests answered with a problem',
  },
  receipts: {
    kind: 'counter',
    unit: 'receipts',
    labels: { kind: SYMBOLS.OrderKind, outcome: SYMBOLS.OrderOutcome },
    help: 'receipts of runtimes for orders, written to the log',
  },
  spawn_receipts: {
    kind: 'counter',
    unit: 'receipts',
    labels: { outcome: SYMBOLS.SpawnOutcome },
    help: 'receipts of runtimes for orders to start an agent, written to the log',
  },
  policies_applied: {
    kind: 'counter',
    unit: 'documents',
    labels: {},
    help: 'policy documents applied to the rules in force, at the start and later',
  },
  policies_refused: {
    kind: 'counter',
    unit: 'documents',
    labels: {},
    help: 'policy documents that were applied and have mistakes',
  },
  state_transitions: {
    kind: 'counter',
    unit: 'transitions',
    labels: { from: SYMBOLS.HealthState, to: SYMBOLS.HealthState },
    help: 'changes of the health state of an agent',
  },
  warrants: {
    kind: 'counter',
    unit: 'warrants',
    labels: { axis: AXES },
    help: 'warrants filed. `regex` and `progress_mismatch` are the values of omniclaude, the others axes of signals',
  },
  clock_drifts: {
    kind: 'counter',
    unit: 'clocks',
    labels: { direction: DIRECTIONS },
    help: 'clocks of agents found beyond the tolerance of their policy',
  },
  spent_usd: {
    kind: 'counter',
    unit: 'US dollars',
    labels: { scope: SYMBOLS.SpendingScope },
    help: 'costs that agents reported, for each scope that has a limit',
  },
  spent_tokens: {
    kind: 'counter',
    unit: 'tokens',
    labels: { scope: SYMBOLS.SpendingScope },
    help: 'tokens that agents reported, for each scope that has a limit',
  },
  cases_opened: { kind: 'counter', unit: 'cases', labels: {}, help: 'cases opened' },
  cases_closed: {
    kind: 'counter',
    unit: 'cases',
    labels: { ending: SYMBOLS.CaseEnding },
    help: 'cases closed, by how they ended',
  },
  orders: {
    kind: 'counter',
    unit: 'orders',
    labels: { order: typesOf(Topic.agentOrder) },
    help: 'orders to runtimes',
  },
  steps_admitted: {
    kind: 'counter',
    unit: 'steps',
    labels: { step: SYMBOLS.StepName },
    help: 'steps that the governor admitted, those of dry runs included',
  },
  steps_withheld: {
    kind: 'counter',
    unit: 'steps',
    labels: { step: SYMBOLS.StepName, reason: SYMBOLS.WithheldWhy },
    help: 'steps that the governor withheld',
  },
  recoveries: {
    kind: 'counter',
    unit: 'events',
    labels: { event: typesOf(Topic.taskRecovery) },
    help: 'events of the recovery of tasks, from the first attempt to its end',
  },
  deliveries: {
    kind: 'counter',
    unit: 'deliveries',
    labels: { channel: { boundedBy: 'the configured channels' }, outcome: DELIVERY_OUTCOMES },
    help: 'attempts to deliver an alert to a channel',
  },
} as const satisfies Definitions;

/** Adds to a counter, or records a value in a histogram. A gauge is read at each scrape instead. */
export type Count = (...recorded: Recorded<typeof METRICS>) => void;

/** The name of a metric in `/metrics`: a counter ends in `_total`. */
export const shownName = (name: string, { kind }: MetricDefinition): string =>
  `vigil_${name}${kind === 'counter' ? '_total' : ''}`;

type Seen<Name extends keyof typeof FLEET_GAUGES> = {
  readonly value: number;
  readonly labels: LabelsOf<(typeof FLEET_GAUGES)[Name]>;
};

/** The values of the fleet's gauges, asked for at each scrape. A value that is left out is not shown. */
export type ReadFleet = () => Promise<{ readonly [Name in keyof typeof FLEET_GAUGES]: readonly Seen<Name>[] }>;

/** The names of what can be counted. */
export type CounterName = Parameters<Count>[0];
