import { type Assignee, attemptOf, type Recovery } from './state.ts';

type InstanceRef = { readonly agentId: string; readonly instanceId: string | null };

/** The instance id, or the agent id where it has none. */
export const instanceKey = (one: InstanceRef): string => one.instanceId ?? one.agentId;

/** The keys under which its death was acted on: its own, and its agent's where that had no instance. */
export const deathsOf = ({ dead }: Recovery, one: InstanceRef): readonly string[] =>
  dead.filter((instance) => instance === instanceKey(one) || instance === one.agentId);

export const isRevived = (state: Recovery, one: InstanceRef): boolean => {
  const deaths = deathsOf(state, one);
  return deaths.length > 0 && deaths.every((instance) => state.revived.includes(instance));
};

/** The assignees that are not known to be dead, and those that were taken for dead and have taken the task again. */
export const livingAssignees = (state: Recovery): readonly Assignee[] =>
  state.assignees.filter((one) => deathsOf(state, one).every((instance) => state.revived.includes(instance)));

/**
 * The same, for certain. A dead instance may have taken the task before its death, in a record that is read late, unless its end was
 * reported as a loss before.
 */
export const confirmedAssignees = (state: Recovery): readonly Assignee[] =>
  livingAssignees(state).filter((one) => !isRevived(state, one) || state.lost.includes(instanceKey(one)));

export const assigneeOf = (state: Recovery, agentId: string): Assignee | undefined =>
  confirmedAssignees(state).find((assignee) => assignee.agentId === agentId);

/** The living agent that has had the task for longest. Others on the task work beside it. */
export const primaryAssignee = (state: Recovery): Assignee | undefined =>
  livingAssignees(state).reduce<Assignee | undefined>(
    (first, one) => (first === undefined || one.since < first.since ? one : first),
    undefined,
  );

/** A spawned agent that has the task; the last where there are several. */
export const ownAssignee = (
  state: Recovery,
  assignees: readonly Assignee[] = confirmedAssignees(state),
): Assignee | undefined =>
  state.tried
    .toReversed()
    .flatMap(({ agentId }) => assignees.filter((assignee) => assignee.agentId === agentId))
    .at(0);

export const awaitsEnd = (state: Recovery): boolean =>
  state.endAwaited !== null && confirmedAssignees(state).some((one) => instanceKey(one) === state.endAwaited);

export const isAlive = (state: Recovery, agentId: string): boolean =>
  livingAssignees(state).some((assignee) => assignee.agentId === agentId);

/** Its loss was reported, and then it took the task again. A request about its death may be older. */
export const isBack = (state: Recovery, one: InstanceRef): boolean =>
  state.lost.includes(instanceKey(one)) &&
  state.assignees.some((assignee) => instanceKey(assignee) === instanceKey(one));

/**
 * It had the task when it died, as far as is known. An earlier attempt counts only where it was seen to take the task; an agent that
 * finished it no longer had it.
 */
export const hadTask = (state: Recovery, one: InstanceRef): boolean =>
  !state.finished.includes(instanceKey(one)) &&
  (state.takenBy.includes(instanceKey(one)) || attemptOf(state, one.agentId) === undefined);
