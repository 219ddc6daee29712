import type { MachineClock } from '../clock.ts';

export type HandoffMemory = {
  /** the handoff that it was asked for last */
  readonly handedOff: string | null;
  /** its deadline, epoch milliseconds; not every note has it */
  readonly handedOffUntil?: number | undefined;
};

/** The handoff that an agent has been asked for last, and until when its end is that order's doing. */
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

  /** The order whose doing an end so many milliseconds ago was; null: none's, or it came after that one's deadline. */
  orderOf(agoMs: number): string | null {
    return this.#clock.monotonic() - agoMs <= this.#until ? this.#memory.handedOff : null;
  }
}
