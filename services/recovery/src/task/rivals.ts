import { endRival, type Output } from './drafts.ts';
import { instanceKey, isRevived, livingAssignees } from './instances.ts';
import type { Assignee, EndRequest, Recovery } from './state.ts';

/** Two attempts alive: all but the last are ended. */
export const rivals = (state: Recovery, now: number): readonly Output[] =>
  rivalsOf(state).flatMap(({ rival, why, from }) => (now >= from ? [endRival(state, rival, why, now)] : []));

type Rival = {
  readonly rival: Assignee & { readonly instanceId: string };
  readonly why: string;
  /** when its end is requested */
  readonly from: number;
};

/**
 * All living attempts but the last, and the last where people decided on a new one. The lowest is the agent that was replaced: a lost host
 * may come back and start it again, or was only cut off. An agent without an instance is never acted on.
 */
export const rivalsOf = (state: Recovery): readonly Rival[] => {
  const assignees = livingAssignees(state);
  const attempts = [state.base, ...state.tried.map(({ agentId }) => agentId)];
  const those = attempts.flatMap((agentId) => assignees.filter((assignee) => assignee.agentId === agentId));
  const last = those.at(-1)?.agentId;
  return those.flatMap((one) => {
    const isUnwanted = instanceKey(one) === state.endAwaited;
    if (last === undefined || (one.agentId === last && !isUnwanted) || one.instanceId === null) return [];
    const first =
      one.agentId === state.base || isRevived(state, one) ? one.since + REPLACEMENT_END_DELAY_MS : one.since;
    const endRequest = state.emitted.endRequests.find(({ instance }) => instance === instanceKey(one));
    const why = isUnwanted
      ? `${state.taskId} is to be put on a fresh agent, as people have decided`
      : `${last}, a later attempt at ${state.taskId}, is alive too`;
    const from = endRequest ? Math.max(first, nextRequestAt(endRequest)) : first;
    return [{ rival: { ...one, instanceId: one.instanceId }, why, from }];
  });
};

/** A host that starts an agent again may be the one on which its replacement has just died. The report of that arrives within this time. */
const REPLACEMENT_END_DELAY_MS = 10_000;

/** A request may be withheld, refused or skipped without an answer. While both live, it is made again. */
const nextRequestAt = ({ at, times }: EndRequest): number =>
  at + Math.min(FIRST_WAIT_MS * 2 ** (times - 1), LONGEST_WAIT_MS);

const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 900_000;
