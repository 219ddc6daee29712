import type { Logger } from './service.ts';

/** A request that was refused. `principal`: whose token it showed; null: no valid one. */
export type RefusedRequest = {
  readonly principal: string | null;
  readonly status: number;
  readonly method: string;
  readonly url: string;
};

/** Of a principal and a status, one line is logged within this time, milliseconds. */
const EVERY_MS = 60_000;
/** Principals and statuses that are remembered. */
const MOST = 1000;
/** Characters of an address in the log. */
const LONGEST_URL = 200;
const LOGGED: ReadonlySet<number> = new Set([401, 403, 429]);

/**
 * Logs refusals for a missing token, a missing right or an exceeded quota. The first of a principal and status is logged at once, then one
 * line a minute with their number. `now`: epoch milliseconds
 */
export const createRefusalLog = (logger: Pick<Logger, 'warn'>, now: () => number) => {
  const seen = new Map<string, { at: number; unlogged: number }>();

  return ({ principal, status, method, url }: RefusedRequest): void => {
    if (!LOGGED.has(status)) return;
    const key = `${principal ?? ''} ${status}`;
    const known = seen.get(key);
    if (known !== undefined && now() < known.at + EVERY_MS) {
      known.unlogged += 1;
      return;
    }
    const [oldest] = seen.keys();
    if (known === undefined && seen.size >= MOST && oldest !== undefined) seen.delete(oldest);
    seen.set(key, { at: now(), unlogged: 0 });
    logger.warn(
      { principal, status, method, url: url.slice(0, LONGEST_URL), refusedSinceLastLine: known?.unlogged ?? 0 },
      'a request was refused',
    );
  };
};
