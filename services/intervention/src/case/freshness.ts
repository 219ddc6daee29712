import { about, closed, say, withdraw } from './drafts.ts';
import type { Decision, Open } from './open.ts';
import { answerTo, type Ruling } from './ruling.ts';
import type { CaseDraft } from './state.ts';

/**
 * How long what people have decided may wait for its admission, milliseconds: ADR-110's limit for an answer. They decided about the agent as it
 * was; after a halt of hours it may be well, and nobody expects its end any more.
 */
export const FRESH_MS = 15 * 60_000;

export const freshFrom = (what: Decision['what'], from: number): Decision => ({ what, until: from + FRESH_MS });

/** A step of a decision may take its own time, as may what people give it. */
export const beginsAgain = (open: Open, from: number): Open =>
  open.decision ? { ...open, decision: freshFrom(open.decision.what, from) } : open;

/** From when a decision that waits for its admission is not carried out any more; null: none waits. */
export const lapsesAt = ({ decision, work }: Open): number | null =>
  decision && work.at === 'asked' ? decision.until : null;

/** The agent has ended, or lives on as another instance, before the decision was begun: the people are told. */
export const droppedDecision = ({ matter, index, attempt, decision, ending }: Open): readonly CaseDraft[] => {
  const isBegun = index > 0 || attempt.sent > 0;
  if (!decision || isBegun || ending?.ending !== 'superseded') return [];
  const step = matter.steps[index]?.step ?? 'UNKNOWN';
  return [
    say(matter, {
      type: 'DECISION_LAPSED',
      payload: { ...about(matter), decision: decision.what, by: matter.by ?? '', step, why: ending.why },
    }),
  ];
};

/** The people are told, and the case is closed: what still holds opens the next one. */
export const lapsedDecision = (open: Open, now: number, ruling: Ruling | null): readonly CaseDraft[] => {
  const { matter, index, decision, work } = open;
  if (!decision || work.at !== 'asked') return [];
  if (Math.max(now, answerTo(work, ruling)?.since ?? 0) < decision.until) return [];
  const why = work.withheld ? `${work.withheld.why}: ${work.withheld.detail}` : 'it waited for its turn';
  const step = matter.steps[index]?.step ?? 'UNKNOWN';
  const lapsed = say(matter, {
    type: 'DECISION_LAPSED',
    payload: { ...about(matter), decision: decision.what, by: matter.by ?? '', step, why },
  });
  const over = `what ${matter.by} decided could not be begun for ${FRESH_MS / 60_000} min (${why})`;
  return [withdraw(matter, work.requestId, over), lapsed, closed(matter, 'withheld', over)];
};
