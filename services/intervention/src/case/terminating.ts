import { about, closed, isOrderOf, say } from './drafts.ts';
import { aliveNoMore, type Death, type InstanceEnd, type Open, type TerminateReceipt } from './open.ts';
import { isRecoveryDecided } from './replan.ts';
import type { CaseDraft } from './state.ts';

type Terminating = Extract<Open['work'], { readonly at: 'terminating' }>;

/** A terminate that is under way, or (`late`) was given up: only a confirmed death still changes that. */
export const terminateMoves = (open: Open, now: number, late: boolean): readonly CaseDraft[] => {
  const { work } = open;
  if (work.at !== 'terminating') return [];
  const death = deathOf(open, work, now, late);
  if (death) return [agentTerminated(open, death)];
  if (late) return [];
  if (work.ended && (now >= work.until || isUnseen(work)))
    return [closed(open.matter, 'superseded', byItself(work.ended))];
  if (awaitsReport(open, work))
    return now < work.until
      ? []
      : [...decisionLapsed(open, unreported), closed(open.matter, 'superseded', 'its end was not reported')];
  if (work.receipt) return withoutDeath(open, work, work.receipt);
  return now < work.until ? [] : unconfirmed(open, work, 'no receipt within its time');
};

/** The runtime has answered that the agent has ended, and its report of the end follows: it shows whether people's recovery is still needed. */
const awaitsReport = (open: Open, { receipt, ended }: Terminating): boolean =>
  receipt?.outcome === 'superseded' && ended === null && isRecoveryDecided(open);

const unreported = 'the runtime answered that the agent had ended, and did not report the end';

const decisionLapsed = ({ matter, index, decision }: Open, why: string): readonly CaseDraft[] => {
  if (!decision) return [];
  const step = matter.steps[index]?.step ?? 'UNKNOWN';
  return [
    say(matter, {
      type: 'DECISION_LAPSED',
      payload: { ...about(matter), decision: decision.what, by: matter.by ?? '', step, why },
    }),
  ];
};

/**
 * The receipt knows more than the end as agent-health reports it, so while a receipt may come the end alone does not count. A person or a
 * configured source confirms a death where the runtime cannot, so no receipt is awaited then.
 */
const deathOf = (open: Open, work: Terminating, now: number, late: boolean): Death | null => {
  const { receipt, ended, until } = work;
  if (receipt?.outcome === 'done' && receipt.confirmed) return receipt.death;
  if (!ended || isByItself(open, ended)) return null;
  // Before its terminate was carried out the agent has handed off, or died although people had decided on its recovery.
  const isEarlier = receipt !== null && (isOrderOf(open.matter, ended.orderId) || isRecoveryDecided(open));
  const isConfirmed = ended.reason === 'lost';
  return late || now >= until || isUnseen(work) || isEarlier || isConfirmed ? aliveNoMore(open.matter) : null;
};

/** The runtime has answered, and has not seen the end. */
const isUnseen = ({ receipt }: Terminating): boolean =>
  receipt?.outcome === 'failed' || receipt?.outcome === 'uncertain';

/**
 * It has finished, or a person has stopped it: no order of the case did, so there is nothing to recover. An end that is only inferred confirms no
 * death: a replacement could work beside it.
 */
export const isByItself = ({ matter }: Open, { reason, orderId, isReported }: InstanceEnd): boolean => {
  if (!isReported) return true;
  return !isOrderOf(matter, orderId) && (reason === 'finished' || reason === 'explicit');
};

const byItself = ({ reason }: InstanceEnd): string => `the agent has ended by itself: ${reason}`;

const withoutDeath = (open: Open, work: Terminating, { outcome, why }: TerminateReceipt): readonly CaseDraft[] => {
  const answer = why ?? `the runtime answered ${outcome}`;
  switch (outcome) {
    case 'superseded':
      return [closed(open.matter, outcome, answer)];
    case 'expired':
      return [...(work.ended ? [] : decisionLapsed(open, answer)), closed(open.matter, outcome, answer)];
    case 'done':
    case 'uncertain':
    case 'failed':
      return unconfirmed(open, work, why ?? `the runtime answered ${outcome}, and confirms no death`);
  }
};

/** Nobody has seen the death: nothing is spawned, and people are told. */
const unconfirmed = ({ matter }: Open, { orderId }: Terminating, why: string): readonly CaseDraft[] => [
  say(matter, { type: 'TERMINATION_UNCONFIRMED', payload: { ...about(matter), orderId, why } }),
  say(matter, {
    type: 'ALERT_REQUESTED',
    payload: {
      ...about(matter),
      channel: null,
      severity: 'critical',
      title: `${matter.agentId}: nobody has confirmed its end`,
      text: `${why}; nothing is spawned until its death is confirmed (vigil host gone, or a late receipt)`,
    },
  }),
  closed(matter, 'failed', why),
];

export const agentTerminated = ({ matter, index }: Open, death: Death): CaseDraft => {
  const step = matter.steps[index];
  return say(matter, {
    type: 'AGENT_TERMINATED',
    payload: {
      ...about(matter),
      reason: matter.reason,
      checkpoint: death.checkpoint?.checkpointId ?? null,
      confirmed: true,
      forced: death.forced,
      claimsReleased: death.claimsReleased,
      taskLeft: step?.step === 'terminate' ? step.leave : 'UNKNOWN',
      forensics: death.forensics,
    },
  });
};
