import type { Step } from '@vigil/policy';
import { about, caseEvent, fill, order, orderHead, orderId } from '../drafts.ts';
import type { ActiveCase } from '../state.ts';
import { act, type StepDecision, type StepRules, unreachable } from './step.ts';

type Handoff = Extract<Step, { readonly step: 'handoff' }>;

const decideStep = (
  { deadlineMs }: Handoff,
  { caseContext, attempt, death }: ActiveCase,
  now: number,
): StepDecision => {
  if (death) return { kind: 'next' };
  const barred = unreachable(caseContext);
  if (barred) return { kind: 'skip', ...barred, leads: 'next' };
  if (attempt.sent === 0) return act;
  const until = attempt.lastAt + deadlineMs;
  return now < until ? { kind: 'wait', until } : { kind: 'next' };
};

/** The agent is asked to write a checkpoint and to stop by itself. Its end within the plan is a death that the plan continues from. */
export const handoff: StepRules<Handoff> = {
  ruling: 'soft',
  decideStep,
  act: ({ deadlineMs, message }, { caseContext }, { at, number }) => [
    order(caseContext, {
      type: 'HANDOFF_AGENT',
      payload: {
        ...orderHead(caseContext, number),
        ttlMs: deadlineMs,
        message: fill(message, caseContext),
        deadlineMs,
      },
    }),
    caseEvent(caseContext, {
      type: 'HANDOFF_REQUESTED',
      payload: { ...about(caseContext), deadlineAt: at + deadlineMs, orderId: orderId(caseContext, number) },
    }),
  ],
};
