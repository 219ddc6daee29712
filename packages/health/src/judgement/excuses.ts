import type { TicketFindings } from '@vigil/events';
import { excusesUntil } from '@vigil/policy';
import type { History } from '../history/history.ts';
import { transientAt } from '../history/progress/progress-evidence.ts';
import type { Judgement } from './judge.ts';
import type { Rules } from './rules.ts';

/**
 * What speaks for an agent about which a ticket is filed. `progressAt`: its last progress since the last ACCEPT.
 * `timeoutAt`: its only failure since then, a timeout that has resolved itself. Both are null beside an unrecoverable
 * error.
 */
export type Excuses = {
  readonly unrecoverable: boolean;
  readonly progressAt: number | null;
  readonly timeoutAt: number | null;
};

const FATAL: ReadonlySet<string> = new Set(['unrecoverable_error']);

export const excusesOf = ({ rules }: Rules, history: History, { from, at }: Judgement): Excuses => {
  const unrecoverable = rules.some(({ signalName }, i) => FATAL.has(signalName) && (from[i] ?? 0) <= at.now);
  // Progress ends an unrecoverable error, so all of it came before the error.
  if (unrecoverable) return { unrecoverable, progressAt: null, timeoutAt: null };
  const { progressEvidence } = history;
  const timeoutAt = progressEvidence === null ? null : transientAt(progressEvidence);
  return { unrecoverable, progressAt: progressSinceAccept(history), timeoutAt };
};

/**
 * Until when triage dismisses a ticket for one of them, on `now`'s axis; 0: there is none. `dismissedAt`: when a ticket
 * of the same severity was dismissed before in the episode; null: it was not. Later excuses do not extend that.
 */
export const excusedUntil = ({ progressAt, timeoutAt }: Excuses, dismissedAt: number | null): number => {
  const last = Math.max(...[progressAt, timeoutAt].map((at) => (at === null ? 0 : excusesUntil(at))));
  return dismissedAt === null ? last : Math.min(last, excusesUntil(dismissedAt));
};

/** Whether triage dismisses a ticket of this time for one of them. */
export const isExcused = ({ transient, progressAt }: TicketFindings, at: number): boolean =>
  transient || (progressAt !== null && excusesUntil(progressAt) > at);

/** A successful call with a new result, a new checkpoint, or an update of the work. A failed call is none. */
const progressSinceAccept = ({ started, progressEvidence }: History): number | null => {
  const { acceptedAt = null, freshAt = 0 } = progressEvidence ?? {};
  return freshAt > (acceptedAt ?? started.now) ? freshAt : null;
};
