import type { BrakeEngagedPayload, SpawnWithheldPayload, StepWithheldPayload } from '@vigil/events';
import type { Clock } from '@vigil/stream';
import { countedLosses, unfinished } from './brake.ts';
import { asAwaited, leftToPeople } from './observe.ts';
import { type GovernorSettings, VALID_MS } from './settings.ts';
import {
  type AdmissionRequest,
  type Admitted,
  brakeFor,
  covers,
  type GovernorDraft,
  type GovernorState,
  requestIdOf,
  sinceOf,
} from './state.ts';

export const evolve =
  (settings: GovernorSettings) =>
  (state: GovernorState, draft: GovernorDraft, { now }: Clock): GovernorState => {
    switch (draft.type) {
      case 'FLEET_HALTED':
        return { ...state, halted: true };
      case 'FLEET_RESUMED':
        return { ...state, halted: false };
      case 'DRY_RUN_CHANGED':
        return { ...state, dryRun: draft.payload.on };
      case 'BRAKE_ENGAGED':
        return engaged(state, draft.payload, settings, now);
      case 'BRAKE_RELEASED':
        return { ...state, brake: null };
      case 'STEP_WITHHELD':
        return stepWithheld(state, draft.payload);
      case 'SPAWN_WITHHELD':
        return spawnWithheld(state, draft.payload);
      case 'STEP_ADMITTED':
      case 'SPAWN_ADMITTED':
        return admitted(state, draft);
    }
  };

/** Drops incidents that are over: they no longer withhold anything. */
const engaged = (
  state: GovernorState,
  { agentIds, scope }: BrakeEngagedPayload,
  settings: GovernorSettings,
  now: number,
): GovernorState => {
  const lost = new Set(agentIds);
  const awaited = state.losses.filter(({ agentId }) => lost.has(agentId)).map(asAwaited);
  const incident = { scope, since: sinceOf(awaited), awaited };
  // Those that it has no room to await belong to it as well.
  const counted = countedLosses(state.losses, state.brake, now - settings.brake.windowMs);
  const others = new Set(counted.filter((loss) => covers(incident, loss)));
  return {
    ...state,
    losses: state.losses.filter((loss) => !lost.has(loss.agentId) && !others.has(loss)),
    unnamed: state.unnamed.filter((one) => !covers(incident, one)),
    brake: brakeFor([...unfinished(state.brake, settings, now), incident]),
  };
};

/** The request waits until its reason is over or it is withdrawn. A spawn waits until a runtime announces a fitting template. */
const withheld = (state: GovernorState, requestId: string, why: AdmissionRequest['withheld']): GovernorState => ({
  ...state,
  requests: state.requests.map((request) =>
    requestIdOf(request) === requestId ? ({ ...request, withheld: why } as AdmissionRequest) : request,
  ),
});

/** A step that does not fit is requested again by its case. */
const stepWithheld = (state: GovernorState, { requestId, why }: StepWithheldPayload): GovernorState =>
  why === 'queue_full' ? answered(state, requestId) : withheld(state, requestId, why);

const spawnWithheld = (state: GovernorState, { why, requestId, taskId }: SpawnWithheldPayload): GovernorState => {
  if (why === 'no_template') return withheld(state, requestId, why);
  // Recovery then escalates to people, and does not request a ruling of the governor again.
  return answered(why === 'budget' ? leftToPeople(state, taskId) : state, requestId);
};

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
    shareOf: request.runtimeId,
    ...(request.kind === 'step'
      ? { agentId: request.step.agentId, policy: '' }
      : { agentId: request.spawn.newAgentId, taskId: request.spawn.taskId, policy: request.policy }),
    at: validUntil - VALID_MS,
  };
  return { ...rest, admitted: [...rest.admitted, one] };
};

const counts = (request: AdmissionRequest): boolean => request.kind === 'spawn' || request.step.class !== 'soft';
