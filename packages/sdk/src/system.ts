import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** What the SDK needs from the system. `now`: epoch milliseconds; `monotonic`: milliseconds, never set back. */
export type SystemDeps = {
  readonly now: () => number;
  readonly monotonic: () => number;
  /** from 0 up to 1 */
  readonly random: () => number;
  readonly newId: () => string;
  readonly host: string;
  /** Waits, without keeping the process alive. Returns early, without an error, when the signal fires. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
};

export const realSystem = (): SystemDeps => ({
  now: Date.now,
  monotonic: () => performance.now(),
  random: Math.random,
  newId: randomUUID,
  host: hostname(),
  pause: (ms, signal) => setTimeout(ms, undefined, { signal, ref: false }).catch(() => {}),
});
