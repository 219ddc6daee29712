import type { LimitReport } from '@vigil/events';
import { spell } from '@vigil/policy';
import type { MachineClock } from '../clock.ts';
import { ifKnown, measuredOf, residentBytes, type Tree } from '../process/proc.ts';

/** What an agent may use; null: as much as it likes. */
export type LimitSettings = {
  /** resident memory of its cgroup, or of its whole session where it has none, bytes */
  readonly memory: number | null;
  /** what it has printed, bytes */
  readonly output: number | null;
  /** wall time since its start, milliseconds */
  readonly time: number | null;
  /** false: an agent over a limit is ended; true: the heartbeats report it, and policies decide */
  readonly reportOnly: boolean;
};

export const noLimits: LimitSettings = { memory: null, output: null, time: null, reportOnly: false };

/** What it has used. memory null: unknown, as where there is no /proc. */
export type Used = { readonly memory: number | null; readonly output: number; readonly time: number };

const names = { memory: 'memory_bytes', output: 'output_bytes', time: 'time_ms' } as const;
const kinds = ['memory', 'output', 'time'] as const;

/** As heartbeats carry them: the limits that are set and whose use is known. */
export const limitReports = (settings: LimitSettings, used: Used): readonly LimitReport[] =>
  kinds.flatMap((kind) => {
    const [is, max] = [used[kind], settings[kind]];
    return max === null || is === null ? [] : [{ name: names[kind], used: is, max }];
  });

const sized = (bytes: number): string => `${Math.round(bytes / 104_857.6) / 10} MiB`;

/** For people: the first exceeded limit; null: none. Use of exactly the limit is allowed. */
export const overLimit = (settings: LimitSettings, used: Used): string | null => {
  const over = kinds.find((kind) => settings[kind] !== null && (used[kind] ?? 0) > settings[kind]);
  if (over === undefined) return null;
  const spelled = over === 'time' ? spell : sized;
  return `over its limit of ${over}: ${spelled(used[over] ?? 0)}, allowed are ${spelled(settings[over] ?? 0)}`;
};

/** The memory above which the agent is ended, bytes; null: it is not. */
export const memoryMax = ({ memory, reportOnly }: LimitSettings): number | null => (reportOnly ? null : memory);

/** For people: the kernel has ended an agent at this limit. */
export const endedAtLimit = (memory: number): string =>
  `over its limit of memory: the kernel ended it at ${sized(memory)}`;

/** Between two samples of memory, milliseconds: each looks through the host's processes. */
const SAMPLE_EVERY_MS = 2000;

/** What one agent has used so far. */
export class Meter {
  readonly #settings: LimitSettings;
  readonly #clock: MachineClock;
  readonly #began: number;
  #tree: Tree | null = null;
  #output = 0;
  #memory: { readonly bytes: number | null; readonly at: number } | null = null;

  /** `startedAt`: epoch milliseconds; `output`: bytes that it had printed before this */
  constructor(settings: LimitSettings, clock: MachineClock, startedAt = clock.now(), output = 0) {
    this.#settings = settings;
    this.#clock = clock;
    this.#began = clock.monotonic() - Math.max(0, clock.now() - startedAt);
    this.#output = output;
  }

  started(tree: Tree): void {
    this.#tree = tree;
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
    const tree = this.#tree;
    if (this.#settings.memory === null || tree === null) return null;
    if (this.#memory === null || now >= this.#memory.at + SAMPLE_EVERY_MS)
      this.#memory = { bytes: ifKnown(() => residentBytes(measuredOf(tree)), null), at: now };
    return this.#memory.bytes;
  }
}
