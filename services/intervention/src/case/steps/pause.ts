import type { ActiveCase } from '../active-case.ts';
import { caseEvent, fill, order, orderId } from '../drafts.ts';
import type { CaseDraft, Instance } from '../state.ts';
import { act, type RulesOf, type StepOf, unreachable } from './step.ts';

/** Stopping and starting reach a runtime within this, or not at all. */
const PAUSE_TTL_MS = 60_000;
/** A resume must not be lost: every paused agent is set going again. */
const RESUME_TTL_MS = 3_600_000;
/** Twice as long each time, up to so many times the first. */
const MOST_BACKOFFS = 16;

/** The next of several pauses in a row: another of the same case, however late it is ruled, or one that begins within its predecessor's length of its end. */
export const pausedUntil = ({ pauses }: Instance, { attempt }: ActiveCase, backoffMs: number, at: number): Paused => {
  const inARow = pauses !== null && (attempt.sent > 0 || at <= pauses.until + lengthOf(backoffMs, pauses.times));
  const times = inARow ? pauses.times + 1 : 1;
  return { times, until: at + lengthOf(backoffMs, times) };
};

type Paused = { readonly times: number; readonly until: number };

const lengthOf = (backoffMs: number, times: number): number => backoffMs * Math.min(2 ** (times - 1), MOST_BACKOFFS);

/** Held between calls, and set going again after a growing back-off: neither a failure nor an attempt. */
export const pause: RulesOf<'pause'> = {
  ruling: 'soft',
  /** Paused, it waits; resumed, it has as long as a first pause to show that it continues; a last step then begins again. */
  decideStep: ({ backoffMs }, { caseContext, attempt, paused, index }, now) => {
    if (paused) return { kind: 'wait', until: paused.until };
    const barred = unreachable(caseContext);
    if (barred) return { kind: 'skip', ...barred, leads: 'next' };
    if (attempt.sent === 0) return act;
    const until = attempt.lastAt + backoffMs;
    if (now < until) return { kind: 'wait', until };
    return index + 1 < caseContext.steps.length ? { kind: 'next' } : act;
  },
  act: ({ backoffMs }, activeCase, { at, number, instance }) => {
    const { caseContext } = activeCase;
    const { until } = pausedUntil(instance, activeCase, backoffMs, at);
    return [
      order(caseContext, number, 'PAUSE_AGENT', { ttlMs: PAUSE_TTL_MS, forMs: until - at }),
      caseEvent(caseContext, 'AGENT_PAUSED', { until, orderId: orderId(caseContext, number) }),
    ];
  },
};

/** Needs no ruling: it only takes back what was done. */
export const resumed = ({ caseContext }: ActiveCase, number: number): readonly CaseDraft[] => {
  const paused = caseContext.steps.find((step): step is StepOf<'pause'> => step.step === 'pause');
  const message = paused ? fill(paused.message, caseContext) : null;
  return [
    order(caseContext, number, 'RESUME_AGENT', { ttlMs: RESUME_TTL_MS, message }),
    caseEvent(caseContext, 'AGENT_RESUMED', { orderId: orderId(caseContext, number) }),
  ];
};
