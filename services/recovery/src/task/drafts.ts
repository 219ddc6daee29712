import type { Breaker } from '@vigil/circuit-breaker';
import { type Draft, type RestOf, type Topic, usableCheckpoints } from '@vigil/events';
import { handoverText } from '../adapters/omniclaude-prompt.ts';
import { checkpointIn, seenFrom } from '../checkpoints/checkpoints.ts';
import { workFrom } from '../checkpoints/work.ts';
import { type Assignee, limitOf, type Recovery, type Situation, type Subject } from './state.ts';

export type Output = Draft<
  | typeof Topic.taskRecovery
  | typeof Topic.admitStep
  | typeof Topic.agentOrder
  | typeof Topic.decideCase
  | typeof Topic.agentHealthcheck
>;

type Story = Draft<typeof Topic.taskRecovery>;

type OfTask = Pick<Recovery, 'taskId'>;

/** One event of task-recovery about this task. */
export const taskStory = <K extends Story['type']>(
  { taskId }: Recovery,
  type: K,
  payload: RestOf<typeof Topic.taskRecovery, K, OfTask>,
) => ({ topic: 'onex.evt.recovery.task-recovery.v1', type, key: taskId, payload: { taskId, ...payload } }) as const;

/** The breaker's new state, where it has not been announced. */
export const breakerChanged = (state: Recovery, to: Breaker['state'] = state.breaker.state): readonly Story[] => {
  const { breaker, emitted, subject } = state;
  if (to === emitted.breaker) return [];
  const payload = {
    name: 'recovery_attempt',
    from: emitted.breaker,
    to,
    agentId: subject?.agentId ?? null,
    failures: breaker.failures,
    nextAttemptAt: to === 'OPEN' && breaker.state === 'OPEN' ? breaker.nextAttemptAt : null,
  };
  return [taskStory(state, 'CIRCUIT_BREAKER_STATE_CHANGED', payload)];
};

export const admitSpawn = (state: Recovery, subject: Subject): Draft<typeof Topic.admitStep> => {
  const payload = {
    requestId: `${subject.cause}-${state.requests + 1}`,
    taskId: state.taskId,
    attempt: state.attempts + 1,
    newAgentId: nextAgent(state),
    preferRuntimeId: subject.runtimeId,
    notRuntimeIds: state.avoid,
    labels: subject.labels,
    maxPerHour: subject.settings.maxAttemptsPerHour,
  };
  return { topic: 'onex.cmd.intervention.admit-step.v1', type: 'ADMIT_SPAWN', key: 'fleet', payload };
};

/** Withdraws a request, or an admission, that is not needed. */
export const withdrawn = ({ unused, subject, taskId }: Recovery): readonly Draft<typeof Topic.admitStep>[] => {
  if (unused === null) return [];
  const { caseId, agentId } = subject ?? { caseId: null, agentId: taskId };
  const payload = { requestId: unused, caseId: caseId ?? '', agentId, why: 'nothing is spawned by it' };
  return [{ topic: 'onex.cmd.intervention.admit-step.v1', type: 'WITHDRAW_STEP', key: 'fleet', payload }];
};

/** The longest key is 128 characters. */
const nextAgent = ({ base, serial }: Recovery): string => {
  const suffix = `-r${serial + 1}`;
  return base.slice(0, 128 - suffix.length) + suffix;
};

type Admitted = Extract<Situation, { readonly kind: 'admitted' }>;

/** The attempt and its order. The order has the id of the request that admitted it. */
export const initiated = (
  state: Recovery,
  subject: Subject,
  { requestId, runtimeId }: Admitted,
): readonly [Story, Draft<typeof Topic.agentOrder>] => {
  const { from, skipped } = usableCheckpoints(seenFrom(runtimeId, state));
  const { taskId } = state;
  const attempt = state.attempts + 1;
  const of = limitOf(state, subject);
  const agentId = nextAgent(state);
  const story = taskStory(state, 'RECOVERY_INITIATED', {
    fromCheckpoint: from[0]?.checkpointId ?? 'task-start',
    attempt,
    of,
    newAgentId: agentId,
    deadAgentId: subject.agentId,
    orderId: requestId,
    runtimeId,
    skipped,
  });
  const work = workFrom(subject, from[0]);
  const payload = {
    orderId: requestId,
    number: 0,
    agentId,
    instanceId: null,
    runtimeId,
    caseId: subject.caseId,
    taskId,
    // The other half is for the start and the first heartbeat. Begun at the last moment, the agent would live beside the next attempt.
    ttlMs: Math.floor(subject.settings.spawnDeadlineMs / 2),
    foldedSequence: null,
    axes: [],
    requestId,
    attempt,
    maxAttempts: of,
    checkpoints: from.map(checkpointIn),
    completedWork: work.completed,
    remainingWork: work.remaining,
    stallReason: subject.reason,
    handover: handoverText({ taskId, attempt, of, checkpoint: from[0], work }),
    deadAgentId: subject.agentId,
    deadInstanceId: subject.instanceId,
    labels: subject.labels,
  };
  return [story, { topic: 'onex.cmd.agent-runtime.agent-order.v1', type: 'SPAWN_AGENT', key: agentId, payload }];
};

/** Requests the end of an attempt beside a later one, or before it. */
export const endRival = (
  { taskId, subject }: Recovery,
  { agentId, instanceId, runtimeId }: Assignee & { readonly instanceId: string },
  why: string,
  askedAt: number,
): Draft<typeof Topic.decideCase> => {
  const payload = {
    agentId,
    instanceId,
    taskId,
    runtimeId,
    step: 'terminate',
    message: null,
    by: 'recovery',
    why,
    labels: subject?.labels ?? {},
    recovery: null,
    askedAt,
  } as const;
  return { topic: 'onex.cmd.intervention.decide-case.v1', type: 'REQUEST_STEP', key: agentId, payload };
};
