import type { Step } from '@vigil/policy';
import { fill, order, orderHead } from '../drafts.ts';
import type { ActiveCase } from '../state.ts';
import { act, type StepDecision, type StepRules, unreachable } from './step.ts';

type Interrupt = Extract<Step, { readonly step: 'interrupt' }>;

const decideStep = ({ waitMs }: Interrupt, { caseContext, attempt, death }: ActiveCase, now: number): StepDecision => {
  if (death || caseContext.client === null || caseContext.client === undefined) return { kind: 'next' };
  const barred = unreachable(caseContext);
  if (barred) return { kind: 'skip', ...barred, leads: 'next' };
  if (attempt.sent === 0) return act;
  const until = attempt.lastAt + waitMs;
  return attempt.order?.isUndone || now >= until ? { kind: 'next' } : { kind: 'wait', until };
};

/** Ends the turn of a coding agent that hangs, without ending the agent. Concerns only agents whose client is known. */
export const interrupt: StepRules<Interrupt> = {
  ruling: 'soft',
  decideStep,
  act: ({ waitMs, message }, { caseContext }, { number }) => [
    order(caseContext, {
      type: 'INTERRUPT_AGENT',
      payload: { ...orderHead(caseContext, number), ttlMs: waitMs, message: fill(message, caseContext) },
    }),
  ],
};
