/** Every counter of the runners. */
export const METRICS = [
  'records_read',
  'events_written',
  'transactions',
  'dead_letters',
  'records_moved',
  'newer_events',
  'deadlines_fired',
  'slots_opened',
  'slots_lost',
] as const;
export type Metric = (typeof METRICS)[number];

/** Adds `by` to a counter; `of` is the processor, group or client that counts. */
export type Count = (metric: Metric, by: number, of: string) => void;

export const countNothing: Count = () => {};
