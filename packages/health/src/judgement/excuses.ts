import { excusesUntil } from '@vigil/policy';
import { failedOf, MOST_CALLS } from '../history/calls/last-calls.ts';
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

/** Until when triage dismisses a ticket for one of them, on `now`'s axis; 0: there is none. */
export const excusedUntil = ({ progressAt, timeoutAt }: Excuses): number =>
  Math.max(...[progressAt, timeoutAt].map((at) => (at === null ? 0 : excusesUntil(at))));

const progressSinceAccept = (history: History): number | null => {
  const { progress, started, progressEvidence } = history;
  const since = progressEvidence?.acceptedAt ?? started.now;
  return hasSucceeded(history) && progress.at > since ? progress.at : null;
};

/** A first failure is new as well, and not genuine progress. An agent that reports no calls may make progress otherwise. */
const hasSucceeded = ({ outcomes }: History): boolean => {
  const { calls, failed } = failedOf(outcomes, MOST_CALLS);
  return calls === 0 || failed < calls;
};
