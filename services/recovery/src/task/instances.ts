import { attemptOf, type Holder, type Recovery } from './state.ts';

type InstanceRef = { readonly agentId: string; readonly instanceId: string | null };

/** An instance where it has an id, else the agent. */
export const instanceKey = (one: InstanceRef): string => one.instanceId ?? one.agentId;

/** Under which names its death was acted on: its own, and its agent's where that had no instance. */
export const deathsOf = ({ dead }: Recovery, one: InstanceRef): readonly string[] =>
  dead.filter((instance) => instance === instanceKey(one) || instance === one.agentId);

export const isRevived = (state: Recovery, one: InstanceRef): boolean => {
  const deaths = deathsOf(state, one);
  return deaths.length > 0 && deaths.every((instance) => state.revived.includes(instance));
};

/** Those who hold the task and are not known to be dead, and those who were taken for dead and, as it seems, live on. */
export const livingHolders = (state: Recovery): readonly Holder[] =>
  state.holders.filter((one) => deathsOf(state, one).every((instance) => state.revived.includes(instance)));

/**
 * The same, for certain: news that a dead life takes the task may be from before its death and read late, unless its end had been
 * told before, as a loss from afar.
 */
export const holding = (state: Recovery): readonly Holder[] =>
  livingHolders(state).filter((one) => !isRevived(state, one) || state.lost.includes(instanceKey(one)));

export const holdingAs = (state: Recovery, agentId: string): Holder | undefined =>
  holding(state).find((holder) => holder.agentId === agentId);

/** A spawned agent that holds the task, the last where there are several. */
export const ownHolder = (state: Recovery, holders: readonly Holder[] = holding(state)): Holder | undefined =>
  state.tried
    .toReversed()
    .flatMap(({ agentId }) => holders.filter((holder) => holder.agentId === agentId))
    .at(0);

export const awaitsEnd = (state: Recovery): boolean =>
  state.endAwaited !== null && holding(state).some((one) => instanceKey(one) === state.endAwaited);

export const isAlive = (state: Recovery, agentId: string): boolean =>
  livingHolders(state).some((holder) => holder.agentId === agentId);

/** It was told to be lost, and has taken the task again: what is asked about its death may be from before that. */
export const isBack = (state: Recovery, one: InstanceRef): boolean =>
  state.lost.includes(instanceKey(one)) && state.holders.some((holder) => instanceKey(holder) === instanceKey(one));

/** It had the task when it died, as far as we know: a former attempt counts only where it was seen to take it, and who has finished it had it no more. */
export const hadTask = (state: Recovery, one: InstanceRef): boolean =>
  !state.finished.includes(instanceKey(one)) &&
  (state.takenBy.includes(instanceKey(one)) || attemptOf(state, one.agentId) === undefined);
