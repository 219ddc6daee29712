import * as breaker from '@vigil/circuit-breaker';
import type { PayloadOf, Topic } from '@vigil/events';
import { stallFrom } from '../adapters/omniclaude-healthcheck.ts';
import { hasNewerThan, newestOf } from '../checkpoints/checkpoints.ts';
import { assigneeOf, deathsOf, instanceKey, isAlive, primaryAssignee } from './instances.ts';
import {
  type Assignee,
  type Attempt,
  attemptOf,
  isBad,
  notUsed,
  type Recovery,
  remember,
  type Subject,
} from './state.ts';

type TaskHealth = PayloadOf<typeof Topic.taskHealth, 'TASK_HEALTH_CHANGED'>;

const MOST_ASSIGNEES = 8;

/** Keeps the assignees of every task. Their meaning depends on the state of the recovery. */
export const observeHealth = (before: Recovery, health: TaskHealth, now: number): Recovery => {
  const assignees = assigneesAfter(before.assignees, health, now);
  const primary = primaryAssignee({ ...before, assignees });
  const lastAssignee = primary && { agentId: primary.agentId, verified: primary.verified };
  const revived = health.hold === 'took' ? deathsOf(before, health).reduce(remember, before.revived) : before.revived;
  const gone = hasLeft(health) && !assignees.some((assignee) => assignee.agentId === health.agentId);
  const finished = gone && health.endReason === 'finished';
  const takenBy = finished ? [] : takenByAfter(before.takenBy, health);
  const avoid = avoidAfter(before.avoid, health);
  const lost = lostAfter(before.lost, health);
  const state: Recovery = {
    ...before,
    assignees,
    ...(lastAssignee && { lastAssignee }),
    takenBy,
    unseen: before.unseen.filter((agentId) => agentId !== health.agentId),
    finished: finished ? finishedBy(before, health) : finishedAfter(before, health),
    revived,
    lost,
    avoid,
    emitsHealthcheck: health.emitHealthcheck,
    // A finish also cancels the requested ends: no place has to be filled after them.
    emitted: finished ? { ...before.emitted, endRequests: [] } : before.emitted,
  };
  const over = { ...notUsed(state), situation: { kind: 'over', why: 'finished', detail: null } } as const;
  const hadTask =
    assigneeOf(before, health.agentId) || attemptOf(state, health.agentId) || before.lost.includes(instanceKey(health));
  const { situation } = state;
  if (gone && isLastRival(state, health)) return replacing(state, health, now);
  switch (situation.kind) {
    case 'idle':
    case 'over':
      return state;
    case 'waiting':
    case 'requesting':
    case 'admitted':
    case 'refused':
    case 'spawning':
      if (gone && isStopped(health) && assigneeOf(before, health.agentId) && !isHeld(state))
        return { ...notUsed(state), situation: { kind: 'over', why: 'left', detail: `${health.agentId} was stopped` } };
      return finished && hadTask ? over : state;
    case 'review':
      if (isTakenByAnother(state, health))
        return { ...state, situation: { kind: 'over', why: 'reassigned', detail: `held by ${health.agentId}` } };
      return finished && hadTask ? over : state;
    case 'probation':
    case 'stable':
      if (health.agentId === situation.attempt.agentId)
        return finished ? over : healthObserved(state, health, gone, now);
      if (!isAlive(state, situation.attempt.agentId)) return finished ? over : state;
      return finished && hadTask ? finishedBeside(state, health, situation.attempt) : state;
  }
};

/** The replacement is not ended: people judge its work. It keeps the task, and no agent replaces it. */
const finishedBeside = (state: Recovery, { agentId }: TaskHealth, attempt: Attempt): Recovery => {
  const detail = `${agentId} has finished it, and ${attempt.agentId} works on it`;
  return { ...state, situation: { kind: 'over', why: 'reassigned', detail } };
};

/**
 * Its end was requested while a later attempt lived, and waited. That attempt has gone since. Now no agent has the task, and no case
 * requests one.
 */
const isLastRival = (state: Recovery, health: TaskHealth): boolean => {
  const { situation, emitted, subject } = state;
  const wasAsked = emitted.endRequests.some(({ instance }) => instance === instanceKey(health));
  // Also where it crashed first: the case that was to end it requests no other agent either.
  if (!wasAsked || health.to !== 'TERMINATED' || health.endReason === 'finished' || isStopped(health)) return false;
  if (subject === null) return false;
  const rests = situation.kind === 'idle' || situation.kind === 'probation' || situation.kind === 'stable';
  return rests && !isHeld(state);
};

const replacing = (state: Recovery, health: TaskHealth, now: number): Recovery => {
  const why = `${health.agentId} was ended beside an attempt that has ended too`;
  const dead = remember(state.dead, instanceKey(health));
  const checkpointAtDeath = newestOf(state.checkpoints);
  const situation = { kind: 'waiting', dueAt: now, immediate: false, withheld: 0, why } as const;
  return { ...state, dead, checkpointAtDeath, situation };
};

/**
 * A new agent has taken the task: there is nothing left to decide. Where an agent that was taken for dead comes back, people decide whether
 * it continues.
 */
const isTakenByAnother = (state: Recovery, health: TaskHealth): boolean =>
  health.hold === 'took' &&
  attemptOf(state, health.agentId) === undefined &&
  deathsOf(state, health).length === 0 &&
  assigneeOf(state, health.agentId) !== undefined;

/** An agent that dies with the task had it. An agent that leaves the task alive no longer has it. */
const takenByAfter = (takenBy: readonly string[], health: TaskHealth): readonly string[] => {
  if (!hasLeft(health)) return remember(takenBy, instanceKey(health));
  return health.to === 'TERMINATED' ? takenBy : takenBy.filter((instance) => instance !== instanceKey(health));
};

const lostAfter = (lost: readonly string[], health: TaskHealth): readonly string[] => {
  if (health.to !== 'TERMINATED') return lost;
  return health.endReason === 'lost'
    ? remember(lost, instanceKey(health))
    : lost.filter((instance) => instance !== instanceKey(health));
};

/**
 * A finish holds for all that have taken the task, and for every attempt that may still begin. One that still works, or was taken for dead
 * and comes back, has nothing to recover.
 */
const finishedBy = ({ finished, takenBy, unseen }: Recovery, health: TaskHealth): readonly string[] =>
  [...takenBy, ...unseen, instanceKey(health)].reduce(remember<string>, finished);

/**
 * An agent that takes the task again starts it again. One that was taken for dead takes it by its next heartbeat, and starts nothing;
 * neither does an attempt that had not begun at the finish.
 */
const finishedAfter = (state: Recovery, health: TaskHealth): readonly string[] => {
  const { finished } = state;
  const { agentId, instanceId } = health;
  if (health.hold !== 'took' || hasLeft(health)) return finished;
  const instance = instanceKey(health);
  const wasOut = instanceId !== null && attemptOf(state, agentId) !== undefined && finished.includes(agentId);
  if (wasOut) return finished.map((one) => (one === agentId ? instance : one));
  const isBack = instanceId !== null && (state.lost.includes(instance) || state.dead.includes(instance));
  return isBack ? finished : finished.filter((one) => one !== instance);
};

/** Nothing is spawned where the host is gone, however recently its runtime announced itself. */
const avoidAfter = (avoid: readonly string[], health: TaskHealth): readonly string[] =>
  hasLeft(health) && health.endReason === 'lost' && health.runtimeId !== null
    ? remember(avoid, health.runtimeId)
    : avoid;

const healthObserved = (state: Recovery, health: TaskHealth, gone: boolean, now: number): Recovery => {
  if (gone && state.situation.kind === 'probation' && isOnPurpose(health)) return leftOnProbation(state, health, now);
  if (gone) return goneAt(settled(state, health.endReason ?? 'left the task', now), now);
  if (isBad(health.to)) return settled(state, health.to, now);
  return health.to === 'HEALTHY' ? returned(state, now) : state;
};

/** Where a plan ends it, a request to recover the task follows at once. Where a person does, none may follow. */
const goneAt = (state: Recovery, now: number): Recovery => {
  const { situation } = state;
  return situation.kind === 'probation' ? { ...state, situation: { ...situation, goneAt: now } } : state;
};

/** It continues without the task, or a person has stopped it. No case follows, so no other service puts the task on a new agent. */
const isOnPurpose = (health: TaskHealth): boolean => health.to !== 'TERMINATED' || isStopped(health);

/** Ended by a person, and by no order. */
const isStopped = ({ endReason, ordered }: TaskHealth): boolean => endReason === 'explicit' && !ordered;

const isHeld = (state: Recovery): boolean => state.assignees.some(({ agentId }) => isAlive(state, agentId));

/** An agent that was healthy when it left the task has done its work. Otherwise people decide. */
const leftOnProbation = (before: Recovery, { agentId, to }: TaskHealth, now: number): Recovery => {
  if (isBad(to)) {
    const why = `${agentId} has left the task while it was ${to}`;
    return { ...settled(before, to, now), situation: { kind: 'refused', why } };
  }
  const detail = to === 'TERMINATED' ? `${agentId} was stopped` : `${agentId} has left it, and continues to run`;
  return { ...notUsed(before), situation: { kind: 'over', why: 'left', detail } };
};

const hasLeft = (health: TaskHealth): boolean => health.hold === 'left' || health.to === 'TERMINATED';

/** The attempt falls short. On probation it has failed, once. After probation the stable time ends, and counts if it was long enough. */
export const settled = (state: Recovery, failing: string, now: number): Recovery => {
  const { situation, subject } = state;
  if (!subject) return state;
  if (situation.kind === 'probation' && situation.failing === null) {
    const { generation } = situation.attempt;
    return {
      ...state,
      situation: { ...situation, failing },
      breaker: breaker.fail(state.breaker, generation, subject.settings.breaker, now),
    };
  }
  if (situation.kind !== 'stable' || situation.since === null) return state;
  const isStable = now - situation.since >= subject.settings.stableMs;
  return {
    ...state,
    ...(isStable && startsNewCount(state, subject) ? { attempts: 0, granted: 0 } : {}),
    situation: { ...situation, since: null },
  };
};

/** After the stable time. */
const startsNewCount = ({ checkpointAtDeath, checkpoints }: Recovery, { settings }: Subject): boolean => {
  switch (settings.resetAttempts) {
    case 'after_stable':
      return true;
    case 'after_progress':
      return hasNewerThan(checkpointAtDeath, checkpoints);
    case 'by_people':
      return false;
  }
};

/** Healthy again: probation, or the stable time, restarts. */
const returned = (state: Recovery, now: number): Recovery => {
  const { situation } = state;
  if (situation.kind === 'probation' && situation.failing !== null) {
    const attempt = { ...situation.attempt, generation: state.breaker.generation };
    return { ...state, situation: { ...situation, attempt, since: now, failing: null } };
  }
  if (situation.kind === 'stable' && situation.since === null) {
    return { ...state, situation: { ...situation, since: now } };
  }
  return state;
};

const assigneesAfter = (assignees: readonly Assignee[], health: TaskHealth, now: number): readonly Assignee[] => {
  const { agentId, instanceId, runtimeId, verified, to } = health;
  const others = assignees.filter((assignee) => assignee.agentId !== agentId);
  const old = assignees.find((assignee) => assignee.agentId === agentId);
  // The end of an older instance does not concern the newer one.
  if (hasLeft(health)) return old && instanceKey(old) !== instanceKey(health) ? assignees : others;
  const since = old && instanceKey(old) === instanceKey(health) ? old.since : now;
  const figures = { idleMinutes: health.idleMinutes, contextUsagePct: health.contextUsagePct };
  const stall = stallFrom(health.evidence);
  return [...others, { agentId, instanceId, runtimeId, verified, state: to, since, stall, ...figures }].slice(
    -MOST_ASSIGNEES,
  );
};
