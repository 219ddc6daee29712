import { GatewayBusy } from './errors.ts';

/** The machine's clocks, in milliseconds: `now` since the epoch, `monotonic` since any moment, never set back. */
export type MachineClock = { readonly now: () => number; readonly monotonic: () => number };

export type Logger = (message: string, fields?: Readonly<Record<string, unknown>>) => void;

/** Waits; comes back early, without an error, when the signal fires. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });

/** Milliseconds to wait after this number of failures in a row: 250, doubled each time, at most 5 s. */
export const backOff = (failures: number): number => Math.min(250 * 2 ** Math.min(failures - 1, 10), 5000);

/** Milliseconds to wait after a failure: what the gateway has named, or longer after several. */
export const delayAfter = (error: unknown, failures: number): number =>
  Math.max(backOff(failures), error instanceof GatewayBusy ? error.retryAfterMs : 0);
