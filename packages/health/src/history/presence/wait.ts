import type { Activity, WaitingFor } from '@vigil/events';
import type { Heartbeat, Receipt } from '../moment.ts';

export const TEXT_CHARACTERS = 240;
/** The reporter's own moment of one wait may differ by this between two reports of it, milliseconds: a screen's is computed each time. */
const SINCE_JITTER_MS = 1000;

/** The agent waits for a person's input. Null: it does not. */
export type Wait = {
  /** when this wait was first reported, on `now`'s axis, and its mark */
  readonly at: number;
  readonly mark: number;
  /** null: not reported */
  readonly kind: WaitingFor['kind'] | null;
  readonly text: string | null;
  /** since when by the reporter's clock, only to distinguish one wait from the next */
  readonly sentSince: number | null;
} | null;

/** `activity`: as this heartbeat leaves it. Another question, or the same one asked again, is another wait. */
export const waitAfter = (
  before: Wait,
  activity: Activity | null,
  heartbeat: Heartbeat,
  { now, watched }: Receipt,
): Wait => {
  if (activity !== 'awaiting_input') return null;
  const { waiting_for: announced } = heartbeat;
  if (announced === null) return before ?? { at: now, mark: watched, kind: null, text: null, sentSince: null };
  const text = announced.text?.slice(0, TEXT_CHARACTERS) ?? null;
  const known = { kind: announced.kind, text, sentSince: announced.since };
  if (before === null) return { at: now, mark: watched, ...known };
  if (before.kind === null) return { ...before, ...known };
  return isSame(before, known) ? before : { at: now, mark: watched, ...known };
};

const isSame = (before: NonNullable<Wait>, known: Pick<NonNullable<Wait>, 'kind' | 'text' | 'sentSince'>): boolean => {
  if (before.kind !== known.kind || before.text !== known.text) return false;
  if (before.sentSince === null || known.sentSince === null) return true;
  return Math.abs(known.sentSince - before.sentSince) <= SINCE_JITTER_MS;
};
