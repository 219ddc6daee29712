/** The values of a label: all of them, or what bounds their number. */
export type LabelValues = readonly string[] | { readonly boundedBy: string };

type Described = {
  /** of the value */
  readonly unit: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** what it counts or measures, in a sentence */
  readonly help: string;
};

/** A metric as data. `buckets`: the upper bounds of a histogram, in its unit. */
export type MetricDefinition =
  | (Described & { readonly kind: 'counter' | 'gauge' })
  | (Described & { readonly kind: 'histogram'; readonly buckets: readonly number[] });

export type Definitions = Readonly<Record<string, MetricDefinition>>;

type ValueOf<Values> = Values extends readonly (infer Value)[] ? Value : string;

/** The labels of a metric, each with one of its values. */
export type LabelsOf<Definition extends MetricDefinition> = {
  readonly [Label in keyof Definition['labels']]: ValueOf<Definition['labels'][Label]>;
};

/** What can be counted: the name of a counter or histogram, the number to add or the value to record, and the labels. */
export type Recorded<Metrics extends Definitions> = {
  readonly [Name in keyof Metrics]: Metrics[Name] extends { readonly kind: 'gauge' }
    ? never
    : [name: Name, value: number, labels: LabelsOf<Metrics[Name]>];
}[keyof Metrics];

/** The label of everything that runners count. */
export const PROCESSOR = {
  processor: { boundedBy: 'each processor, reader group and server' },
} as const;

const counter = (unit: string, help: string) => ({ kind: 'counter', unit, labels: PROCESSOR, help }) as const;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];

/** Every counter and histogram of the runners. */
export const RUNNER_METRICS = {
  records_read: counter('records', 'records read from topics'),
  events_written: counter('events', 'events and commands written'),
  transactions: counter('transactions', 'transactions committed'),
  transaction_duration_seconds: {
    kind: 'histogram',
    unit: 'seconds',
    labels: PROCESSOR,
    help: 'from the begin of a transaction to its commit: outputs, states and positions',
    buckets: SECONDS,
  },
  dead_letters: counter('records', 'records that could not be read or decided'),
  dead_letters_left_out: counter(
    'records',
    'of dead_letters, those above the quota of a key or partition, which have no record of their own',
  ),
  keys_refused: counter(
    'records',
    'records refused because their key has no state, and the partition has as many keys as it takes',
  ),
  records_moved: counter('records', 'records moved to their partition because another partitioner misplaced them'),
  newer_events: counter('events', 'events of a newer version of Vigil that were skipped'),
  deadlines_fired: counter('deadlines', 'deadlines that a tick has fired'),
  deadline_lateness_seconds: {
    kind: 'histogram',
    unit: 'seconds',
    labels: PROCESSOR,
    help: 'from a deadline to the tick that fires it, by the time of its partition',
    buckets: [0.5, 1, 2, 5, 10, 30, 60, 300, 1800],
  },
  partitions_opened: counter('partitions', 'partitions opened'),
  partitions_lost: counter('partitions', 'partitions closed to be reopened'),
} as const satisfies Definitions;

export type Metric = keyof typeof RUNNER_METRICS;

/** Adds `value` to a counter, or records it in a histogram. */
export type Count = (...recorded: Recorded<typeof RUNNER_METRICS>) => void;
