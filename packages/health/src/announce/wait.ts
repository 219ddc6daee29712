import { NEVER } from '@vigil/stream';
import type { AnnouncedWait, KnownAgent } from '../evaluator/state.ts';
import type { Wait } from '../history/presence/wait.ts';
import type { AwaitingInputLimits } from '../judgement/exemptions.ts';
import { isHeld, type Judgement, trustedTo } from '../judgement/judge.ts';
import type { Rules } from '../judgement/rules.ts';
import { momentOf } from '../signals/signal.ts';
import { type Announcement, type AnnouncementContext, announcement } from './events.ts';

const limitOf = ({ exemptions }: Rules): number | null => {
  const limits = exemptions.find(({ name }) => name === 'awaiting_input')?.limits as AwaitingInputLimits | undefined;
  return limits?.alert_after ?? null;
};

/**
 * Whether the runtime has been silent for so long that its last report no longer counts. Then no person at the terminal
 * has to answer.
 */
const isSilent = ({ history }: KnownAgent, rules: Rules, { at }: Judgement): boolean =>
  at.watched >= trustedTo(rules, history);

/** When the watched time of a wait exceeds the policy's limit; NEVER if it is not announced. */
export const overdueFrom = (state: KnownAgent, rules: Rules, judgement: Judgement): number => {
  const { excluded, history } = state;
  const { wait, end } = history;
  const limit = limitOf(rules);
  const isJudged = !excluded && end === null && !isHeld(rules, judgement) && !isSilent(state, rules, judgement);
  if (!isJudged || wait === null || limit === null) return NEVER;
  const overdue = wait.mark + limit + 1;
  return overdue >= trustedTo(rules, history) ? NEVER : momentOf(overdue, judgement.at);
};

/** Announces an overdue wait once, and its end once. It is not a finding: no state, plan or order follows from it. */
export const waitChanged = (context: AnnouncementContext): Announcement[] => {
  const { state, rules, judgement } = context;
  const { announced, history, instanceNumber } = state;
  const { wait } = history;
  const isOverdue = overdueFrom(state, rules, judgement) <= judgement.at.now;
  const isAnnounced =
    announced.wait !== null && announced.wait.instanceNumber === instanceNumber && announced.wait.at === wait?.at;
  return [
    ...(announced.wait !== null && !(isOverdue && isAnnounced) ? [ended(context, announced.wait)] : []),
    ...(wait !== null && isOverdue && !isAnnounced ? [overdue(context, wait)] : []),
  ];
};

const overdue = (context: AnnouncementContext, { at: since, kind, text }: NonNullable<Wait>): Announcement =>
  announcement(context, 'WAIT_OVERDUE', { since, limitMs: limitOf(context.rules) ?? 0, kind, text });

/** The end names the instance and task under which the wait was announced. */
const ended = (context: AnnouncementContext, { instanceId, taskId, at: since }: AnnouncedWait): Announcement =>
  announcement(context, 'WAIT_ENDED', { instanceId, taskId, since, why: whyEnded(context) });

const whyEnded = ({ state, rules, judgement }: AnnouncementContext): string => {
  const { history, instanceNumber, announced } = state;
  if (announced.wait?.instanceNumber !== instanceNumber) return 'another instance has started';
  if (history.end !== null) return 'it has ended';
  if (history.wait === null) return 'it waits no longer';
  if (history.wait.at !== announced.wait.at) return 'it waits for something else';
  if (isSilent(state, rules, judgement)) return 'its runtime has fallen silent';
  return isHeld(rules, judgement) ? 'a person holds it' : 'its policy no longer limits the wait';
};
