import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

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

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    timer.unref();
    signal.addEventListener('abort', done, { once: true });
  });

export const realSystem = (): SystemDeps => ({
  now: Date.now,
  monotonic: () => performance.now(),
  random: Math.random,
  newId: randomUUID,
  host: hostname(),
  pause,
});
