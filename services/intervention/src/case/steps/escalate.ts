import type { Step } from '@vigil/policy';
import { about, say } from '../drafts.ts';
import type { Matter, Open, Question } from '../open.ts';
import type { CaseDraft } from '../state.ts';
import { act, handless, type StepRules } from './step.ts';

type Escalate = Extract<Step, { readonly step: 'escalate' }>;

/** What cannot be done for this agent is not offered. */
const offered = (options: readonly string[], matter: Matter): readonly string[] =>
  options.filter((option) => {
    if (option === 'force_handoff') return !handless(matter) && !matter.ended;
    return option !== 'terminate_and_recover' || !handless(matter) || matter.ended;
  });

/** Orchestrators and people decide, or the deadline does: `hold` waits for ever. */
export const escalate: StepRules<Escalate> = {
  ruling: null,
  turn: () => act,
  act: (step, open, { at }) => [
    say(open.matter, {
      type: 'ESCALATION_TRIGGERED',
      payload: {
        ...about(open.matter),
        reason: open.matter.reason,
        options: offered(step.options, open.matter),
        deadlineAt: step.timeoutMs === null ? null : at + step.timeoutMs,
        onTimeout: step.timeoutMs === null ? 'hold' : step.onTimeout,
        checkpoint: open.matter.checkpoint,
      },
    }),
  ],
};

/** The case goes to people: it waits for them for as long as it takes. */
export const toPeople = (open: Open, reason: string): CaseDraft =>
  say(open.matter, {
    type: 'ESCALATION_TRIGGERED',
    payload: {
      ...about(open.matter),
      reason,
      options: offered(['allow_more_time', 'terminate_and_recover', 'pardon'], open.matter),
      deadlineAt: null,
      onTimeout: 'hold',
      checkpoint: open.matter.checkpoint,
    },
  });

/** The question of a case whose place was taken, put for the case that goes on. */
export const askedAgain = (matter: Matter, { until, options }: Question): CaseDraft =>
  say(matter, {
    type: 'ESCALATION_TRIGGERED',
    payload: {
      ...about(matter),
      reason: matter.reason,
      options: offered(options, matter),
      deadlineAt: until,
      onTimeout: until === null ? 'hold' : 'terminate',
      checkpoint: matter.checkpoint,
    },
  });
