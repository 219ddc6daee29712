import { EventEmitter, once } from 'node:events';

/** Long polls by runtime. */
export type Waits = {
  /** Somebody may want to look again. */
  readonly wake: (runtimeId: string) => void;
  /** Resolves when woken, after `ms`, or when the door closes: whichever comes first. */
  readonly wait: (runtimeId: string, ms: number) => Promise<void>;
};

/** `closing` ends every wait. */
export const createWaits = (closing: AbortSignal): Waits => {
  const bell = new EventEmitter().setMaxListeners(0);
  return {
    wake: (runtimeId) => void bell.emit(`for ${runtimeId}`),
    wait: async (runtimeId, ms) => {
      const over = AbortSignal.any([closing, AbortSignal.timeout(ms)]);
      await once(bell, `for ${runtimeId}`, { signal: over }).catch((error) => {
        if (!over.aborted) throw error;
      });
    },
  };
};
