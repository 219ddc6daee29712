import type { ActiveCase, TerminateReceipt } from './active-case.ts';
import { type Death, deathByEnd, type InstanceEnd } from './case-context.ts';
import { caseEvent, closed, decisionLapsed, isOrderOf } from './drafts.ts';
import { isRecoveryDecided } from './observe/replan.ts';
import type { CaseDraft } from './state.ts';

type Terminating = Extract<ActiveCase['stepState'], { readonly kind: 'terminating' }>;

/** A terminate that is in progress, or (`late`) given up. Only a confirmed death still changes it. */
export const terminateMoves = (activeCase: ActiveCase, now: number, tooLate: boolean): readonly CaseDraft[] => {
  const { stepState } = activeCase;
  if (stepState.kind !== 'terminating') return [];
  const death = deathOf(activeCase, stepState, now, tooLate);
  if (death) return [agentTerminated(activeCase, death)];
  if (tooLate) return [];
  if (stepState.ended && (now >= stepState.until || isUnseen(stepState)))
    return [closed(activeCase.caseContext, 'superseded', byItself(stepState.ended))];
  if (awaitsReport(activeCase, stepState))
    return now < stepState.until
      ? []
      : [
          ...decisionLapsed(activeCase, UNREPORTED),
          closed(activeCase.caseContext, 'superseded', 'its end was not reported'),
        ];
  if (stepState.receipt) return withoutDeath(activeCase, stepState, stepState.receipt);
  return now < stepState.until ? [] : unconfirmed(activeCase, stepState, 'no receipt within its time');
};

/** The runtime answered that the agent has ended. Its report of the end follows, and shows whether the requested recovery is still needed. */
const awaitsReport = (activeCase: ActiveCase, { receipt, ended }: Terminating): boolean =>
  receipt?.outcome === 'superseded' && ended === null && isRecoveryDecided(activeCase);

const UNREPORTED = 'the runtime answered that the agent had ended, and did not report the end';

/**
 * The receipt has more than the end in agent-health. So while a receipt may come, the end alone does not count. A person or a configured
 * source confirms a death where the runtime cannot, so no receipt is awaited then.
 */
const deathOf = (activeCase: ActiveCase, stepState: Terminating, now: number, tooLate: boolean): Death | null => {
  const { receipt, ended, until } = stepState;
  if (receipt?.outcome === 'done' && receipt.confirmed) return receipt.death;
  if (!ended || isByItself(activeCase, ended)) return null;
  // The agent handed off before its terminate, or died although people had decided to recover it.
  const isEarlier =
    receipt !== null && (isOrderOf(activeCase.caseContext, ended.orderId) || isRecoveryDecided(activeCase));
  const isConfirmed = ended.reason === 'lost';
  return tooLate || now >= until || isUnseen(stepState) || isEarlier || isConfirmed
    ? deathByEnd(activeCase.caseContext)
    : null;
};

/** The runtime has answered, and has not seen the end. */
const isUnseen = ({ receipt }: Terminating): boolean =>
  receipt?.outcome === 'failed' || receipt?.outcome === 'uncertain';

/**
 * It has finished, or a person has stopped it: no order of the case did, so there is nothing to recover. An end that is only inferred confirms no
 * death: a replacement could work beside it.
 */
export const isByItself = ({ caseContext }: ActiveCase, { reason, orderId, isReported }: InstanceEnd): boolean => {
  if (!isReported) return true;
  return !isOrderOf(caseContext, orderId) && (reason === 'finished' || reason === 'explicit');
};

const byItself = ({ reason }: InstanceEnd): string => `the agent has ended by itself: ${reason}`;

const withoutDeath = (
  activeCase: ActiveCase,
  stepState: Terminating,
  { outcome, why }: TerminateReceipt,
): readonly CaseDraft[] => {
  const answer = why ?? `the runtime answered ${outcome}`;
  switch (outcome) {
    case 'superseded':
      return [closed(activeCase.caseContext, outcome, answer)];
    case 'expired':
      return [
        ...(stepState.ended ? [] : decisionLapsed(activeCase, answer)),
        closed(activeCase.caseContext, outcome, answer),
      ];
    case 'done':
    case 'uncertain':
    case 'failed':
      return unconfirmed(activeCase, stepState, why ?? `the runtime answered ${outcome}, and confirms no death`);
  }
};

/** No source confirms the death: nothing is spawned, and people are notified. */
const unconfirmed = ({ caseContext }: ActiveCase, { orderId }: Terminating, why: string): readonly CaseDraft[] => [
  caseEvent(caseContext, 'TERMINATION_UNCONFIRMED', { orderId, why }),
  caseEvent(caseContext, 'ALERT_REQUESTED', {
    channel: null,
    severity: 'critical',
    title: `${caseContext.agentId}: its end is not confirmed`,
    text: `${why}; nothing is spawned until its death is confirmed (vigil host gone, or a late receipt)`,
    answers: [],
  }),
  closed(caseContext, 'failed', why),
];

export const agentTerminated = ({ caseContext, index }: ActiveCase, death: Death): CaseDraft => {
  const step = caseContext.steps[index];
  return caseEvent(caseContext, 'AGENT_TERMINATED', {
    reason: caseContext.reason,
    checkpoint: death.checkpoint?.checkpointId ?? null,
    confirmed: true,
    forced: death.forced,
    claimsReleased: death.claimsReleased,
    taskLeft: step?.step === 'terminate' ? step.leave : 'UNKNOWN',
    forensics: death.forensics,
  });
};
