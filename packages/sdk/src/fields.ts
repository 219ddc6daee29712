import type { Activity, CallKind, ExitReason, Verdict } from '@vigil/events';

/**
 * What an agent says, as a heartbeat may carry it: one bad field would have the whole refused, and every one after it. Lengths are ours,
 * below those that the gateway and a supervisor take; counts are whole and not below zero.
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

const ID = /^[A-Za-z0-9._:-]{1,128}$/;
export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);

const isUseful = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** Null: it is no text, or an empty one. */
export const text = (value: unknown, longest: number): string | null => {
  const found = isUseful(value) ? String(value).slice(0, longest) : '';
  return found === '' ? null : found;
};

export const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.min(Math.max(0, Math.round(value)), Number.MAX_SAFE_INTEGER)
    : null;

/** A code or a count of which the heartbeat keeps 32 bits. */
export const small = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value)
    ? Math.max(-0x7fff_ffff, Math.min(Math.round(value), 0x7fff_ffff))
    : null;

/** What people write for a moment. */
export type Time = number | Date | string;

/** Epoch milliseconds; null: it is no moment that a heartbeat can name. */
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

/** As many labels as are taken, the first given first. */
export const labelsOf = (value: unknown): Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value)
          .slice(0, MOST.labels)
          .flatMap(([name, label]) => {
            const said = text(label, LONGEST.short);
            return said === null ? [] : [[name.slice(0, LONGEST.short), said]];
          }),
      )
    : {};

const oneOf =
  <T extends string>(symbols: Record<T, true>) =>
  (value: unknown): T | null =>
    typeof value === 'string' && Object.hasOwn(symbols, value) ? (value as T) : null;

export type SaidActivity = Exclude<Activity, 'UNKNOWN'>;
export const activity = oneOf<SaidActivity>({
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

export type SaidVerdict = Exclude<Verdict, 'UNKNOWN'>;
export const verdict = oneOf<SaidVerdict>({ ACCEPT: true, RETRY: true, CONTINUE: true, ESCALATE: true });

export type SaidKind = Exclude<CallKind, 'UNKNOWN'>;
export const kind = oneOf<SaidKind>({ tool: true, model: true, external_api: true, checkpoint_write: true });

export type SaidReason = Exclude<ExitReason, 'UNKNOWN'>;
export const reason = oneOf<SaidReason>({
  finished: true,
  explicit: true,
  crashed: true,
  resource_limit: true,
  lost: true,
});
