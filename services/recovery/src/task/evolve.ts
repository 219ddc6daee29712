import * as breaker from '@vigil/circuit-breaker';
import type { PayloadOf, Topic } from '@vigil/events';
import type { Output } from './drafts.ts';
import { assigneeOf, ownAssignee } from './instances.ts';
import { delayBefore } from './settings.ts';
import { attemptOf, type EndRequest, isBad, notUsed, type Recovery, remember, type Situation } from './state.ts';

/** The state at this moment: an attempt whose deadline has passed without a heartbeat has failed. */
export const lapsed = (state: Recovery, now: number): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'spawning' || assigneeOf(state, situation.attempt.agentId)) return state;
  return situation.failed || now > situation.deadlineAt ? lapse(state) : state;
};

/** The failure of the spawned attempt, at its own moment and not at the moment of the check. */
const lapse = (state: Recovery): Recovery => {
  const { situation, subject } = state;
  if (situation.kind !== 'spawning' || !subject) return state;
  const { settings } = subject;
  const at = situation.failed?.at ?? situation.deadlineAt;
  const why =
    situation.failed?.why ?? `no heartbeat of ${situation.attempt.agentId} within ${settings.spawnDeadlineMs} ms`;
  return {
    ...state,
    avoid: remember(state.avoid, situation.runtimeId),
    breaker: breaker.fail(state.breaker, situation.attempt.generation, settings.breaker, at),
    situation: {
      kind: 'waiting',
      dueAt: at + delayBefore(settings, state.taskId, state.attempts + 1),
      immediate: false,
      withheld: 0,
      why,
    },
  };
};

/** Folds an output. An attempt that is reported as failed has lapsed. */
export const evolve = (state: Recovery, draft: Output): Recovery => {
  switch (draft.type) {
    case 'ADMIT_SPAWN':
      return requesting(lapse(state), draft.payload.requestId);
    case 'RECOVERY_INITIATED':
      return spawning(state, draft.payload);
    case 'RECOVERY_COMPLETED':
      return probation(state, draft.payload.newAgentId);
    case 'PROBATION_PASSED':
      return stable(state);
    case 'RECOVERY_FAILED':
      return { ...lapse(state), situation: { kind: 'review', review: null } };
    case 'REVIEW_DECIDED':
      return reviewed(state);
    case 'SPAWN_IMPOSSIBLE':
      return impossibleReported(state);
    case 'RECOVERY_WAITING':
      return waitingReported(state, draft.payload.refusals);
    case 'TASK_RELEASED':
      return released(state, draft.payload.why === 'reassigned' || draft.payload.why === 'left');
    case 'CIRCUIT_BREAKER_STATE_CHANGED':
      return breakerReported(lapse(state), draft.payload.to as breaker.Breaker['state']);
    case 'AGENT_HEALTHCHECK': {
      const { status, checkpoint_path: path, recovery_action: action } = draft.payload;
      return { ...state, emitted: { ...state.emitted, healthcheck: { status, path, action } } };
    }
    case 'REQUEST_STEP':
      return {
        ...state,
        emitted: { ...state.emitted, endRequests: endRequestsAfter(state.emitted.endRequests, draft.payload) },
      };
    case 'WITHDRAW_STEP':
      return { ...state, unused: null };
    case 'RECOVERY_REFUSED':
    case 'REVIEW_REQUIRED':
    case 'SPAWN_AGENT':
    case 'ADMIT_STEP':
    case 'DECIDE_CASE':
    case 'BLOCK_TASK':
    case 'HANDOFF_AGENT':
    case 'NUDGE_AGENT':
    case 'PAUSE_AGENT':
    case 'PROBE_AGENT':
    case 'RESET_BREAKER':
    case 'RESUME_AGENT':
    case 'INTERRUPT_AGENT':
    case 'RESUME_SESSION':
    case 'TERMINATE_AGENT':
      return state;
  }
};

const requesting = (state: Recovery, requestId: string): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'waiting') return state;
  const { dueAt: _, isDoubted: __, doubtedUntil: ___, ...next } = situation;
  return {
    ...state,
    endAwaited: null,
    requests: state.requests + 1,
    situation: { ...next, kind: 'requesting', requestId, impossible: null },
  };
};

const impossibleReported = (state: Recovery): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'requesting' || situation.impossible === null) return state;
  return { ...state, situation: { ...situation, impossible: { ...situation.impossible, isReported: true } } };
};

type Initiated = PayloadOf<typeof Topic.taskRecovery, 'RECOVERY_INITIATED'>;

const spawning = (state: Recovery, { newAgentId, attempt: number, orderId, runtimeId }: Initiated): Recovery => {
  const { situation, subject } = state;
  if (situation.kind !== 'admitted' || !subject) return state;
  const attempt = { agentId: newAgentId, number, generation: state.breaker.generation };
  const deadlineAt = situation.at + subject.settings.spawnDeadlineMs;
  return {
    ...state,
    attempts: state.attempts + 1,
    serial: state.serial + 1,
    tried: remember(state.tried, attempt),
    unseen: remember(state.unseen, newAgentId),
    breaker: breaker.admit(state.breaker),
    situation: { kind: 'spawning', attempt, orderId, runtimeId, deadlineAt, failed: null },
  };
};

const probation = (before: Recovery, agentId: string): Recovery => {
  const isCurrent = before.situation.kind === 'spawning' && before.situation.attempt.agentId === agentId;
  const state = isCurrent ? before : notUsed(lapse(before));
  const assignee = assigneeOf(state, agentId);
  const attempt = attemptOf(state, agentId);
  if (!assignee || !attempt) return state;
  const failing = isBad(assignee.state) ? assignee.state : null;
  return {
    ...state,
    avoid: [],
    endAwaited: null,
    situation: { kind: 'probation', attempt, since: assignee.since, failing },
  };
};

/** An attempt that was given up, under an earlier state of the breaker, also closes it by passing. */
const stable = (state: Recovery): Recovery => {
  const { situation, subject } = state;
  if (situation.kind !== 'probation' || !subject) return state;
  const { attempt, since } = situation;
  return {
    ...state,
    breaker: breaker.reset(state.breaker),
    situation: { kind: 'stable', attempt, since: since + subject.settings.probationMs },
  };
};

/** A task whose assignee has changed, or that has none, keeps its count: attempts belong to the task. */
const released = (before: Recovery, keepsCount: boolean): Recovery => {
  const state = notUsed(before);
  const count = keepsCount ? {} : { attempts: 0, granted: 0 };
  return {
    ...state,
    ...count,
    avoid: [],
    endAwaited: null,
    breaker: breaker.reset(state.breaker),
    situation: { kind: 'idle' },
  };
};

/**
 * retry: one more attempt, at once, or after the end of the attempt that fails and is alive. reset: start again from one. abandon: give the
 * task up.
 */
const reviewed = (state: Recovery): Recovery => {
  const { situation, subject } = state;
  if (situation.kind !== 'review' || !situation.review || !subject) return state;
  const { decision, at, by } = situation.review;
  const waiting: Situation = { kind: 'waiting', dueAt: at, immediate: true, withheld: 0, why: `asked for by ${by}` };
  switch (decision) {
    case 'retry': {
      const granted = Math.max(state.granted, state.attempts + 1 - subject.settings.maxAttempts);
      return { ...state, granted, endAwaited: failingInstance(state), situation: waiting };
    }
    case 'reset':
      return {
        ...state,
        attempts: 0,
        granted: 0,
        endAwaited: failingInstance(state),
        breaker: breaker.reset(state.breaker),
        situation: waiting,
      };
    case 'abandon':
      return { ...state, situation: { kind: 'over', why: 'abandoned', detail: situation.review.why } };
    case 'UNKNOWN':
      return { ...state, situation: { kind: 'review', review: null } };
  }
};

/** An agent without an instance cannot be ended: it continues. */
const failingInstance = (state: Recovery): string | null => {
  const own = ownAssignee(state);
  return own && isBad(own.state) ? own.instanceId : null;
};

const breakerReported = (state: Recovery, to: breaker.Breaker['state']): Recovery => {
  const trial = to === 'HALF_OPEN' ? breaker.tryAgain(state.breaker) : state.breaker;
  return { ...state, breaker: trial, emitted: { ...state.emitted, breaker: to } };
};

const endRequestsAfter = (
  before: readonly EndRequest[],
  { instanceId: instance, askedAt }: PayloadOf<typeof Topic.decideCase, 'REQUEST_STEP'>,
): readonly EndRequest[] => {
  const times = before.find((one) => one.instance === instance)?.times ?? 0;
  const others = before.filter((one) => one.instance !== instance);
  return remember(others, { instance, at: askedAt ?? 0, times: times + 1 });
};

/** RECOVERY_WAITING without refusals is about a limit. */
const waitingReported = (state: Recovery, refusals: number): Recovery => {
  if (state.situation.kind !== 'waiting') return state;
  const { limitedUntil: _, ...situation } = state.situation;
  if (refusals === 0) return { ...state, situation };
  return { ...state, situation: { ...state.situation, isWaitingReported: true } };
};
