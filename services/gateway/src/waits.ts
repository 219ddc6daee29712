import { Problem } from './problem.ts';

/** Polls that wait at once: each holds memory for up to a minute, and those of one runtime are all woken by each of its orders. */
export const MOST_WAITS = 10_000;
export const MOST_OF_ONE = 16;

/** Long polls by runtime. */
export type Waits = {
  /** Somebody may want to look again. */
  readonly wake: (runtimeId: string) => void;
  /** Everybody may want to look again. */
  readonly wakeAll: () => void;
  /** Resolves when woken, after `ms`, or when the door closes: whichever comes first. Throws Problem where too many wait. */
  readonly wait: (runtimeId: string, ms: number) => Promise<void>;
};

/** `closing` ends every wait. */
export const createWaits = (closing: AbortSignal): Waits => {
  const bells = new Map<string, Set<() => void>>();
  let waiting = 0;

  const wake = (runtimeId: string): void => {
    for (const ring of [...(bells.get(runtimeId) ?? [])]) ring();
  };
  const wakeAll = (): void => [...bells.keys()].forEach(wake);
  closing.addEventListener('abort', wakeAll, { once: true });

  const seat = (runtimeId: string): Set<() => void> => {
    const bell = bells.get(runtimeId) ?? new Set();
    if (waiting >= MOST_WAITS || bell.size >= MOST_OF_ONE)
      throw new Problem(503, 'too_many_polls', `too many polls wait, ${waiting} in all: ask again later`);
    bells.set(runtimeId, bell);
    return bell;
  };

  return {
    wake,
    wakeAll,
    wait: async (runtimeId, ms) => {
      if (closing.aborted) return;
      const bell = seat(runtimeId);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      bell.add(resolve);
      waiting += 1;
      await promise;
      waiting -= 1;
      clearTimeout(timer);
      bell.delete(resolve);
      if (bell.size === 0) bells.delete(runtimeId);
    },
  };
};
