import * as breaker from '@vigil/circuit-breaker';
import type { PayloadOf, Topic } from '@vigil/events';
import { stallFrom } from '../adapters/omniclaude-healthcheck.ts';
import { deathsOf, holdingAs, instanceKey, isAlive } from './instances.ts';
import { type Attempt, attemptOf, type Holder, isBad, notUsed, type Recovery, remember } from './state.ts';

type TaskHealth = PayloadOf<typeof Topic.taskHealth, 'TASK_HEALTH_CHANGED'>;

const mostHolders = 8;

/** Who holds the task is kept for every task; what it means depends on where recovery stands. */
export function observeHealth(before: Recovery, health: TaskHealth, now: number): Recovery {
  const holders = holdersAfter(before.holders, health, now);
  const revived = health.hold === 'took' ? deathsOf(before, health).reduce(remember, before.revived) : before.revived;
  const gone = hasLeft(health) && !holders.some((holder) => holder.agentId === health.agentId);
  const finished = gone && health.endReason === 'finished';
  const takenBy = finished ? [] : takenByAfter(before.takenBy, health);
  const avoid = avoidAfter(before.avoid, health);
  const lost = lostAfter(before.lost, health);
  const state: Recovery = {
    ...before,
    holders,
    takenBy,
    finished: finished ? finishedBy(before, health) : finishedAfter(before, health),
    revived,
    lost,
    avoid,
    emitsHealthcheck: health.emitHealthcheck,
    // Whose end was asked for before the task was finished has no place to fill.
    emitted: finished ? { ...before.emitted, endRequests: [] } : before.emitted,
  };
  const over = { ...notUsed(state), situation: { kind: 'over', why: 'finished', detail: null } } as const;
  const hadTask =
    holdingAs(before, health.agentId) || attemptOf(state, health.agentId) || before.lost.includes(instanceKey(health));
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
      if (gone && isStopped(health) && holdingAs(before, health.agentId) && !isHeld(state))
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
}

/** The replacement is not ended: what its work is worth people know. It keeps the task, and nobody takes its place. */
function finishedBeside(state: Recovery, { agentId }: TaskHealth, attempt: Attempt): Recovery {
  const detail = `${agentId} has finished it, and ${attempt.agentId} works on it`;
  return { ...state, situation: { kind: 'over', why: 'reassigned', detail } };
}

/**
 * Its end was asked for while a later attempt lived, and waited; meanwhile that one has gone. Now nobody has the task, and no case asks for another
 * agent.
 */
function isLastRival(state: Recovery, health: TaskHealth): boolean {
  const { situation, emitted, subject } = state;
  const wasAsked = emitted.endRequests.some(({ instance }) => instance === instanceKey(health));
  // Also where it crashed first: the case that was to end it asks for no other agent either.
  if (!wasAsked || health.to !== 'TERMINATED' || health.endReason === 'finished' || isStopped(health)) return false;
  if (subject === null) return false;
  const rests = situation.kind === 'idle' || situation.kind === 'probation' || situation.kind === 'stable';
  return rests && !isHeld(state);
}

function replacing(state: Recovery, health: TaskHealth, now: number): Recovery {
  const why = `${health.agentId} was ended beside an attempt that has ended too`;
  const dead = remember(state.dead, instanceKey(health));
  return { ...state, dead, situation: { kind: 'waiting', dueAt: now, immediate: false, withheld: 0, why } };
}

/** Somebody new has taken the task: there is nothing left to decide. Of one that comes back from the dead people decide whether it is to go on. */
const isTakenByAnother = (state: Recovery, health: TaskHealth): boolean =>
  health.hold === 'took' &&
  attemptOf(state, health.agentId) === undefined &&
  deathsOf(state, health).length === 0 &&
  holdingAs(state, health.agentId) !== undefined;

/** Whoever dies with the task had it; whoever leaves it alive has it no more. */
function takenByAfter(takenBy: readonly string[], health: TaskHealth): readonly string[] {
  if (!hasLeft(health)) return remember(takenBy, instanceKey(health));
  return health.to === 'TERMINATED' ? takenBy : takenBy.filter((instance) => instance !== instanceKey(health));
}

function lostAfter(lost: readonly string[], health: TaskHealth): readonly string[] {
  if (health.to !== 'TERMINATED') return lost;
  return health.endReason === 'lost'
    ? remember(lost, instanceKey(health))
    : lost.filter((instance) => instance !== instanceKey(health));
}

/** A task is finished for all that have taken it: one that works on, or was taken for dead and comes back, has nothing to recover either. */
function finishedBy({ finished, takenBy, situation }: Recovery, health: TaskHealth): readonly string[] {
  const begun = situation.kind === 'spawning' ? [situation.attempt.agentId] : [];
  return [...takenBy, ...begun, instanceKey(health)].reduce(remember<string>, finished);
}

/**
 * Whoever takes the task again begins it anew. One that was taken for dead takes it again by its next heartbeat, and begins nothing; nor does an
 * attempt whose spawn was out when the task was finished.
 */
function finishedAfter(state: Recovery, health: TaskHealth): readonly string[] {
  const { finished } = state;
  const { agentId, instanceId } = health;
  if (health.hold !== 'took' || hasLeft(health)) return finished;
  const instance = instanceKey(health);
  const wasOut = instanceId !== null && attemptOf(state, agentId) !== undefined && finished.includes(agentId);
  if (wasOut) return finished.map((one) => (one === agentId ? instance : one));
  const isBack = instanceId !== null && (state.lost.includes(instance) || state.dead.includes(instance));
  return isBack ? finished : finished.filter((one) => one !== instance);
}

/** Nothing is spawned where the host is gone, however lately its runtime announced itself. */
const avoidAfter = (avoid: readonly string[], health: TaskHealth): readonly string[] =>
  hasLeft(health) && health.endReason === 'lost' && health.runtimeId !== null
    ? remember(avoid, health.runtimeId)
    : avoid;

function healthObserved(state: Recovery, health: TaskHealth, gone: boolean, now: number): Recovery {
  if (gone && state.situation.kind === 'probation' && isOnPurpose(health)) return leftOnProbation(state, health, now);
  if (gone) return goneAt(settled(state, health.endReason ?? 'left the task', now), now);
  if (isBad(health.to)) return settled(state, health.to, now);
  return health.to === 'HEALTHY' ? returned(state, now) : state;
}

/** Where a plan ends it, a request to recover the task follows at once. Where a person does, none may. */
function goneAt(state: Recovery, now: number): Recovery {
  const { situation } = state;
  return situation.kind === 'probation' ? { ...state, situation: { ...situation, goneAt: now } } : state;
}

/** It goes on without the task, or a person has stopped it: no case follows, so nobody else would put the task on a fresh agent. */
const isOnPurpose = (health: TaskHealth): boolean => health.to !== 'TERMINATED' || isStopped(health);

/** By a person, and by no order. */
const isStopped = ({ endReason, ordered }: TaskHealth): boolean => endReason === 'explicit' && !ordered;

const isHeld = (state: Recovery): boolean => state.holders.some(({ agentId }) => isAlive(state, agentId));

/** One that was well when it let the task go has done what was asked; of one that was not, people decide. */
function leftOnProbation(before: Recovery, { agentId, to }: TaskHealth, now: number): Recovery {
  if (isBad(to)) {
    const why = `${agentId} has left the task while it was ${to}`;
    return { ...settled(before, to, now), situation: { kind: 'refused', why } };
  }
  const detail = to === 'TERMINATED' ? `${agentId} was stopped` : `${agentId} has left it, and goes on`;
  return { ...notUsed(before), situation: { kind: 'over', why: 'left', detail } };
}

const hasLeft = (health: TaskHealth): boolean => health.hold === 'left' || health.to === 'TERMINATED';

/** The attempt falls short: in probation it has failed, once; after it the stable time ends, and counts if it was long enough. */
export function settled(state: Recovery, failing: string, now: number): Recovery {
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
    ...(isStable ? { attempts: 0, granted: 0 } : {}),
    situation: { ...situation, since: null },
  };
}

/** Well again: probation, or the stable time, begins anew. */
function returned(state: Recovery, now: number): Recovery {
  const { situation } = state;
  if (situation.kind === 'probation' && situation.failing !== null) {
    const attempt = { ...situation.attempt, generation: state.breaker.generation };
    return { ...state, situation: { ...situation, attempt, since: now, failing: null } };
  }
  if (situation.kind === 'stable' && situation.since === null) {
    return { ...state, situation: { ...situation, since: now } };
  }
  return state;
}

function holdersAfter(holders: readonly Holder[], health: TaskHealth, now: number): readonly Holder[] {
  const { agentId, instanceId, runtimeId, to } = health;
  const others = holders.filter((holder) => holder.agentId !== agentId);
  const old = holders.find((holder) => holder.agentId === agentId);
  // An end of an older life says nothing about the newer one.
  if (hasLeft(health)) return old && instanceKey(old) !== instanceKey(health) ? holders : others;
  const since = old && instanceKey(old) === instanceKey(health) ? old.since : now;
  const figures = { idleMinutes: health.idleMinutes, contextUsagePct: health.contextUsagePct };
  const stall = stallFrom(health.evidence);
  return [...others, { agentId, instanceId, runtimeId, state: to, since, stall, ...figures }].slice(-mostHolders);
}
