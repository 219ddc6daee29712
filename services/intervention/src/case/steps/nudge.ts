import type { Step } from '@vigil/policy';
import { about, caseEvent, fill, order, orderHead, orderId } from '../drafts.ts';
import type { ActiveCase } from '../state.ts';
import { act, type StepDecision, type StepRules } from './step.ts';

type Nudge = Extract<Step, { readonly step: 'nudge' }>;

/** An answer ends the nudging; what is left of the waits continues. */
const waitsUntil = (step: Nudge, { attempt, answered }: ActiveCase): number =>
  attempt.lastAt + step.intervalMs * (answered ? step.attempts - attempt.sent + 1 : 1);

const decideStep = (step: Nudge, activeCase: ActiveCase, now: number): StepDecision => {
  if (activeCase.attempt.sent === 0) return activeCase.answered ? { kind: 'next' } : act;
  const until = waitsUntil(step, activeCase);
  if (now < until) return { kind: 'wait', until };
  return activeCase.answered || activeCase.attempt.sent >= step.attempts ? { kind: 'next' } : act;
};

/** One order and one NUDGE_SENT an attempt; the waits run from it. */
export const nudge: StepRules<Nudge> = {
  ruling: 'soft',
  decideStep,
  act: (step, { caseContext, attempt }, { number }) => {
    const next = attempt.sent + 1;
    const message = fill(step.message, caseContext, next, step.attempts);
    return [
      order(caseContext, {
        type: 'NUDGE_AGENT',
        payload: { ...orderHead(caseContext, number), ttlMs: step.intervalMs, attempt: next, message },
      }),
      caseEvent(caseContext, {
        type: 'NUDGE_SENT',
        payload: {
          ...about(caseContext),
          attempt: next,
          of: step.attempts,
          message,
          orderId: orderId(caseContext, number),
        },
      }),
    ];
  },
};
