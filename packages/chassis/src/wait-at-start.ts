import type { Logger } from '@vigil/stream';

/** How long a service that starts waits for a server, milliseconds. Then it ends with code 1 and is started again. */
export const WAIT_LIMIT_MS = 60_000;
const AGAIN_MS = 1000;

/** Also an abort ends it. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });

/** A person must act first: waiting changes nothing. */
const isFinal = (error: unknown): boolean => (error as { readonly exitCode?: unknown } | null)?.exitCode === 2;

/**
 * Opens a server's client at the start of a service. A server that is away is asked again each second for a minute, with
 * one line of log before and one after. Throws what waiting cannot repair at once, else the last error.
 */
export const waitAtStart = async <T>(
  server: string,
  open: () => Promise<T>,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<T> => {
  const begun = performance.now();
  for (let attempt = 1; ; attempt += 1)
    try {
      const opened = await open();
      if (attempt > 1) logger.info({ server }, `${server} answers; the start continues`);
      return opened;
    } catch (error) {
      if (isFinal(error) || signal.aborted || performance.now() - begun >= WAIT_LIMIT_MS) throw error;
      if (attempt === 1) {
        const why = (error as Error).message;
        logger.warn({ server, why }, `${server} is away; the start waits up to ${WAIT_LIMIT_MS / 1000} s for it`);
      }
      await pause(AGAIN_MS, signal);
    }
};
