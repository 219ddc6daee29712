import type { Activity, WaitingFor } from '@vigil/events';
import type { Heartbeat, Receipt } from '../moment.ts';

export const TEXT_CHARACTERS = 240;
/** The tolerance of the reported start of one wait, milliseconds. A screen's start is computed for each report. */
const SINCE_JITTER_MS = 1000;

/** The agent's wait for a person's input; null if it does not wait. */
export type Wait = {
  /** when this wait was first reported, on `now`'s axis, and its mark */
  readonly at: number;
  readonly mark: number;
  /** null: not reported */
  readonly kind: WaitingFor['kind'] | null;
  readonly text: string | null;
  /** its start on the reporter's clock, only to distinguish one wait from the next */
  readonly sentSince: number | null;
} | null;

/** `activity`: the activity after this heartbeat. Another question, or the same one asked again, is another wait. */
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

/** Whether a person has something to answer. An idle prompt, and a wait that is not described, are no question. */
export const isQuestion = ({ kind }: NonNullable<Wait>): boolean =>
  kind !== null && kind !== 'prompt' && kind !== 'UNKNOWN';

const isSame = (before: NonNullable<Wait>, known: Pick<NonNullable<Wait>, 'kind' | 'text' | 'sentSince'>): boolean => {
  if (before.kind !== known.kind || before.text !== known.text) return false;
  if (before.sentSince === null || known.sentSince === null) return true;
  return Math.abs(known.sentSince - before.sentSince) <= SINCE_JITTER_MS;
};
