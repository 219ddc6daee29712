import { type BodyOf, Topic, type WithheldWhy } from '@vigil/events';
import { validMs } from './settings.ts';
import type { AdmissionRequest, GovernorDraft } from './state.ts';

type StepRequest = Extract<AdmissionRequest, { readonly kind: 'step' }>;
type SpawnRequest = Extract<AdmissionRequest, { readonly kind: 'spawn' }>;

export const govern = (body: BodyOf<typeof Topic.fleetGovernance>): GovernorDraft => ({
  topic: Topic.fleetGovernance,
  key: 'fleet',
  ...body,
});

export const brakeReleased = (by: string, why: string): GovernorDraft =>
  govern({ type: 'BRAKE_RELEASED', payload: { by, why } });

export const dryRunChanged = (on: boolean, by: string, why: string): GovernorDraft =>
  govern({ type: 'DRY_RUN_CHANGED', payload: { on, by, why } });

const named = ({ requestId, caseId, agentId, step }: StepRequest['step']) => ({ requestId, caseId, agentId, step });

export const stepAdmitted = ({ step, correlationId }: StepRequest, dryRun: boolean, now: number): GovernorDraft => ({
  topic: Topic.stepRuling,
  type: 'STEP_ADMITTED',
  key: step.agentId,
  correlationId,
  payload: { ...named(step), validUntil: now + validMs, dryRun },
});

export const stepWithheld = (
  { step, correlationId }: StepRequest,
  why: WithheldWhy,
  detail: string,
): GovernorDraft => ({
  topic: Topic.stepRuling,
  type: 'STEP_WITHHELD',
  key: step.agentId,
  correlationId,
  payload: { ...named(step), why, detail },
});

const spawning = ({ requestId, taskId, attempt }: SpawnRequest['spawn']) => ({ requestId, taskId, attempt });

export const spawnAdmitted = (
  { spawn, correlationId }: SpawnRequest,
  runtimeId: string,
  dryRun: boolean,
  now: number,
): GovernorDraft => ({
  topic: Topic.spawnRuling,
  type: 'SPAWN_ADMITTED',
  key: spawn.taskId,
  correlationId,
  payload: { ...spawning(spawn), runtimeId, validUntil: now + validMs, dryRun },
});

export const spawnWithheld = (
  { spawn, correlationId }: SpawnRequest,
  why: WithheldWhy,
  detail: string,
): GovernorDraft => ({
  topic: Topic.spawnRuling,
  type: 'SPAWN_WITHHELD',
  key: spawn.taskId,
  correlationId,
  payload: { ...spawning(spawn), why, detail },
});
