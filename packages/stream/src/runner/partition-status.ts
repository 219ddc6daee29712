import type { Phase } from '../processor/partition-task.ts';

/** A partition of a reader: of a reactor's or a projection's group. */
export type ReaderPartition = {
  /** the processor or group */
  readonly processor: string;
  readonly partition: number;
  readonly phase: Phase;
  /** records not read yet, of all inputs */
  readonly lag: number;
};

/** A partition of a processor. */
export type ProcessorPartition = ReaderPartition & {
  /** the partition's now, epoch milliseconds; 0 if time has not begun */
  readonly time: number;
  /** watched time, milliseconds; detection slows down while it grows more slowly than `time` */
  readonly watched: number;
  /** the part of the snapshot that has been read, from 0 to 1 */
  readonly restored: number;
  /** keys with a state */
  readonly keys: number;
};

export type PartitionStatus = ReaderPartition | ProcessorPartition;
