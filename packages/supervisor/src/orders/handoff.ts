import type { MachineClock } from '../clock.ts';

export type HandoffMemory = {
  /** the last handoff order */
  readonly handedOff: string | null;
  /** its deadline, epoch milliseconds; not every note has it */
  readonly handedOffUntil?: number | undefined;
};

/** The last handoff order of an agent, and until when an end counts as carrying it out. */
export class Handoff {
  readonly #clock: MachineClock;
  #memory: HandoffMemory;
  /** on the monotonic clock */
  #until: number;

  constructor(clock: MachineClock, { handedOff, handedOffUntil }: HandoffMemory) {
    this.#clock = clock;
    this.#memory = { handedOff, handedOffUntil };
    this.#until = clock.monotonic() + (handedOffUntil ?? Number.POSITIVE_INFINITY) - clock.now();
  }

  get memory(): HandoffMemory {
    return this.#memory;
  }

  requested(orderId: string, deadlineMs: number): void {
    this.#memory = { handedOff: orderId, handedOffUntil: this.#clock.now() + deadlineMs };
    this.#until = this.#clock.monotonic() + deadlineMs;
  }

  /**
   * The handoff order that an end this many milliseconds ago has carried out; null: there was none, or its deadline
   * had passed.
   */
  orderOf(agoMs: number): string | null {
    return this.#clock.monotonic() - agoMs <= this.#until ? this.#memory.handedOff : null;
  }
}
