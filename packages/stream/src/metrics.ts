/** Every counter of the runners, with what it counts. */
export const METRICS = {
  records_read: 'records read from topics',
  events_written: 'events and commands written',
  transactions: 'transactions committed',
  dead_letters: 'records that could not be read or decided',
  dead_letters_left_out:
    'of dead_letters, those above the quota of a key or partition, which have no record of their own',
  keys_refused: 'records refused because their key has no state, and the partition has as many keys as it takes',
  records_moved: 'records moved to their partition because another partitioner misplaced them',
  newer_events: 'events of a newer version of Vigil that were skipped',
  deadlines_fired: 'deadlines that a tick has fired',
  partitions_opened: 'partitions opened',
  partitions_lost: 'partitions closed to be reopened',
} as const;
export type Metric = keyof typeof METRICS;

/** Adds `by` to a counter; `of` is the processor, group or client that counts. */
export type Count = (metric: Metric, by: number, of: string) => void;
