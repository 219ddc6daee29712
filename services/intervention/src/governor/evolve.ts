import type { SpawnWithheldPayload, StepWithheldPayload } from '@vigil/events';
import { brakeFor, incidentsOf } from './incidents.ts';
import { requestIdOf } from './observe.ts';
import { asAwaited, leftToPeople } from './presence.ts';
import { validMs } from './settings.ts';
import type { AdmissionRequest, Admitted, GovernorDraft, GovernorState } from './state.ts';

export const evolve = (state: GovernorState, draft: GovernorDraft): GovernorState => {
  switch (draft.type) {
    case 'FLEET_HALTED':
      return { ...state, halted: true };
    case 'FLEET_RESUMED':
      return { ...state, halted: false };
    case 'DRY_RUN_CHANGED':
      return { ...state, dryRun: draft.payload.on };
    case 'BRAKE_ENGAGED':
      return engaged(state, draft.payload.agentIds);
    case 'BRAKE_RELEASED':
      return { ...state, brake: null };
    case 'STEP_WITHHELD':
      return withheld(state, draft.payload);
    case 'SPAWN_WITHHELD':
      return spawnWithheld(state, draft.payload);
    case 'STEP_ADMITTED':
    case 'SPAWN_ADMITTED':
      return admitted(state, draft);
  }
};

const engaged = (state: GovernorState, agentIds: readonly string[]): GovernorState => {
  const lost = new Set(agentIds);
  const awaited = state.losses.filter(({ agentId }) => lost.has(agentId)).map(asAwaited);
  return {
    ...state,
    losses: state.losses.filter(({ agentId }) => !lost.has(agentId)),
    brake: brakeFor([...incidentsOf(state.brake), awaited]),
  };
};

/** A step waits on until its reason is over or it is withdrawn. */
const withheld = (state: GovernorState, { requestId, why }: StepWithheldPayload): GovernorState => ({
  ...state,
  requests: state.requests.map((request) =>
    request.kind === 'step' && request.step.requestId === requestId ? { ...request, withheld: why } : request,
  ),
});

const spawnWithheld = (state: GovernorState, { why, requestId, taskId }: SpawnWithheldPayload): GovernorState => {
  if (why === 'no_template') return waitsForTemplate(state, requestId);
  // Recovery then escalates to people, and does not request a ruling of the governor again.
  return answered(why === 'budget' ? leftToPeople(state, taskId) : state, requestId);
};

/** It waits until a runtime announces a template that fits, or it is withdrawn. */
const waitsForTemplate = (state: GovernorState, requestId: string): GovernorState => ({
  ...state,
  requests: state.requests.map((request) =>
    request.kind === 'spawn' && request.spawn.requestId === requestId
      ? { ...request, withheld: 'no_template' }
      : request,
  ),
});

const answered = (state: GovernorState, requestId: string): GovernorState => ({
  ...state,
  requests: state.requests.filter((request) => requestIdOf(request) !== requestId),
});

type AdmittedDraft = Extract<GovernorDraft, { readonly type: 'STEP_ADMITTED' | 'SPAWN_ADMITTED' }>;

/** A dry run uses nothing up, and neither does a soft step. */
const admitted = (state: GovernorState, draft: AdmittedDraft): GovernorState => {
  const { requestId, validUntil, dryRun } = draft.payload;
  const request = state.requests.find((one) => requestIdOf(one) === requestId);
  const rest = answered(state, requestId);
  if (request === undefined || dryRun || !counts(request)) return rest;
  const runtimeId = draft.type === 'SPAWN_ADMITTED' ? draft.payload.runtimeId : null;
  const one: Admitted = {
    kind: request.kind,
    requestId,
    scope: request.scope,
    runtimeId,
    ...(request.kind === 'step'
      ? { agentId: request.step.agentId }
      : { agentId: request.spawn.newAgentId, taskId: request.spawn.taskId }),
    at: validUntil - validMs,
  };
  return { ...rest, admitted: [...rest.admitted, one] };
};

const counts = (request: AdmissionRequest): boolean => request.kind === 'spawn' || request.step.class !== 'soft';
