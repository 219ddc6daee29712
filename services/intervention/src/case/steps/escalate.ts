import type { Step } from '@vigil/policy';
import { say } from '../drafts.ts';
import type { Open } from '../open.ts';
import type { CaseDraft } from '../state.ts';
import { act, handless, type StepRules } from './step.ts';

type Escalate = Extract<Step, { readonly step: 'escalate' }>;

/** What cannot be done for this agent is not offered. */
const offered = (options: readonly string[], { matter }: Open): readonly string[] =>
  options.filter((option) => {
    if (option === 'force_handoff') return !handless(matter) && !matter.ended;
    return option !== 'terminate_and_recover' || !handless(matter) || matter.ended;
  });

/** Orchestrators and people decide, or the deadline does: `hold` waits for ever. */
export const escalate: StepRules<Escalate> = {
  ruling: null,
  turn: () => act,
  act: (step, open, { at }) => [
    say(open.matter, 'ESCALATION_TRIGGERED', {
      reason: open.matter.reason,
      options: offered(step.options, open),
      deadlineAt: step.timeoutMs === null ? null : at + step.timeoutMs,
      onTimeout: step.timeoutMs === null ? 'hold' : step.onTimeout,
      checkpoint: open.matter.checkpoint,
    }),
  ],
};

/** The case goes to people: it waits for them for as long as it takes. */
export const toPeople = (open: Open, reason: string): CaseDraft =>
  say(open.matter, 'ESCALATION_TRIGGERED', {
    reason,
    options: offered(['allow_more_time', 'terminate_and_recover', 'pardon'], open),
    deadlineAt: null,
    onTimeout: 'hold',
    checkpoint: open.matter.checkpoint,
  });
