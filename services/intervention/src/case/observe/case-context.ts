import type { Evidence, RequestStepPayload, WarrantFiledPayload, WarrantRenewedPayload } from '@vigil/events';
import { HANDOFF, type RecoverySettings, type Step, stepOf } from '@vigil/policy';
import type { CaseContext } from '../case-context.ts';
import type { InputOf, Instance } from '../state.ts';

/** The evidence as one sentence for people, at most 300 characters. */
export const describeEvidence = (evidence: readonly Evidence[]): string =>
  evidence
    .map(({ words }) => words)
    .join('; ')
    .slice(0, 300);

/** `now`: when the warrant is received. */
export const contextOfWarrant = (
  { payload, correlationId, policy }: InputOf<'WARRANT_FILED' | 'WARRANT_RENEWED'>,
  now: number,
): CaseContext => {
  return {
    ...figuresOf(payload, now),
    caseId: `case-${payload.warrantId}`,
    warrantId: payload.warrantId,
    by: null,
    agentId: payload.agentId,
    instanceId: payload.instanceId,
    taskId: payload.taskId,
    attempt: payload.attempt,
    episodeId: payload.episodeId,
    planName: payload.planName,
    steps: payload.plan.map(stepOf),
    recovery: payload.recovery,
    correlationId,
    policy,
  };
};

/** The fields that each renewal updates. */
export const figuresOf = (payload: WarrantFiledPayload | WarrantRenewedPayload, now: number) => ({
  ...('suspendedBy' in payload && payload.suspendedBy !== null && { suspendedBy: payload.suspendedBy }),
  runtimeId: payload.runtimeId,
  labels: payload.labels,
  state: payload.state,
  axes: payload.axes,
  awaits: payload.awaits,
  hard: payload.hard,
  confidences: payload.evidence.map(({ confidence }) => confidence),
  foldedSequence: payload.foldedSequence,
  voidAt: payload.voidAt,
  reason: describeEvidence(payload.evidence),
  lastOutput: payload.lastOutput,
  evidence: payload.evidence,
  checkpoint: payload.checkpoint,
  client: payload.client,
  workedMinutes: payload.workedMinutes,
  figuresAt: now,
  finding: payload.finding,
  advice: payload.advice,
  idleMinutes: payload.idleMinutes,
  contextUsagePct: payload.contextUsagePct,
  limitedUntil: payload.limitedUntil,
  ended: payload.endReason !== null,
});

/** A terminate that a person requested: with the default grace, and without conditions. */
export const requestedTerminate: Extract<Step, { step: 'terminate' }> = {
  step: 'terminate',
  graceMs: 30_000,
  cleanupMs: 30_000,
  leave: 'in_progress',
  release: [],
  requires: [],
};

/** A handoff that a person requested. */
export const requestedHandoff: Extract<Step, { step: 'handoff' }> = {
  step: 'handoff',
  deadlineMs: 300_000,
  message: HANDOFF,
};

/** The usual recovery settings: used where the request has no others. */
const requestedRecovery: RecoverySettings = {
  maxAttempts: 3,
  delaysMs: [0, 60_000, 120_000, 240_000],
  jitter: 0.2,
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

const stepsOf = ({ step, message, why }: RequestStepPayload): readonly Step[] => {
  switch (step) {
    case 'nudge':
      return [{ step, attempts: 1, intervalMs: 60_000, message: message ?? why }];
    case 'handoff':
      return [{ ...requestedHandoff, message: message ?? why }];
    case 'terminate':
    case 'restart':
      return [requestedTerminate];
    case 'terminate_and_recover':
      return [requestedTerminate, { step: 'recover' }];
    case 'UNKNOWN':
      return [];
  }
};

/** `known`: the context of the case that the request replaces. Its recovery settings hold where the request has none. */
export const contextOfRequest = (
  { payload, eventId, correlationId, policy }: InputOf<'REQUEST_STEP'>,
  instance: Instance | null,
  known: CaseContext | null,
): CaseContext => ({
  caseId: `case-${eventId}`,
  warrantId: null,
  by: payload.by,
  agentId: payload.agentId,
  instanceId: payload.instanceId,
  runtimeId: payload.runtimeId ?? instance?.runtimeId ?? null,
  taskId: payload.taskId,
  episodeId: null,
  labels: payload.labels,
  state: 'UNKNOWN',
  axes: [],
  awaits: null,
  hard: false,
  foldedSequence: null,
  voidAt: null,
  planName: `by hand: ${payload.step}`,
  steps: stepsOf(payload),
  ...(payload.step === 'restart' ? { restarts: true } : {}),
  recovery: payload.recovery ?? known?.recovery ?? requestedRecovery,
  reason: payload.why,
  evidence: [],
  checkpoint: null,
  client: known?.client ?? null,
  workedMinutes: null,
  finding: '',
  advice: '',
  idleMinutes: null,
  contextUsagePct: null,
  limitedUntil: null,
  ended: instance?.instanceId === payload.instanceId && instance.ended,
  correlationId,
  policy: policy ?? known?.policy ?? null,
});
