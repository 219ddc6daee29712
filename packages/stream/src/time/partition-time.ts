import { ID } from '@vigil/events';
import type { LogRecord } from '../log/log.ts';
import type { Clock } from '../processor/decider.ts';
import { INGRESS, TICK } from '../processor/fold.ts';
import {
  type ClockState,
  ingressOpen,
  ingressReleased,
  pass,
  restored,
  START,
  TICK_MS,
  tick,
  timeOf,
} from './clock.ts';

/** What a record is for time: a tick, another mark of the runner, or an input. */
export type Timekeeping = 'tick' | 'mark' | 'input';

/**
 * The time of one partition with ticks of its own, record by record, as the runner keeps it for its deciders. It reads
 * nothing but key, value and timestamp of a record, so it decodes nothing.
 */
export class PartitionTime {
  #clock: ClockState;
  #time: { readonly of: ClockState; readonly clock: Clock } | null = null;

  /** `stored`: the clock to continue, as `stored` returned it; null: none. */
  constructor(stored: Partial<ClockState> | null) {
    this.#clock = stored === null ? START : restored(stored);
  }

  /** The clock that a decider gets. */
  get time(): Clock {
    const at = this.#clock;
    if (this.#time?.of !== at) this.#time = { of: at, clock: timeOf(at, TICK_MS) };
    return this.#time.clock;
  }

  get stored(): ClockState {
    return this.#clock;
  }

  /** Moves the time to that of the record. */
  apply({ key, value, timestamp }: Pick<LogRecord, 'key' | 'value' | 'timestamp'>): Timekeeping {
    if (key === null || !key.startsWith('@')) {
      this.#clock = pass(this.#clock, timestamp);
      return 'input';
    }
    if (key.startsWith(TICK)) {
      this.#clock = tick(this.#clock, timestamp, TICK_MS);
      return 'tick';
    }
    const ingress = key.slice(INGRESS.length);
    if (key.startsWith(INGRESS) && ID.test(ingress))
      this.#clock = (value === null ? ingressOpen : ingressReleased)(this.#clock, ingress, timestamp);
    return 'mark';
  }
}
