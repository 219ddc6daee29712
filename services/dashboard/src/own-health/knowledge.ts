import type { Away, Knowledge } from '@vigil/read-model';

/** Ticks arrive each second, and the projector stores their time each second. */
export const STILL_MS = 4000;
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

/** `advancedAt`: when `upTo` last changed, or the look-out began; on the monotonic clock. */
export type LookOut = {
  readonly upTo: number | null;
  readonly advancedAt: number;
  readonly away: ReadonlyMap<string, Away>;
};

export const beginning = ({ monotonic }: Instant): LookOut => ({ upTo: null, advancedAt: monotonic, away: new Map() });

/** The read model has answered that its rows are complete up to `upTo`. */
export const projected = (before: LookOut, upTo: number | null, { monotonic }: Instant): LookOut =>
  upTo === before.upTo ? before : { ...before, upTo, advancedAt: monotonic };

/** What a part has answered; null: it is well. */
export const probed = (before: LookOut, part: string, detail: string | null, { now }: Instant): LookOut => {
  const away = new Map(before.away);
  if (detail === null) away.delete(part);
  else away.set(part, { part, since: before.away.get(part)?.since ?? now, detail });
  return { ...before, away };
};

/** Whether the answers are current, and since when they are not. */
export const knowledgeOf = ({ upTo, advancedAt, away }: LookOut, { now, monotonic }: Instant): Knowledge => {
  const stillMs = monotonic - advancedAt;
  const isOld =
    stillMs > (away.has(BROKER) ? STILL_WITHOUT_BROKER_MS : STILL_MS) || (upTo !== null && now - upTo > BEHIND_MS);
  const since = [
    ...(isOld ? [Math.min(upTo ?? now - stillMs, now - stillMs)] : []),
    ...BLINDING.flatMap((part) => away.get(part)?.since ?? []),
  ];
  return { upTo, blindSince: since.length === 0 ? null : Math.min(...since), away: [...away.values()] };
};
