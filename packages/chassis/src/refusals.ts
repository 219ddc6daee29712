import type { Logger } from './service.ts';

/** A request that was refused. `principal`: whose token it showed; null: no valid one. `address`: of the client; null: it has left. */
export type RefusedRequest = {
  readonly principal: string | null;
  readonly address: string | null;
  readonly status: number;
  readonly method: string;
  readonly url: string;
};

/** Of a principal and a status, one line is logged within this time, milliseconds. */
const EVERY_MS = 60_000;
/** Principals and statuses that are remembered. */
const MOST = 1000;
/** Characters of an address in the log. Its query is left out, because it may contain a decision link. */
const LONGEST_URL = 200;
const LOGGED: ReadonlySet<number> = new Set([401, 403, 421, 429]);

/** Refusals of one principal and status that follow each other. `unlogged`: those since the last line. */
type Burst = { last: RefusedRequest; unlogged: number; readonly timer: NodeJS.Timeout };

export type RefusalLog = Disposable & { readonly record: (refused: RefusedRequest) => void };

/**
 * Logs refusals for a missing token, a missing right, a foreign host or an exceeded quota. The first of a principal (without a token: of a client's
 * address) and status is logged at once, then one line a minute with their number. Disposal logs what is not logged yet.
 */
export const createRefusalLog = (logger: Pick<Logger, 'warn'>): RefusalLog => {
  const bursts = new Map<string, Burst>();

  const write = (refused: RefusedRequest, refusedSinceLastLine: number): void =>
    logger.warn(
      { ...refused, url: refused.url.replace(/\?.*/s, '').slice(0, LONGEST_URL), refusedSinceLastLine },
      'a request was refused',
    );

  /** Logs the burst's number. Whether there was one. */
  const flush = (burst: Burst): boolean => {
    const { unlogged } = burst;
    burst.unlogged = 0;
    if (unlogged > 0) write(burst.last, unlogged);
    return unlogged > 0;
  };

  const end = (key: string, burst: Burst): void => {
    clearInterval(burst.timer);
    bursts.delete(key);
    flush(burst);
  };

  const begin = (key: string, refused: RefusedRequest): void => {
    const [oldest] = bursts;
    if (bursts.size >= MOST && oldest !== undefined) end(...oldest);
    const timer = setInterval(() => flush(burst) || end(key, burst), EVERY_MS).unref();
    const burst: Burst = { last: refused, unlogged: 0, timer };
    bursts.set(key, burst);
    write(refused, 0);
  };

  return {
    record: (refused) => {
      if (!LOGGED.has(refused.status)) return;
      const key = JSON.stringify([refused.principal, refused.principal === null && refused.address, refused.status]);
      const burst = bursts.get(key);
      if (burst === undefined) return begin(key, refused);
      burst.unlogged += 1;
      burst.last = refused;
    },
    [Symbol.dispose]: () => {
      for (const [key, burst] of bursts) end(key, burst);
    },
  };
};
