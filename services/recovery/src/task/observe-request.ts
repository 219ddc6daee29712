import * as breaker from '@vigil/circuit-breaker';
import type { EventOf, Topic } from '@vigil/events';
import type { RecoverySettings } from '@vigil/policy';
import { stallOf } from '../adapters/omniclaude-healthcheck.ts';
import { newestOf, repeatCheckpoint } from '../checkpoints/checkpoints.ts';
import { lapsed } from './evolve.ts';
import { deathsOf, hadTask, instanceKey, isAlive, isBack, isRevived, livingAssignees } from './instances.ts';
import { settled } from './observe-health.ts';
import { delayBefore, readSettings } from './settings.ts';
import { attemptOf, isBad, probationFailure, type Recovery, remember, type Subject } from './state.ts';

type RecoverTask = EventOf<typeof Topic.recoverTask>;

export const observeRequest = (state: Recovery, input: RecoverTask, now: number): Recovery => {
  const { by } = input.payload;
  return by === null ? requestedByCase(state, input, now) : requestedByPerson(state, input, by, now);
};

/** Acts only on a confirmed death, and on each death once. */
const requestedByCase = (state: Recovery, input: RecoverTask, now: number): Recovery => {
  const { payload } = input;
  const isHandled = state.dead.includes(instanceKey(payload)) && !isRevived(state, payload);
  if (!payload.confirmed || isHandled) return state;
  const known = withDeath(state, payload);
  const { situation } = state;
  switch (situation.kind) {
    case 'idle':
      return hadTask(state, payload) ? begun(known, input, now) : known;
    case 'spawning':
      return situation.attempt.agentId === payload.agentId ? nextAttemptBegun(known, input, now) : known;
    case 'probation':
    case 'stable': {
      const { agentId } = situation.attempt;
      const isNext = !isAlive(known, agentId) && hadTask(state, payload);
      if (agentId !== payload.agentId && !isNext) return known;
      return mustBeReviewed(known) ? probationFailed(known, input, now) : nextAttemptBegun(known, input, now);
    }
    case 'review':
      return atDeath(known);
    case 'waiting':
    case 'requesting':
    case 'admitted':
    case 'refused':
    case 'over':
      return known;
  }
};

const mustBeReviewed = ({ situation, subject }: Recovery): boolean =>
  situation.kind === 'probation' && subject?.settings.onProbationFailure === 'review';

/** People decide. The request of the case may arrive before the report of the attempt's end, or follow an end by order. */
const probationFailed = (state: Recovery, input: RecoverTask, now: number): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'probation') return state;
  const { reason } = input.payload;
  const failed = atDeath(attemptFailed(state, reason, now));
  const why = probationFailure(situation.attempt.number, reason);
  return { ...failed, subject: subjectOf(state, input), situation: { kind: 'refused', why } };
};

/** Only checkpoints that are written from now on are newer than this death. */
const atDeath = (state: Recovery): Recovery => ({ ...state, checkpointAtDeath: newestOf(state.checkpoints) });

/**
 * A person's request also counts for a death that was acted on before, and for an unconfirmed death where no agent of that name has the
 * task. `decide` answers a refused one with the reason. A refused one records only a confirmed death.
 */
const requestedByPerson = (state: Recovery, input: RecoverTask, by: string, now: number): Recovery => {
  const { payload } = input;
  if (unconfirmed(state, payload) !== null) return withCheckpoint(state, payload);
  const known = withDeath(state, payload);
  if (objectionTo(known, payload) !== null) return known;
  const { situation } = known;
  switch (situation.kind) {
    case 'idle':
      return begun(known, input, now);
    case 'probation':
    case 'stable':
      return nextAttemptBegun(known, input, now);
    case 'spawning':
      return situation.attempt.agentId === payload.agentId
        ? nextAttemptBegun(known, input, now)
        : expedited(known, now);
    case 'waiting':
    case 'requesting':
    case 'admitted':
    case 'refused':
    case 'over':
      return expedited(known, now);
    case 'review':
      return {
        ...atDeath(known),
        situation: { kind: 'review', review: { decision: 'retry', by, why: payload.reason, at: now } },
      };
  }
};

const unconfirmed = (state: Recovery, { confirmed, agentId }: RecoverTask['payload']): string | null =>
  !confirmed && isAlive(state, agentId)
    ? `${agentId} holds ${state.taskId}, and its death is not confirmed: end it, or confirm its death`
    : null;

/** Why a recovery that a person requests is refused, or null. One that is under way is not refused. */
export const objectionTo = (state: Recovery, payload: RecoverTask['payload']): string | null => {
  const { situation, taskId } = state;
  const alive = unconfirmed(state, payload);
  if (alive !== null) return alive;
  switch (situation.kind) {
    case 'probation':
    case 'stable': {
      const assignee = livingAssignees(state).at(-1);
      return assignee ? `${assignee.agentId} holds ${taskId}: end that one, and recover it` : null;
    }
    case 'requesting':
      return situation.impossible?.reason ?? null;
    case 'over':
      return `the recovery of ${taskId} is over: ${situation.detail ?? situation.why}`;
    case 'idle':
    case 'waiting':
    case 'admitted':
    case 'refused':
    case 'spawning':
    case 'review':
      return null;
  }
};

const withCheckpoint = (state: Recovery, { checkpoint, agentId }: RecoverTask['payload']): Recovery =>
  checkpoint ? { ...state, checkpoints: repeatCheckpoint(state.checkpoints, checkpoint, agentId) } : state;

const withDeath = (state: Recovery, payload: RecoverTask['payload']): Recovery => {
  const known = deathsOf(state, payload);
  const revived = state.revived.filter((instance) => !known.includes(instance));
  return {
    ...withCheckpoint(state, payload),
    revived: payload.confirmed && isBack(state, payload) ? remember(revived, instanceKey(payload)) : revived,
    dead: payload.confirmed ? remember(state.dead, instanceKey(payload)) : state.dead,
  };
};

/** The attempt has died, or left the task to an agent that has died: the next attempt begins. */
const nextAttemptBegun = (state: Recovery, input: RecoverTask, now: number): Recovery =>
  begun(attemptFailed(state, input.payload.reason, now), input, now);

/** A person's request ends the back-off now, also that of an attempt that has failed since the last decision. */
const expedited = (before: Recovery, now: number): Recovery => {
  const state = lapsed(before, now);
  const { situation } = state;
  if (situation.kind !== 'waiting') return before;
  const { limitedUntil: _, ...unlimited } = situation;
  return { ...state, situation: { ...unlimited, dueAt: Math.min(situation.dueAt, now), immediate: true } };
};

/** The attempt has died. It counts as failed once, whichever topic reports it first. */
const attemptFailed = (state: Recovery, why: string, now: number): Recovery => {
  const { situation, subject } = state;
  if (!subject) return state;
  switch (situation.kind) {
    case 'spawning':
    case 'probation': {
      const { generation } = situation.attempt;
      const counted = situation.kind === 'probation' && situation.failing !== null;
      return counted
        ? state
        : { ...state, breaker: breaker.fail(state.breaker, generation, subject.settings.breaker, now) };
    }
    case 'stable':
      return settled(state, why, now);
    case 'idle':
    case 'waiting':
    case 'requesting':
    case 'admitted':
    case 'refused':
    case 'review':
    case 'over':
      return state;
  }
};

const begun = (state: Recovery, input: RecoverTask, now: number): Recovery => {
  const subject = subjectOf(state, input);
  const { immediate, reason, agentId, endedByItself } = input.payload;
  const wait = immediate ? 0 : delayBefore(subject.settings, state.taskId, state.attempts + 1);
  const from = wait === 0 ? now : Math.max(now, requestedAt(input)) + wait;
  const doubt = isBack(state, input.payload)
    ? { isDoubted: true, doubtedUntil: Math.max(from, now + END_REPORT_DELAY_MS) }
    : {};
  const notBefore = immediate ? null : limitedUntil(input, subject.settings, now);
  const limit = notBefore === null || notBefore <= from ? {} : { limitedUntil: notBefore };
  const dueAt = Math.max(from, doubt.doubtedUntil ?? from, notBefore ?? from);
  return {
    ...atDeath(state),
    subject,
    base: attemptOf(state, agentId) ? state.base : agentId,
    situation: {
      ...{ kind: 'waiting', dueAt, immediate, withheld: 0, why: reason, ...doubt, ...limit },
      ...(endedByItself && { endedByItself }),
    },
  };
};

/**
 * Before that time a new agent would meet the limit of the dead one. After the longest wait that the policy allows, the agent is replaced.
 * A person's request does not wait.
 */
const limitedUntil = (
  { payload: { notBefore } }: RecoverTask,
  { limitWaitMs }: RecoverySettings,
  now: number,
): number | null => (notBefore === null || notBefore <= now ? null : Math.min(notBefore, now + limitWaitMs));

/** The report of an agent's end arrives within this time after the request to recover its task. */
const END_REPORT_DELAY_MS = 10_000;

/** The time of the task key space may be seconds behind that of the case, which makes no back-off shorter. A person's clock is not used. */
const requestedAt = ({ occurredAt, payload }: RecoverTask): number => (payload.by === null ? occurredAt : 0);

const subjectOf = (state: Recovery, { eventId, correlationId, policy, payload }: RecoverTask): Subject => {
  const { agentId, instanceId, caseId, runtimeId, reason, lastOutput, completedWork, remainingWork, labels } = payload;
  const assignee = state.assignees.find((one) => one.agentId === agentId && isBad(one.state));
  return {
    cause: eventId,
    correlationId,
    policy,
    agentId,
    instanceId,
    caseId,
    runtimeId,
    reason,
    lastOutput,
    completedWork,
    remainingWork,
    labels,
    checkpointId: payload.checkpoint?.checkpointId ?? state.checkpoints.at(-1)?.checkpointId ?? null,
    stall: assignee?.stall ?? stallOf(reason),
    idleMinutes: payload.idleMinutes,
    contextUsagePct: payload.contextUsagePct,
    settings: readSettings(state.taskId, payload.recovery),
  };
};
