import type { Clock } from '@vigil/stream';
import { counting } from './budget.ts';
import { announced, lost, present } from './presence.ts';
import type { GovernorSettings } from './settings.ts';
import { type AdmissionRequest, type GovernorInput, type GovernorState, requestIdOf } from './state.ts';

export const observe =
  (settings: GovernorSettings) =>
  (before: GovernorState, input: GovernorInput, { now }: Clock): GovernorState => {
    const state = { ...before, admitted: counting(before.admitted, settings, now) };
    switch (input.type) {
      case 'AGENT_PRESENT':
        return present(state, input.payload, now);
      case 'AGENT_SPENT':
        return before;
      case 'AGENT_LOST':
        return lost(state, input.payload, settings, now);
      case 'RUNTIME_ANNOUNCED':
        return announced(state, input.payload, now);
      case 'ADMIT_STEP':
      case 'ADMIT_SPAWN':
        return queued(state, requestOf(input, settings, now));
      case 'WITHDRAW_STEP':
        return withdrawn(state, input.payload.requestId);
      case 'HALT_FLEET':
      case 'RESUME_FLEET':
      case 'DRY_RUN_ON':
      case 'DRY_RUN_OFF':
        return state;
      case 'LIFT_BRAKE':
        // A person has decided that the agents lost so far are no reason to brake.
        return { ...state, losses: [] };
    }
  };

type Admit = Extract<GovernorInput, { readonly type: 'ADMIT_STEP' | 'ADMIT_SPAWN' }>;

const requestOf = (
  { type, payload, correlationId }: Admit,
  { scopeLabel }: GovernorSettings,
  requestedAt: number,
): AdmissionRequest => {
  const scope = scopeLabel === null ? 'fleet' : (payload.labels[scopeLabel] ?? 'fleet');
  const request = { withheld: null, requestedAt, correlationId, scope };
  if (type === 'ADMIT_SPAWN') return { kind: 'spawn', ...request, spawn: payload };
  const { requestId, caseId, agentId, step } = payload;
  return { kind: 'step', ...request, step: { requestId, caseId, agentId, step, class: payload.class } };
};

/** Asked twice is asked once; so is what has been admitted and still counts. */
const queued = (state: GovernorState, request: AdmissionRequest): GovernorState => {
  const requestId = requestIdOf(request);
  const known =
    state.requests.some((other) => requestIdOf(other) === requestId) ||
    state.admitted.some((other) => other.requestId === requestId);
  return known ? state : { ...state, requests: [...state.requests, request] };
};

/** No longer wanted: it waits no more. An admission that is given back was not used, however late it comes back: it counts for nothing. */
const withdrawn = (state: GovernorState, requestId: string): GovernorState => ({
  ...state,
  requests: state.requests.filter((request) => requestIdOf(request) !== requestId),
  admitted: state.admitted.filter((one) => one.requestId !== requestId),
});
