import type { LimitReport } from '@vigil/events';
import type { MachineClock } from '../clock.ts';
import { ifKnown, type Pid, residentBytes, sessionOf } from '../process/proc.ts';
import { type LimitSettings, limitReports, overLimit, type Used } from './limits.ts';

/** Between two samples of memory, milliseconds: each looks through the host's processes. */
const sampleEveryMs = 2000;

/** What one agent has used so far. */
export class Meter {
  readonly #settings: LimitSettings;
  readonly #clock: MachineClock;
  readonly #began: number;
  #pid: Pid | null = null;
  #output = 0;
  #memory: { readonly bytes: number | null; readonly at: number } | null = null;

  /** `startedAt`: epoch milliseconds; `output`: bytes that it had printed before this */
  constructor(settings: LimitSettings, clock: MachineClock, startedAt = clock.now(), output = 0) {
    this.#settings = settings;
    this.#clock = clock;
    this.#began = clock.monotonic() - Math.max(0, clock.now() - startedAt);
    this.#output = output;
  }

  started(pid: Pid): void {
    this.#pid = pid;
  }

  output(bytes: number): void {
    this.#output += bytes;
  }

  get reports(): readonly LimitReport[] {
    return limitReports(this.#settings, this.#used());
  }

  /** A sentence; null: within all limits, or they are only reported. */
  get over(): string | null {
    return this.#settings.reportOnly ? null : overLimit(this.#settings, this.#used());
  }

  #used(): Used {
    const now = this.#clock.monotonic();
    return { memory: this.#sample(now), output: this.#output, time: Math.round(now - this.#began) };
  }

  #sample(now: number): number | null {
    const { pid } = this.#pid ?? {};
    if (this.#settings.memory === null || pid === undefined) return null;
    if (this.#memory === null || now >= this.#memory.at + sampleEveryMs)
      this.#memory = { bytes: ifKnown(() => residentBytes(sessionOf(pid)), null), at: now };
    return this.#memory.bytes;
  }
}
