import { Problem } from '../http/problem.ts';

/** Polls that wait at once: each holds memory for up to a minute, and those of one runtime are all woken by each of its orders. */
export const MOST_POLLS = 10_000;
export const MOST_OF_ONE = 16;

/** Long polls by runtime. `closing` ends every wait. */
export const createLongPolls = (closing: AbortSignal) => {
  const listeners = new Map<string, Set<() => void>>();
  let waiting = 0;

  /** A poll of this runtime may have an answer. */
  const wake = (runtimeId: string): void => {
    for (const resume of [...(listeners.get(runtimeId) ?? [])]) resume();
  };
  /** Every poll may have an answer. */
  const wakeAll = (): void => [...listeners.keys()].forEach(wake);
  closing.addEventListener('abort', wakeAll, { once: true });

  const listenersOf = (runtimeId: string): Set<() => void> => {
    const own = listeners.get(runtimeId) ?? new Set();
    if (waiting >= MOST_POLLS || own.size >= MOST_OF_ONE)
      throw new Problem(503, 'too_many_polls', `too many polls wait, ${waiting} in all: ask again later`);
    listeners.set(runtimeId, own);
    return own;
  };

  return {
    wake,
    wakeAll,
    /**
     * Resolves when woken, after `ms`, or when the gateway closes: whichever comes first. Throws Problem if too many
     * polls wait.
     */
    wait: async (runtimeId: string, ms: number): Promise<void> => {
      if (closing.aborted) return;
      const own = listenersOf(runtimeId);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      own.add(resolve);
      waiting += 1;
      await promise;
      waiting -= 1;
      clearTimeout(timer);
      own.delete(resolve);
      if (own.size === 0) listeners.delete(runtimeId);
    },
  };
};
