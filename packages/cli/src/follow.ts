import type { Knowledge, Outcome } from '@vigil/read-model';
import type { Client } from './client.ts';
import { CannotProceed } from './errors.ts';

/**
 * How long an outcome is waited for, milliseconds; also how long after all parts of Vigil are back, and after the command
 * has begun to wait for something else.
 */
export const PATIENCE_MS = 30_000;
/** After the deadline of what a command waits for, until its outcome can be read, milliseconds. */
export const MARGIN_MS = 15_000;
/** The same while a part is away, in all. */
export const OUTAGE_PATIENCE_MS = 300_000;
/** One question waits at the dashboard, seconds. */
const QUESTION_S = 5;
const LOOK_MS = 1000;

/** A part of Vigil that does not answer. `since`: epoch milliseconds; null: unknown, because the dashboard does not answer. */
export type PartAway = { readonly part: string; readonly since: number | null };

export type FollowDeps = {
  readonly client: Pick<Client, 'get'>;
  /** monotonic, milliseconds */
  readonly now: () => number;
  /** epoch milliseconds */
  readonly clock: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
  /** called once, when the wait continues because these parts are away */
  readonly onOutage: (away: readonly PartAway[]) => void;
};

/** `away`: of an outcome that is not known: the parts of Vigil that do not answer. */
export type Followed = { readonly became: Outcome; readonly away: readonly PartAway[] };

const read = async (eventId: string, { client, pause }: FollowDeps): Promise<Outcome> => {
  try {
    return await client.get<Outcome>(`/v1/commands/${encodeURIComponent(eventId)}`, { wait: String(QUESTION_S) });
  } catch (error) {
    if (!(error instanceof CannotProceed)) throw error;
    await pause(LOOK_MS);
    return { eventId, outcome: 'pending', reason: null, until: null, events: [] };
  }
};

const partsAway = async ({ client }: FollowDeps): Promise<readonly PartAway[]> => {
  try {
    return (await client.get<{ readonly knowledge: Knowledge }>('/v1/fleet')).knowledge.away;
  } catch (error) {
    if (error instanceof CannotProceed) return [{ part: 'dashboard', since: null }];
    throw error;
  }
};

/**
 * Follows a written command until its outcome is known, at least until the deadline of what it waits for now. Without a
 * deadline it waits for a while after it has begun to wait for something else. While a part of Vigil is away, an existing
 * outcome may not be readable. The wait then continues until the part has been back for a while, or for five minutes.
 */
export const follow = async (eventId: string, deps: FollowDeps): Promise<Followed> => {
  const { now, clock, onOutage } = deps;
  const last = now() + OUTAGE_PATIENCE_MS;
  let until = now() + PATIENCE_MS;
  let waiting: { readonly reason: string | null; readonly since: number } = { reason: null, since: now() };
  let isOutage = false;
  for (;;) {
    const became = await read(eventId, deps);
    if (became.outcome !== 'pending') return { became, away: [] };
    if (became.reason !== null && became.reason !== waiting.reason) waiting = { reason: became.reason, since: now() };
    const deadline = became.until === null ? 0 : now() + became.until - clock() + MARGIN_MS;
    const enough = Math.max(waiting.since + PATIENCE_MS, deadline);
    until = isOutage ? Math.max(until, enough) : enough;
    if (!isOutage && now() < until) continue;
    const away = await partsAway(deps);
    if (away.length > 0) until = Math.min(last, now() + PATIENCE_MS);
    if (now() >= until) return { became, away };
    if (!isOutage) onOutage(away);
    isOutage = true;
  }
};
