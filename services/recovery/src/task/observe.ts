import * as breaker from '@vigil/circuit-breaker';
import type { EventOf, PayloadOf, Topic } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import { knownFrom, readAt, rememberCheckpoint } from '../checkpoints/checkpoints.ts';
import { livingAssignees, primaryAssignee } from './instances.ts';
import { observeHealth } from './observe-health.ts';
import { observeRequest } from './observe-request.ts';
import type { Claim, Recovery } from './state.ts';

export type Input = EventOf<
  | typeof Topic.taskHealth
  | typeof Topic.recoverTask
  | typeof Topic.reviewTask
  | typeof Topic.spawnRuling
  | typeof Topic.spawnReceipt
  | typeof Topic.taskCheckpoint
>;
type Admitted = PayloadOf<typeof Topic.spawnRuling, 'SPAWN_ADMITTED'>;
type Withheld = PayloadOf<typeof Topic.spawnRuling, 'SPAWN_WITHHELD'>;
type Receipt = PayloadOf<typeof Topic.spawnReceipt, 'SPAWN_RECEIPT'>;

/** When a withheld spawn is requested again, milliseconds; the last repeats. A halt or a brake lasts, so waiting costs nothing. */
const retryDelaysMs = [5_000, 10_000, 20_000, 60_000];

export const observe = (before: Recovery, input: Input, { now }: Clock): Recovery => {
  const state = before.taskId === '' ? { ...before, taskId: input.payload.taskId } : before;
  return withClaims(observeInput(state, input, now));
};

const observeInput = (state: Recovery, input: Input, now: number): Recovery => {
  switch (input.type) {
    case 'TASK_HEALTH_CHANGED':
      return observeHealth(state, input.payload, now);
    case 'CHECKPOINT_RECORDED':
      return claimed(state, { ...input.payload, checkpoint: knownFrom(input) });
    case 'RECOVER_TASK':
      return observeRequest(state, input, now);
    case 'REVIEW_TASK': {
      const { decision, by, why } = input.payload;
      if (state.situation.kind !== 'review' || decision === 'UNKNOWN') return state;
      return { ...state, situation: { kind: 'review', review: { decision, by, why, at: now } } };
    }
    case 'SPAWN_ADMITTED':
      return observeAdmission(state, input.payload, now);
    case 'SPAWN_WITHHELD':
      return observeWithheld(state, input.payload, now);
    case 'SPAWN_RECEIPT':
      return observeReceipt(state, input.payload, now);
  }
};

/**
 * Only the agent that has the task, or had it last, and the last attempt of recovery write its checkpoints. A second
 * agent on the task does not. Neither does a writer to Kafka, if the gateway verifies the agent that has or had the task.
 */
const mayWriteCheckpoint = (state: Recovery, { agentId, verified }: Claim): boolean => {
  const own = livingAssignees(state).find((one) => one.agentId === agentId);
  const assignee = primaryAssignee(state) ?? state.lastAssignee;
  if ((own?.verified || assignee?.verified) && !verified) return false;
  return assignee === undefined || assignee.agentId === agentId || state.tried.at(-1)?.agentId === agentId;
};

/** The most claims that are kept. */
const CLAIMS_KEPT = 8;

/** It is written once, perhaps before the record by which its agent has the task. */
const claimed = (state: Recovery, { agentId, verified, checkpoint }: Claim): Recovery => {
  const others = state.claims.filter(
    (one) =>
      one.agentId !== agentId || one.verified !== verified || one.checkpoint.checkpointId !== checkpoint.checkpointId,
  );
  return { ...state, claims: [...others, { agentId, verified, checkpoint }].slice(-CLAIMS_KEPT) };
};

/** Takes over the checkpoints of agents that may write them by now. */
const withClaims = (state: Recovery): Recovery => {
  const { may = [], not = [] } = Object.groupBy(state.claims, (one) =>
    mayWriteCheckpoint(state, one) ? 'may' : 'not',
  );
  if (may.length === 0) return state;
  const checkpoints = may.reduce((known, { checkpoint }) => rememberCheckpoint(known, checkpoint), state.checkpoints);
  return { ...state, checkpoints, claims: not };
};

/** An admission that is read too late, or was given in a dry run, does not count. A late one returns to the budget. */
const observeAdmission = (
  state: Recovery,
  { requestId, runtimeId, validUntil, dryRun }: Admitted,
  now: number,
): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'requesting' || situation.requestId !== requestId) return state;
  if (dryRun) return requestedLater(state, 'the fleet is in a dry run', now);
  if (now > validUntil) return requestedLater({ ...state, unused: requestId }, 'its admission was read too late', now);
  const { impossible: _, ...next } = situation;
  return { ...state, situation: { ...next, kind: 'admitted', runtimeId, at: now } };
};

/** Over the budget of spawns people decide. Where no runtime is left, those at which a spawn has failed may be tried again. */
const observeWithheld = (state: Recovery, { requestId, why, detail }: Withheld, now: number): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'requesting' || situation.requestId !== requestId) return state;
  if (why === 'no_template')
    return {
      ...state,
      situation: { ...situation, impossible: { reason: detail, isReported: situation.impossible !== null } },
    };
  if (why === 'budget') return { ...state, situation: { kind: 'refused', why: `${detail}: ${situation.why}` } };
  return requestedLater(why === 'no_runtime' ? { ...state, avoid: [] } : state, detail, now);
};

const requestedLater = (state: Recovery, refusal: string, now: number): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'requesting') return state;
  const { impossible: _, requestId: __, ...next } = situation;
  const after = retryDelaysMs[Math.min(next.withheld, retryDelaysMs.length - 1)] ?? 0;
  return {
    ...state,
    situation: { ...next, kind: 'waiting', dueAt: now + after, withheld: next.withheld + 1, refusal },
  };
};

/** A receipt of an order that is no longer awaited changes nothing: task-health shows what its agent does. */
const observeReceipt = (state: Recovery, receipt: Receipt, now: number): Recovery => {
  const { situation } = state;
  if (situation.kind !== 'spawning' || situation.orderId !== receipt.orderId) return state;
  const read = readAt(situation.runtimeId, state, receipt.skipped);
  switch (receipt.outcome) {
    case 'spawned':
      return { ...state, ...read };
    case 'uncertain':
    case 'UNKNOWN':
      return state;
    case 'checkpoint_invalid':
      return withPrevious(state, receipt, now);
    case 'halted':
      return notBegun(state, receipt, 'the fleet was halted', now);
    case 'not_needed':
      return { ...state, unused: receipt.orderId, situation: { kind: 'over', why: 'not_needed', detail: receipt.why } };
    case 'superseded':
    case 'expired':
    case 'failed': {
      const why = receipt.why === null ? receipt.outcome : `${receipt.outcome}: ${receipt.why}`;
      return situation.failed ? state : { ...state, ...read, situation: { ...situation, failed: { at: now, why } } };
    }
  }
};

/** Nothing was spawned: the same attempt is made again, from the checkpoint before. */
const withPrevious = (state: Recovery, receipt: Receipt, now: number): Recovery => {
  const named =
    receipt.checkpointId === null ? [] : [{ checkpointId: receipt.checkpointId, why: receipt.why ?? 'invalid' }];
  const { situation } = state;
  if (situation.kind !== 'spawning') return state;
  const read = readAt(situation.runtimeId, state, [...receipt.skipped, ...named]);
  const isNew =
    read.absent.at(-1) !== state.absent.at(-1) ||
    read.checkpoints.some((one, at) => one.valid === false && state.checkpoints[at]?.valid !== false);
  if (!isNew) {
    const why = `checkpoint_invalid: ${receipt.why ?? 'it names no checkpoint of the order'}`;
    return { ...state, situation: { ...situation, failed: { at: now, why } } };
  }
  return notBegun({ ...state, ...read }, receipt, receipt.why ?? 'checkpoint invalid', now);
};

/** No attempt: its uses are given back, and the spawn is requested again. */
const notBegun = (state: Recovery, { orderId }: Receipt, why: string, now: number): Recovery => ({
  ...state,
  unused: orderId,
  attempts: state.attempts - 1,
  serial: state.serial - 1,
  tried: state.tried.slice(0, -1),
  unseen: state.unseen.slice(0, -1),
  breaker: breaker.giveBack(state.breaker),
  situation: { kind: 'waiting', dueAt: now, immediate: true, withheld: 0, why },
});
