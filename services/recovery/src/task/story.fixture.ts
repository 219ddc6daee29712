import { type HealthEvent, type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import type { RecoverySettings } from '@vigil/policy';
import { given } from '@vigil/stream/testing';
import { recovery } from '../processor.ts';
import type { Output } from './drafts.ts';
import type { Input } from './observe.ts';

export const TASK = 'OMN-1234';
export const start = EXAMPLE_TIME;

export const settings: RecoverySettings = {
  maxAttempts: 3,
  delaysMs: [0, 60_000, 120_000],
  jitter: 0,
  spawnDeadlineMs: 120_000,
  probationMs: 900_000,
  stableMs: 1_800_000,
  limitWaitMs: 86_400_000,
  onProbationFailure: 'retry',
  breaker: { failureThreshold: 3, recoveryTimeoutMs: 60_000, halfOpenRequests: 1 },
  emitHealthcheck: false,
  resetAttempts: 'after_stable',
  maxAttemptsPerHour: null,
};

/** One task's story: each call gives an input at the present moment, or lets time pass, and returns the outputs. */
export const openStory = () => {
  const driver = given(recovery, start);
  const now = () => driver.clock().now;
  let received = 0;
  const receive = (event: Input): readonly Output[] => {
    received += 1;
    return driver.receive({ ...event, eventId: `e${received}` });
  };
  return {
    receive,
    wait: (ms: number) => driver.passTo(now() + ms),
    away: driver.unwatched,
    state: driver.state,
    now,
  };
};
export type Story = ReturnType<typeof openStory>;

const dead = { agentId: 'worker-1', instanceId: 'worker-1.i1', taskId: TASK };

export const recoverTask = (
  overrides: Partial<PayloadOf<typeof Topic.recoverTask, 'RECOVER_TASK'>> = {},
  recover: Partial<RecoverySettings> = {},
): Input => {
  const payload = {
    ...dead,
    reason: 'no_activity',
    confirmed: true,
    immediate: false,
    by: null,
    checkpoint: null,
    completedWork: [],
    remainingWork: [],
    idleMinutes: 3.2,
    contextUsagePct: null,
    labels: {},
    recovery: { ...settings, ...recover },
  };
  return example(Topic.recoverTask, 'RECOVER_TASK', { ...payload, ...overrides });
};

export const health = (overrides: Partial<PayloadOf<typeof Topic.taskHealth, 'TASK_HEALTH_CHANGED'>>): Input => {
  const payload = { ...dead, attempt: null, hold: 'kept', from: 'UNKNOWN', to: 'HEALTHY', endReason: null } as const;
  return example(Topic.taskHealth, 'TASK_HEALTH_CHANGED', {
    ...payload,
    ...{ ordered: false, verified: false, evidence: [], emitHealthcheck: false },
    ...overrides,
  });
};

export const took = (agentId: string): Input => health({ agentId, instanceId: `${agentId}.i1`, hold: 'took' });
export const turned = (agentId: string, to: 'STUCK' | 'FAILING' | 'HEALTHY' | 'DEGRADED'): Input =>
  health({ agentId, instanceId: `${agentId}.i1`, to });
export const left = (agentId: string, endReason: 'finished' | 'crashed'): Input =>
  health({ agentId, instanceId: `${agentId}.i1`, hold: 'left', to: 'TERMINATED', endReason });

export const checkpoint = (checkpointId: string, parentId: string | null = null) => ({
  ...{ checkpointId, parentId, uri: `file:///state/${checkpointId}.yaml`, sha256: null },
  ...{ valid: null, invalidReason: null, createdAt: null, completedWork: [], remainingWork: [] },
});
export const recorded = (checkpointId: string, parentId: string | null = null, agentId = 'worker-1'): Input =>
  example(Topic.taskCheckpoint, 'CHECKPOINT_RECORDED', {
    taskId: TASK,
    agentId,
    checkpoint: checkpoint(checkpointId, parentId),
  });
/** The checkpoint again, after the agent's runtime has read it. `invalidReason` null: it is valid. */
export const readByRuntime = (checkpointId: string, invalidReason: string | null): Input =>
  example(Topic.taskCheckpoint, 'CHECKPOINT_RECORDED', {
    taskId: TASK,
    checkpoint: { ...checkpoint(checkpointId), valid: invalidReason === null, invalidReason },
  });

export const review = (decision: 'retry' | 'abandon' | 'reset'): Input =>
  example(Topic.reviewTask, 'REVIEW_TASK', { taskId: TASK, decision, by: 'ada', why: 'seen' });

/** The governor's answer to the last request. */
export const admit = (story: Story, overrides: Partial<PayloadOf<typeof Topic.spawnRuling, 'SPAWN_ADMITTED'>> = {}) => {
  const { situation } = story.state();
  const requestId = situation.kind === 'requesting' ? situation.requestId : 'none';
  const payload = { taskId: TASK, requestId, runtimeId: 'host-1', validUntil: story.now() + 30_000, dryRun: false };
  return story.receive(example(Topic.spawnRuling, 'SPAWN_ADMITTED', { ...payload, ...overrides }));
};

export const withhold = (
  story: Story,
  why: 'halted' | 'brake' | 'budget' | 'no_runtime' | 'no_template' = 'halted',
) => {
  const { situation } = story.state();
  const requestId = situation.kind === 'requesting' ? situation.requestId : 'none';
  const detail = why === 'budget' ? '5 spawns an hour for fleet; free in 12 min' : why;
  return story.receive(example(Topic.spawnRuling, 'SPAWN_WITHHELD', { taskId: TASK, requestId, why, detail }));
};

/** The runtime's receipt for the last order. */
export const receipt = (story: Story, overrides: Partial<PayloadOf<typeof Topic.spawnReceipt, 'SPAWN_RECEIPT'>>) => {
  const { situation } = story.state();
  const orderId = situation.kind === 'spawning' ? situation.orderId : 'none';
  const payload = { taskId: TASK, orderId, why: null, checkpointId: null, skipped: [] };
  return story.receive(example(Topic.spawnReceipt, 'SPAWN_RECEIPT', { ...payload, ...overrides }));
};

/** From a death to an agent that is alive, as attempt `n`. */
export const revive = (story: Story, n: number, agentId = `worker-1-r${n}`) => {
  story.wait(600_000);
  return [...admit(story), ...story.receive(took(agentId))];
};

export const types = (emitted: readonly (Output | HealthEvent)[]): readonly string[] => emitted.map((one) => one.type);
export const find = <K extends Output['type']>(emitted: readonly Output[], type: K) =>
  emitted.filter((one): one is Extract<Output, { readonly type: K }> => one.type === type)[0]?.payload;
