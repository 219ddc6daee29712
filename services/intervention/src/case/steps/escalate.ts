import type { Step } from '@vigil/policy';
import { about, caseEvent } from '../drafts.ts';
import type { ActiveCase, CaseContext, CaseDraft, Question } from '../state.ts';
import { act, type StepRules, unreachable } from './step.ts';

type Escalate = Extract<Step, { readonly step: 'escalate' }>;

/** What cannot be done for this agent is not offered. */
const offered = (options: readonly string[], caseContext: CaseContext): readonly string[] =>
  options.filter((option) => {
    if (option === 'force_handoff') return !unreachable(caseContext) && !caseContext.ended;
    return option !== 'terminate_and_recover' || !unreachable(caseContext) || caseContext.ended;
  });

/** Orchestrators and people decide, or the deadline does: `hold` waits for ever. */
export const escalate: StepRules<Escalate> = {
  ruling: null,
  decideStep: () => act,
  act: (step, activeCase, { at }) => [
    caseEvent(activeCase.caseContext, {
      type: 'ESCALATION_TRIGGERED',
      payload: {
        ...about(activeCase.caseContext),
        reason: activeCase.caseContext.reason,
        options: offered(step.options, activeCase.caseContext),
        deadlineAt: step.timeoutMs === null ? null : at + step.timeoutMs,
        onTimeout: step.timeoutMs === null ? 'hold' : step.onTimeout,
        checkpoint: activeCase.caseContext.checkpoint,
      },
    }),
  ],
};

/** The case goes to people: it waits for them for as long as it takes. */
export const toPeople = (activeCase: ActiveCase, reason: string): CaseDraft =>
  caseEvent(activeCase.caseContext, {
    type: 'ESCALATION_TRIGGERED',
    payload: {
      ...about(activeCase.caseContext),
      reason,
      options: offered(['allow_more_time', 'terminate_and_recover', 'pardon'], activeCase.caseContext),
      deadlineAt: null,
      onTimeout: 'hold',
      checkpoint: activeCase.caseContext.checkpoint,
    },
  });

/** The question of a case whose place was taken, put for the case that continues. */
export const askedAgain = (caseContext: CaseContext, { until, options }: Question): CaseDraft =>
  caseEvent(caseContext, {
    type: 'ESCALATION_TRIGGERED',
    payload: {
      ...about(caseContext),
      reason: caseContext.reason,
      options: offered(options, caseContext),
      deadlineAt: until,
      onTimeout: until === null ? 'hold' : 'terminate',
      checkpoint: caseContext.checkpoint,
    },
  });
