import type { Unwelcome } from '../errors.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import type { Store } from '../state/store.ts';
import type { Clock } from './decider.ts';
import type { AnyDecider } from './topology.ts';

/** What a processor decides, apart from time, dead letters and keys out of place. */
export type ProcessorLogic = {
  readonly store: Store<unknown>;
  /** What follows from a record. Changes nothing where it throws. `refuse` gives the dead letter of a record that is kept in part. */
  readonly on: (
    record: LogRecord,
    clock: Clock,
    refuse: (error: Unwelcome) => readonly OutRecord[],
  ) => readonly OutRecord[];
  /**
   * The deadlines due at a tick, in the order (moment, key). `refuse` gives the dead letter of a state whose deadline
   * threw.
   */
  readonly deadlines: (
    tick: LogRecord,
    clock: Clock,
    refuse: (state: LogRecord, error: unknown) => readonly OutRecord[],
  ) => readonly OutRecord[];
  /**
   * Computes the deadlines of these keys again, so that they stay lower bounds. A key that was forgotten in the
   * meantime is skipped.
   */
  readonly rearm: (keys: readonly string[], at: Clock) => void;
  /** From now on it decides so. The deadlines in the store stay as they are. */
  readonly useDecider: (decider: AnyDecider['decider']) => void;
};
