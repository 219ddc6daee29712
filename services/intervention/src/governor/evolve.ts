import type { SpawnWithheldPayload, StepWithheldPayload } from '@vigil/events';
import { brakeFor, incidentsOf } from './incidents.ts';
import { requestIdOf } from './observe.ts';
import { leftToPeople, missed } from './presence.ts';
import { validMs } from './settings.ts';
import type { Admitted, Asked, GovernorDraft, GovernorState } from './state.ts';

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
  const missing = state.losses.filter(({ agentId }) => lost.has(agentId)).map(missed);
  return {
    ...state,
    losses: state.losses.filter(({ agentId }) => !lost.has(agentId)),
    brake: brakeFor([...incidentsOf(state.brake), missing]),
  };
};

/** A step waits on until its reason is over or it is withdrawn. */
const withheld = (state: GovernorState, { requestId, why }: StepWithheldPayload): GovernorState => ({
  ...state,
  asked: state.asked.map((asked) =>
    asked.kind === 'step' && asked.step.requestId === requestId ? { ...asked, withheld: why } : asked,
  ),
});

const spawnWithheld = (state: GovernorState, { why, requestId, taskId }: SpawnWithheldPayload): GovernorState => {
  if (why === 'no_template') return waitsForTemplate(state, requestId);
  // Recovery asks people then, and not the governor again.
  return answered(why === 'budget' ? leftToPeople(state, taskId) : state, requestId);
};

/** It waits until a runtime announces a template that fits, or it is withdrawn. */
const waitsForTemplate = (state: GovernorState, requestId: string): GovernorState => ({
  ...state,
  asked: state.asked.map((asked) =>
    asked.kind === 'spawn' && asked.spawn.requestId === requestId ? { ...asked, withheld: 'no_template' } : asked,
  ),
});

const answered = (state: GovernorState, requestId: string): GovernorState => ({
  ...state,
  asked: state.asked.filter((asked) => requestIdOf(asked) !== requestId),
});

type AdmittedDraft = Extract<GovernorDraft, { readonly type: 'STEP_ADMITTED' | 'SPAWN_ADMITTED' }>;

/** A dry run uses nothing up, and neither does a soft step. */
const admitted = (state: GovernorState, draft: AdmittedDraft): GovernorState => {
  const { requestId, validUntil, dryRun } = draft.payload;
  const asked = state.asked.find((one) => requestIdOf(one) === requestId);
  const rest = answered(state, requestId);
  if (asked === undefined || dryRun || !counts(asked)) return rest;
  const runtimeId = draft.type === 'SPAWN_ADMITTED' ? draft.payload.runtimeId : null;
  const one: Admitted = {
    kind: asked.kind,
    requestId,
    scope: asked.scope,
    runtimeId,
    ...(asked.kind === 'step'
      ? { agentId: asked.step.agentId }
      : { agentId: asked.spawn.newAgentId, taskId: asked.spawn.taskId }),
    at: validUntil - validMs,
  };
  return { ...rest, admitted: [...rest.admitted, one] };
};

const counts = (asked: Asked): boolean => asked.kind === 'spawn' || asked.step.class !== 'soft';
