import type { EscalationAnswer } from '@vigil/events';
import { type ActiveCase, type Answers, deadlineOf, type Question } from '../active-case.ts';
import type { CaseContext } from '../case-context.ts';
import { caseEvent, fill } from '../drafts.ts';
import type { CaseDraft } from '../state.ts';
import { act, type RulesOf, unreachable } from './step.ts';

/** The steps of this file only notify people, or ask them: they need no ruling. */
export const alert: RulesOf<'alert'> = {
  ruling: null,
  decideStep: () => act,
  act: ({ channel, severity }, { caseContext, answers }) => {
    const { agentId, state, planName } = caseContext;
    const text = reasonWithOutput(caseContext);
    const title = state === 'UNKNOWN' ? `${agentId}: ${planName}` : `${agentId} is ${state}`;
    return [caseEvent(caseContext, 'ALERT_REQUESTED', { channel, severity, title, text, answers: given(answers) })];
  },
};

export const block: RulesOf<'block'> = {
  ruling: null,
  decideStep: () => act,
  act: ({ reason }, { caseContext }) => {
    const { attempt = null, checkpoint, ended: endedByItself } = caseContext;
    const about = { reason: fill(reason, caseContext), attempt, checkpoint, endedByItself };
    return [caseEvent(caseContext, 'TASK_BLOCKED', about)];
  },
};

/** The reason of a case; of an ended agent with the last lines that it printed. */
const reasonWithOutput = ({ reason, lastOutput = [] }: CaseContext): string =>
  lastOutput.length === 0 ? reason : `${reason}. Its last output:\n${lastOutput.join('\n')}`;

/** Orchestrators and people decide, or the deadline does. `hold`, and a question that no step follows, wait for ever. */
export const escalate: RulesOf<'escalate'> = {
  ruling: null,
  decideStep: () => act,
  act: ({ timeoutMs, onTimeout, options }, { caseContext, index, answers }, { at }) => {
    const until = timeoutMs === null ? null : at + timeoutMs;
    const isLast = index === caseContext.steps.length - 1;
    const asked =
      onTimeout === 'terminate' && !isLast ? { until, options } : { until: null, deadlineAt: until, options };
    return [question(caseContext, asked, answers)];
  },
};

/** The case goes to people: it waits for them for as long as it takes. */
export const toPeople = ({ caseContext, answers }: ActiveCase, reason: string): CaseDraft => {
  const options = ['allow_more_time', 'terminate_and_recover', 'pardon'];
  return question(caseContext, { until: null, options, reason }, answers);
};

/**
 * A question that was put before, with its own reason and deadline: for the case that continues, or with what the agent has
 * answered since.
 */
export const askedAgain = (caseContext: CaseContext, asked: Question, answers: Answers): CaseDraft =>
  question(caseContext, asked, answers);

/** The agent's own words. */
const given = ({ handoff, blockers }: Answers): readonly EscalationAnswer[] => [
  ...(handoff === null ? [] : [{ how: 'handoff', text: handoff } as const]),
  ...(blockers === null ? [] : [{ how: 'blockers', text: blockers } as const]),
];

const question = (caseContext: CaseContext, asked: Question, answers: Answers): CaseDraft =>
  caseEvent(caseContext, 'ESCALATION_TRIGGERED', {
    reason: asked.reason ?? reasonWithOutput(caseContext),
    options: offered(asked.options, caseContext),
    deadlineAt: asked.until ?? deadlineOf(asked),
    onTimeout: asked.until === null ? 'hold' : 'terminate',
    checkpoint: caseContext.checkpoint,
    answers: given(answers),
  });

/** What cannot be done for this agent is not offered. */
const offered = (options: readonly string[], caseContext: CaseContext): readonly string[] =>
  options.filter((option) => {
    if (option === 'force_handoff') return !unreachable(caseContext) && !caseContext.ended;
    return option !== 'terminate_and_recover' || !unreachable(caseContext) || caseContext.ended;
  });
