import type { Away, Knowledge } from '@vigil/read-model';
import { awaySince, isSameOutage } from '@vigil/read-model/knowledge';

/**
 * Rows that have not advanced for longer are old. A view shows it within five seconds after the log's last tick. The sum:
 * the projector stores the time of the tick within 0.25 s (STORE_MS). The dashboard reads it within 0.25 s (ROWS_EVERY_MS).
 * After 3 s (STILL_MS) it counts as still. The page or the watch asks again within 1 s (KNOWLEDGE_MS, EVERY_MS). That is
 * 4.5 s. Half a second remains for the way of the tick and of the answer.
 *
 * Ticks come each second, so the rows are seen to advance within 1.5 s. One tick may be lost, or 1.5 s late, without a
 * false alarm.
 */
export const STILL_MS = 3000;
/**
 * Rows that stand still for so long make the dashboard open a new connection to Postgres: a postmaster that is frozen
 * takes none, while open ones answer. It is longer than the rows stand still in ordinary work.
 */
export const STILL_BEFORE_CONNECTING_MS = 1500;
/** Without an answer of the broker, rows that do not change are more than late. */
export const STILL_WITHOUT_BROKER_MS = 2000;
/** A projector that reads on after a stop is behind by more; the clocks of a fleet differ by less. */
export const BEHIND_MS = 15_000;
export const POSTGRES = 'postgres';
export const BROKER = 'broker';
/** The way from a heartbeat to the rows: without one of them, states stay as they were. */
const BLINDING: readonly string[] = [POSTGRES, 'gateway', 'heartbeat-ingest', 'health-evaluator', 'projector'];

/** `now`: epoch milliseconds; `monotonic`: milliseconds. */
export type Instant = { readonly now: number; readonly monotonic: number };

/**
 * `advancedAt`: when `upTo` last changed, or the look-out began; on the monotonic clock. `wellAt`: when each part last
 * answered well, epoch milliseconds. `outageSince`: since when the answers are not current, which stays for the whole
 * outage; null: they are current.
 */
export type LookOut = {
  readonly upTo: number | null;
  readonly advancedAt: number;
  readonly away: ReadonlyMap<string, Away>;
  readonly wellAt: ReadonlyMap<string, number>;
  readonly outageSince: number | null;
};

export const beginning = ({ monotonic }: Instant): LookOut => ({
  ...{ upTo: null, advancedAt: monotonic, away: new Map(), wellAt: new Map(), outageSince: null },
});

/** Whether Postgres has to take a new connection, too, to count as one that answers. */
export const hasToConnect = ({ advancedAt }: LookOut, { monotonic }: Instant): boolean =>
  monotonic - advancedAt > STILL_BEFORE_CONNECTING_MS;

/** When the present blindness began, as far as this moment shows; null: the answers are current. */
const blindFrom = ({ upTo, advancedAt, away }: LookOut, { now, monotonic }: Instant): number | null => {
  const stillMs = monotonic - advancedAt;
  const isOld =
    stillMs > (away.has(BROKER) ? STILL_WITHOUT_BROKER_MS : STILL_MS) || (upTo !== null && now - upTo > BEHIND_MS);
  const from = [
    ...(isOld ? [Math.min(upTo ?? now - stillMs, now - stillMs)] : []),
    ...BLINDING.flatMap((part) => away.get(part)?.since ?? []),
  ];
  if (from.length === 0) return null;
  const first = Math.min(...from);
  return Math.min(first, ...[...away.values()].map(({ since }) => since).filter((since) => isSameOutage(since, first)));
};

const settled = (seen: LookOut, instant: Instant): LookOut => {
  const from = blindFrom(seen, instant);
  return { ...seen, outageSince: from === null ? null : (seen.outageSince ?? from) };
};

/** The read model has answered that its rows are complete up to `upTo`. */
export const projected = (before: LookOut, upTo: number | null, instant: Instant): LookOut => {
  const seen = settled(before, instant);
  return settled(upTo === seen.upTo ? seen : { ...seen, upTo, advancedAt: instant.monotonic }, instant);
};

/** What a part has answered; null: it is well. */
export const probed = (before: LookOut, part: string, detail: string | null, instant: Instant): LookOut => {
  const seen = settled(before, instant);
  const { now } = instant;
  const away = new Map(seen.away);
  if (detail !== null) {
    away.set(part, {
      part,
      since: seen.away.get(part)?.since ?? awaySince(seen.upTo, seen.wellAt.get(part) ?? now),
      detail,
    });
    return settled({ ...seen, away }, instant);
  }
  away.delete(part);
  return settled({ ...seen, away, wellAt: new Map(seen.wellAt).set(part, now) }, instant);
};

/** Whether the answers are current, and since when they are not. All that fails in one outage has its time. */
export const knowledgeOf = (seen: LookOut, instant: Instant): Knowledge => {
  const { upTo, outageSince: blindSince, away } = settled(seen, instant);
  const ofOutage = (one: Away): Away =>
    blindSince !== null && isSameOutage(one.since, blindSince) ? { ...one, since: blindSince } : one;
  return { upTo, blindSince, away: [...away.values()].map(ofOutage) };
};
