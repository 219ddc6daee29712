import * as breaker from '@vigil/circuit-breaker';
import type { EventOf, Topic } from '@vigil/events';
import type { RecoverySettings } from '@vigil/policy';
import { stallOf } from './adapters/omniclaude-healthcheck.ts';
import { repeatCheckpoint } from './checkpoints.ts';
import { lapsed } from './evolve.ts';
import { alive, deathsOf, hadTask, hasRisen, isAlive, isBack, lifeOf } from './lives.ts';
import { settled } from './observe-health.ts';
import { delayBefore, readSettings } from './settings.ts';
import { attemptOf, isBad, type Recovery, remember, type Subject } from './state.ts';

type RecoverTask = EventOf<typeof Topic.recoverTask>;

export function observeRequest(state: Recovery, input: RecoverTask, now: number): Recovery {
  const { by } = input.payload;
  return by === null ? requestedByCase(state, input, now) : requestedByPerson(state, input, by, now);
}

/** Only after a confirmed death; each death is acted on once. */
function requestedByCase(state: Recovery, input: RecoverTask, now: number): Recovery {
  const { payload } = input;
  const isKnown = state.dead.includes(lifeOf(payload)) && !hasRisen(state, payload);
  if (!payload.confirmed || isKnown) return state;
  const told = withDeath(state, payload);
  const { situation } = state;
  switch (situation.is) {
    case 'idle':
      return hadTask(state, payload) ? begin(told, input, now) : told;
    case 'spawning':
      return situation.attempt.agentId === payload.agentId ? succeeded(told, input, now) : told;
    case 'probation':
    case 'stable': {
      const { agentId } = situation.attempt;
      const isNext = !isAlive(told, agentId) && hadTask(state, payload);
      return agentId === payload.agentId || isNext ? succeeded(told, input, now) : told;
    }
    case 'waiting':
    case 'asking':
    case 'admitted':
    case 'refused':
    case 'review':
    case 'over':
      return told;
  }
}

/**
 * A person is heard also where the death was acted on before, and where nobody has confirmed it and nobody of that name holds the task. What does not
 * follow is answered with the reason.
 */
function requestedByPerson(state: Recovery, input: RecoverTask, by: string, now: number): Recovery {
  const { payload } = input;
  const reason = unconfirmed(state, payload) ?? against(withDeath(state, payload));
  const told = withDeath(state, payload);
  if (reason !== null) return { ...told, refusal: { agentId: payload.agentId, caseId: payload.caseId, by, reason } };
  const { situation } = told;
  switch (situation.is) {
    case 'idle':
      return begin(told, input, now);
    case 'probation':
    case 'stable':
      return succeeded(told, input, now);
    case 'spawning':
      return situation.attempt.agentId === payload.agentId ? succeeded(told, input, now) : hurried(told, now);
    case 'waiting':
    case 'asking':
    case 'admitted':
    case 'refused':
    case 'over':
      return hurried(told, now);
    case 'review':
      return { ...told, situation: { is: 'review', review: { decision: 'retry', by, why: payload.reason, at: now } } };
  }
}

const unconfirmed = (state: Recovery, { confirmed, agentId }: RecoverTask['payload']): string | null =>
  !confirmed && isAlive(state, agentId)
    ? `${agentId} holds ${state.taskId}, and nobody has confirmed its death: end it, or confirm its death`
    : null;

/** What speaks against a recovery that a person asks for, or null. One that is under way is what was asked for. */
function against(state: Recovery): string | null {
  const { situation, taskId } = state;
  switch (situation.is) {
    case 'probation':
    case 'stable': {
      const holder = alive(state).at(-1);
      return holder ? `${holder.agentId} holds ${taskId}: end that one, and recover it` : null;
    }
    case 'asking':
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
}

function withDeath(state: Recovery, payload: RecoverTask['payload']): Recovery {
  const known = deathsOf(state, payload);
  const risen = state.risen.filter((life) => !known.includes(life));
  return {
    ...state,
    risen: payload.confirmed && isBack(state, payload) ? remember(risen, lifeOf(payload)) : risen,
    dead: payload.confirmed ? remember(state.dead, lifeOf(payload)) : state.dead,
    checkpoints: payload.checkpoint ? repeatCheckpoint(state.checkpoints, payload.checkpoint) : state.checkpoints,
  };
}

/** The attempt has died, or left the task to somebody who has: the next one is meant. */
const succeeded = (state: Recovery, input: RecoverTask, now: number): Recovery =>
  begin(fallen(state, input.payload.reason, now), input, now);

/** A person asks: the back-off is over now, also that of an attempt that has come to nothing since it was last looked at. */
function hurried(before: Recovery, now: number): Recovery {
  const state = lapsed(before, now);
  const { situation } = state;
  if (situation.is !== 'waiting') return before;
  const { limitedUntil: _, ...unlimited } = situation;
  return { ...state, situation: { ...unlimited, dueAt: Math.min(situation.dueAt, now), immediate: true } };
}

/** The attempt has died; it counts as failed once, wherever that was heard first. */
function fallen(state: Recovery, why: string, now: number): Recovery {
  const { situation, subject } = state;
  if (!subject) return state;
  switch (situation.is) {
    case 'spawning':
    case 'probation': {
      const { generation } = situation.attempt;
      const counted = situation.is === 'probation' && situation.failing !== null;
      return counted
        ? state
        : { ...state, breaker: breaker.fail(state.breaker, generation, subject.settings.breaker, now) };
    }
    case 'stable':
      return settled(state, why, now);
    case 'idle':
    case 'waiting':
    case 'asking':
    case 'admitted':
    case 'refused':
    case 'review':
    case 'over':
      return state;
  }
}

function begin(state: Recovery, input: RecoverTask, now: number): Recovery {
  const subject = subjectOf(state, input);
  const { immediate, reason, agentId } = input.payload;
  const wait = immediate ? 0 : delayBefore(subject.settings, state.taskId, state.attempts + 1);
  const from = wait === 0 ? now : Math.max(now, saidAt(input)) + wait;
  const doubt = isBack(state, input.payload)
    ? { isDoubted: true, doubtedUntil: Math.max(from, now + endIsHeardMs) }
    : {};
  const notBefore = immediate ? null : limitedUntil(input, subject.settings, now);
  const limit = notBefore === null || notBefore <= from ? {} : { limitedUntil: notBefore };
  const dueAt = Math.max(from, doubt.doubtedUntil ?? from, notBefore ?? from);
  return {
    ...state,
    subject,
    base: attemptOf(state, agentId) ? state.base : agentId,
    situation: { is: 'waiting', dueAt, immediate, withheld: 0, why: reason, ...doubt, ...limit },
  };
}

/**
 * Until then a fresh agent would meet the limit of the dead one. After the longest wait that the policy allows the agent is replaced, and finds
 * out. A person who asks does not wait for it.
 */
function limitedUntil(
  { payload: { notBefore } }: RecoverTask,
  { limitWaitMs }: RecoverySettings,
  now: number,
): number | null {
  return notBefore === null || notBefore <= now ? null : Math.min(notBefore, now + limitWaitMs);
}

/** The end of an agent is heard within so long after its recovery is asked for. */
const endIsHeardMs = 10_000;

/** The time of the task key space may be seconds behind that of the case: no pause gets shorter by it. A person's clock counts for nothing. */
function saidAt({ occurredAt, payload }: RecoverTask): number {
  return payload.by === null ? occurredAt : 0;
}

function subjectOf(state: Recovery, { eventId, correlationId, policy, payload }: RecoverTask): Subject {
  const { agentId, instanceId, caseId, runtimeId, reason, completedWork, remainingWork, labels } = payload;
  const holder = state.holders.find((one) => one.agentId === agentId && isBad(one.state));
  return {
    cause: eventId,
    correlationId,
    policy,
    ...{ agentId, instanceId, caseId, runtimeId, reason, completedWork, remainingWork, labels },
    checkpointId: payload.checkpoint?.checkpointId ?? state.checkpoints.at(-1)?.checkpointId ?? null,
    stall: holder?.stall ?? stallOf(reason),
    idleMinutes: payload.idleMinutes,
    contextUsagePct: payload.contextUsagePct,
    settings: readSettings(state.taskId, payload.recovery),
  };
}
