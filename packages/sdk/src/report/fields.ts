import type { Activity, CallKind, ExitReason, Verdict } from '@vigil/events';

/**
 * What an agent reports, in the form that a heartbeat may carry: one bad field would have this heartbeat and every
 * later one refused.
 * Lengths are below those that the gateway and a supervisor accept. Counts are whole and not negative.
 */
export const LONGEST = {
  id: 128,
  name: 200,
  short: 100,
  text: 300,
  message: 200,
  address: 2000,
  answer: 4000,
} as const;
export const MOST = { calls: 100, errors: 100, verdicts: 100, work: 50, blockers: 10, limits: 20, labels: 50 } as const;

const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/;
export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);

/** Whether Vigil accepts it as the address of a checkpoint. */
export const isAddress = (uri: string): boolean => !/[#?\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(uri);

const isUseful = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** Null: it is not a text, or an empty one. */
export const text = (value: unknown, longest: number): string | null => {
  const found = isUseful(value) ? String(value).slice(0, longest) : '';
  return found === '' ? null : found;
};

export const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER)
    : null;

/** A code or a count that a heartbeat keeps in 32 bits. */
export const small = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.max(-0x7fff_ffff, Math.min(Math.round(value), 0x7fff_ffff))
    : null;

/** The ways to write a moment. */
export type Time = number | Date | string;

/** Epoch milliseconds; null: it is not a moment that a heartbeat can carry. */
export const time = (value: unknown): number | null => {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : value;
  return typeof ms === 'number' && ms >= 0 && ms <= 8.64e15 ? Math.round(ms) : null;
};

export const texts = (value: unknown, most: number, longest: number): readonly string[] =>
  Array.isArray(value)
    ? value
        .map((one) => text(one, longest))
        .filter((one) => one !== null)
        .slice(0, most)
    : [];

/** At most MOST.labels labels, in the given order. */
export const labelsOf = (value: unknown): Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .slice(0, MOST.labels)
          .flatMap(([name, label]) => {
            const kept = text(label, LONGEST.short);
            return kept === null ? [] : [[name.slice(0, LONGEST.short), kept]];
          }),
      )
    : {};

const oneOf =
  <T extends string>(symbols: Record<T, true>) =>
  (value: unknown): T | null =>
    typeof value === 'string' && Object.hasOwn(symbols, value) ? (value as T) : null;

export type KnownActivity = Exclude<Activity, 'UNKNOWN'>;
export const activity = oneOf<KnownActivity>({
  starting: true,
  working: true,
  idle: true,
  awaiting_input: true,
  blocked: true,
  rate_limited: true,
  paused: true,
  handing_off: true,
  stuck: true,
  exiting: true,
  finished: true,
});

export type KnownVerdict = Exclude<Verdict, 'UNKNOWN'>;
export const verdict = oneOf<KnownVerdict>({ ACCEPT: true, RETRY: true, CONTINUE: true, ESCALATE: true });

export type KnownCallKind = Exclude<CallKind, 'UNKNOWN'>;
export const kind = oneOf<KnownCallKind>({ tool: true, model: true, external_api: true, checkpoint_write: true });

export type KnownExitReason = Exclude<ExitReason, 'UNKNOWN'>;
export const reason = oneOf<KnownExitReason>({
  finished: true,
  explicit: true,
  crashed: true,
  resource_limit: true,
  lost: true,
});
