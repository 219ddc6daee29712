import type { AgentLostPayload, AgentPresentPayload, RuntimeAnnouncedPayload } from '@vigil/events';
import { type Clock, Unwelcome } from '@vigil/stream';
import { roomFor } from './brake.ts';
import { counting } from './budget.ts';
import { bytesOf, bytesOfAll, changedIn } from './bytes.ts';
import { moved, type Place, placeName, placeOf } from './places.ts';
import {
  AWAITED_BYTES,
  FRESH_MS,
  type GovernorSettings,
  MOST_COUNTED_PLACES,
  MOST_LOSSES_BYTES,
  MOST_RUNTIME_BYTES,
  MOST_RUNTIMES_BYTES,
  MOST_STARTS_BYTES,
} from './settings.ts';
import {
  type AdmissionRequest,
  type AwaitedAgent,
  awaitedWith,
  brakeFor,
  covers,
  type GovernorInput,
  type GovernorState,
  type Incident,
  incidentsOf,
  type Loss,
  type LossCount,
  lossKeyOf,
  type RuntimePresence,
  requestIdOf,
  type Start,
  taskKey,
} from './state.ts';

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
        return announced(state, input.payload, settings, now);
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
        return { ...state, losses: [], unnamed: [] };
    }
  };

/** The label by which the evaluator reports the host of an agent. */
const HOST = 'host';

type Admit = Extract<GovernorInput, { readonly type: 'ADMIT_STEP' | 'ADMIT_SPAWN' }>;

const requestOf = (
  { type, payload, correlationId, policy }: Admit,
  { scopeLabel }: GovernorSettings,
  requestedAt: number,
): AdmissionRequest => {
  const scope = scopeLabel === null ? '' : placeName(payload.labels[scopeLabel]);
  const request = { withheld: null, requestedAt, correlationId, scope: scope === '' ? 'fleet' : scope };
  if (type === 'ADMIT_SPAWN')
    return {
      kind: 'spawn',
      ...request,
      runtimeId: payload.preferRuntimeId ?? '',
      policy: placeName(policy?.name),
      spawn: payload,
    };
  const { requestId, caseId, agentId, step } = payload;
  const place = { host: placeName(payload.labels[HOST]), runtimeId: payload.runtimeId ?? '' };
  return { kind: 'step', ...request, ...place, step: { requestId, caseId, agentId, step, class: payload.class } };
};

/** A repeated request counts once, also if it was admitted and still counts. */
const queued = (state: GovernorState, request: AdmissionRequest): GovernorState => {
  const requestId = requestIdOf(request);
  const known =
    state.requests.some((other) => requestIdOf(other) === requestId) ||
    state.admitted.some((other) => other.requestId === requestId);
  return known ? state : { ...state, requests: [...state.requests, request] };
};

/** Removes a withdrawn request. A returned admission was not used and does not count, however late it is returned. */
const withdrawn = (state: GovernorState, requestId: string): GovernorState => ({
  ...state,
  requests: state.requests.filter((request) => requestIdOf(request) !== requestId),
  admitted: state.admitted.filter((one) => one.requestId !== requestId),
});

type Incidents = ReturnType<typeof incidentsOf>;

/** An agent is present: records its place, and that the brake no longer awaits it. */
const present = (state: GovernorState, payload: AgentPresentPayload, now: number): GovernorState => {
  const { agentId, taskId, previousPlace, why } = payload;
  const liveAgents = moved(state.liveAgents, previousPlace && placeOf(previousPlace), placeOf(payload));
  // It was present all the time, so this ends no loss.
  if (why === 'still_present') return { ...state, liveAgents };
  const lossKey = lossKeyOf(agentId, taskId);
  const back = (lost: AwaitedAgent) =>
    lost.lossKey === lossKey || lost.agentId === agentId
      ? { ...lost, backSince: lost.backSince ?? now, isPresent: lost.agentId === agentId || isPresent(lost) }
      : lost;
  const admitted = changedIn(state.admitted, (one) =>
    one.kind === 'spawn' && one.agentId === agentId && !isPresent(one) ? { ...one, isPresent: true } : one,
  );
  return {
    ...state,
    liveAgents,
    admitted,
    starts: started(state.starts, { agentId, taskId, at: now }),
    losses: state.losses.filter((loss) => loss.lossKey !== lossKey && loss.agentId !== agentId),
    brake: awaitedWith(state.brake, (awaited) => awaited.map(back)),
  };
};

/** An agent is lost. Expected ends are forgotten; other losses are remembered for as long as they count together. */
const lost = (
  state: GovernorState,
  payload: AgentLostPayload,
  { brake }: GovernorSettings,
  now: number,
): GovernorState => {
  const { agentId, taskId, expected, why } = payload;
  const gone = withoutAgent(state, payload);
  const lossKey = lossKeyOf(agentId, taskId);
  if (expected) {
    const isOther = (loss: Loss) => loss.agentId !== agentId && loss.lossKey !== lossKey;
    const crashed = gone.losses.map((loss) => (isOther(loss) ? loss : { ...loss, isCrashed: true }));
    const isCounted = incidentsOf(gone.brake).some(({ awaited }) => !awaited.every(isOther));
    // A crash that is reported late is a loss all the same, unless the brake has engaged for it already.
    const losses = why === 'crashed' && !isCounted ? crashed : gone.losses.filter(isOther);
    return { ...gone, losses, brake: awaitingOnly(gone, isOther) };
  }
  const place = placeOf(payload);
  if (!counts(payload, brake)) {
    const uncounted = countedAt(gone.uncounted, place, brake.windowMs, now);
    return { ...gone, uncounted, brake: missedAgain(gone, { agentId, lossKey, why }, now) };
  }
  const replaced = isReplaced(gone, lossKey, now) ? { isReplaced: true } : {};
  const loss = { agentId, lossKey, ...place, at: now, ...replaced, ...(why === 'crashed' ? { isCrashed: true } : {}) };
  const recent = gone.losses.filter(({ at, lossKey }) => at > now - brake.windowMs && lossKey !== loss.lossKey);
  const incident = incidentFor(incidentsOf(gone.brake), loss, brake.windowMs);
  const incidents = incident === null ? incidentsOf(gone.brake) : joined(incidentsOf(gone.brake), incident, loss);
  if (bytesOfAll(recent) + bytesOf(loss) <= MOST_LOSSES_BYTES)
    return { ...gone, losses: [...recent, loss], brake: brakeFor(incidents) };
  const unnamed = incident === null ? countedAt(gone.unnamed, place, brake.windowMs, now) : gone.unnamed;
  return { ...gone, losses: recent, unnamed, brake: brakeFor(incidents) };
};

/** The agent is nowhere any more: it is neither a start nor the replacement of another. */
const withoutAgent = (state: GovernorState, { agentId, previousPlace }: AgentLostPayload): GovernorState => {
  const absent = <One extends { readonly agentId: string; readonly isPresent?: boolean }>(one: One): One =>
    one.agentId === agentId && isPresent(one) ? { ...one, isPresent: false } : one;
  return {
    ...state,
    liveAgents: moved(state.liveAgents, previousPlace && placeOf(previousPlace), null),
    starts: state.starts.filter((one) => one.agentId !== agentId),
    admitted: changedIn(state.admitted, absent),
    brake: awaitedWith(state.brake, (awaited) => awaited.map(absent)),
  };
};

const isPresent = (one: { readonly isPresent?: boolean }): boolean => one.isPresent ?? false;

/** The brake waits for these only. One that was back before still counts as back. */
const awaitingOnly = ({ brake }: GovernorState, isAwaited: (loss: Loss) => boolean): GovernorState['brake'] =>
  awaitedWith(brake, (those) => those.filter((one) => one.backSince !== null || isAwaited(one)));

/** The task waits for people: no agent is started on it automatically. */
export const leftToPeople = (state: GovernorState, taskId: string): GovernorState => ({
  ...state,
  brake: awaitingOnly(state, ({ lossKey }) => lossKey !== taskKey(taskId)),
});

/** A task that no other living agent holds is missing again. After a crash the wait for its next agent begins again. */
const missedAgain = (
  state: GovernorState,
  { agentId, lossKey, why }: Pick<Loss, 'agentId' | 'lossKey'> & Pick<AgentLostPayload, 'why'>,
  now: number,
): GovernorState['brake'] => {
  if (state.brake === null) return null;
  const isLost = (one: AwaitedAgent) => one.agentId === agentId || one.lossKey === lossKey;
  const isHeld = (one: AwaitedAgent) => isPresent(one) || isReplaced(state, one.lossKey, now);
  const crash = why === 'crashed' ? { at: now, isCrashed: true } : {};
  const again = (one: AwaitedAgent) => (isLost(one) && !isHeld(one) ? { ...one, backSince: null, ...crash } : one);
  return awaitedWith(state.brake, (awaited) => awaited.map(again));
};

type BrakeSettings = GovernorSettings['brake'];

/** An agent that rested, has no instance, or was observed only briefly is not a sign of a mass failure. */
const counts = ({ instanceId, exemption, observedMs }: AgentLostPayload, { minAgeMs }: BrakeSettings): boolean =>
  instanceId !== null && exemption === null && observedMs >= minAgeMs;

/** One more loss at this place in this second. Above the limit of places, it counts for the fleet alone. */
const countedAt = (
  before: readonly LossCount[],
  { host, runtimeId }: Place,
  windowMs: number,
  now: number,
): readonly LossCount[] => {
  const at = now - (now % 1000);
  const isSame = (one: LossCount) => one.host === host && one.runtimeId === runtimeId && one.at === at;
  const known = before.find(isSame);
  const isNowhere = host === '' && runtimeId === '';
  const recent = before.filter((one) => one.at > now - windowMs && one !== known);
  if (known === undefined && recent.length >= MOST_COUNTED_PLACES && !isNowhere)
    return countedAt(before, { host: '', runtimeId: '' }, windowMs, now);
  return [...recent, { host, runtimeId, at, count: (known?.count ?? 0) + 1 }];
};

/**
 * While the brake is on, an agent of its place that is lost shortly after the first of the missing is one of them. The
 * window does not begin again with each loss: a slow series of losses would keep the brake on without end.
 */
const incidentFor = (incidents: Incidents, loss: Loss, windowMs: number): Incident | null =>
  incidents.find(({ awaited }) => awaited.some(({ lossKey }) => lossKey === loss.lossKey)) ??
  incidents.find((incident) => covers(incident, loss) && loss.at < incident.since + windowMs) ??
  null;

/** The incident awaits the agent if there is room for its name. */
const joined = (incidents: Incidents, incident: Incident, loss: Loss): Incidents => {
  const others = incident.awaited.filter(({ lossKey }) => lossKey !== loss.lossKey);
  const left = incidents.map((one) => (one === incident ? { ...one, awaited: others } : one));
  if (bytesOf(loss) + AWAITED_BYTES > roomFor(incident.scope, left)) return incidents;
  return incidents.map((one) => (one === incident ? { ...one, awaited: [...others, asAwaited(loss)] } : one));
};

export const asAwaited = (loss: Loss): AwaitedAgent => ({ ...loss, backSince: loss.isReplaced ? loss.at : null });

const KEPT_STARTS = 500;
const KEPT_START_MS = 30 * 60 * 1000;

/** An agent's latest start takes the place of its earlier ones, also where it has no task now. */
const started = (
  starts: readonly Start[],
  { agentId, taskId, at }: Omit<Start, 'taskId'> & { readonly taskId: string | null },
): readonly Start[] => {
  const others = starts.filter((one) => one.agentId !== agentId && one.at > at - KEPT_START_MS);
  return taskId === null ? others : fitting([...others, { agentId, taskId, at }].slice(-KEPT_STARTS));
};

const fitting = (starts: readonly Start[]): readonly Start[] =>
  bytesOfAll(starts) <= MOST_STARTS_BYTES ? starts : fitting(starts.slice(1));

/**
 * Another living agent has the task, and no longer reports itself present. It is the replacement of an agent that was taken for dead, came back
 * and is lost again. Or a person started it on the task before the loss was known.
 */
const isReplaced = ({ admitted, starts }: GovernorState, lossKey: string, now: number): boolean => {
  const recent = starts.filter(({ at }) => at > now - KEPT_START_MS);
  return [...admitted.filter(isPresent), ...recent].some(
    ({ taskId }) => taskId !== undefined && taskKey(taskId) === lossKey,
  );
};

/** Runtimes without room for spawns are not kept, nor those that have fallen silent. */
const announced = (
  state: GovernorState,
  payload: RuntimeAnnouncedPayload,
  { mostCapacity }: GovernorSettings,
  now: number,
): GovernorState => {
  const { runtimeId, agents, labels, templates } = payload;
  const capacity = Math.min(payload.capacity, mostCapacity);
  const fresh = Object.entries(state.runtimes).filter(
    ([id, { announcedAt }]) => id !== runtimeId && announcedAt > now - FRESH_MS,
  );
  const emitted = { capacity, busy: agents.length, labels, templates, announcedAt: now };
  const listed = new Set(agents);
  const admitted = changedIn(state.admitted, (one) =>
    one.kind === 'spawn' && one.runtimeId === runtimeId && listed.has(one.agentId) ? { ...one, isListed: true } : one,
  );
  if (capacity <= 0) return { ...state, admitted, runtimes: Object.fromEntries(fresh) };
  const runtimes = Object.fromEntries([...fresh, [runtimeId, emitted]]);
  const known = Object.hasOwn(state.runtimes, runtimeId) ? state.runtimes[runtimeId] : undefined;
  if (bytesOf(emitted) > (known === undefined ? 0 : bytesOf(known))) checkSize(runtimeId, emitted, runtimes);
  return { ...state, admitted, runtimes };
};

/** Throws Unwelcome if a runtime, or all of them, would be too large for the governor's one record. */
const checkSize = (runtimeId: string, runtime: RuntimePresence, runtimes: GovernorState['runtimes']): void => {
  const bytes = bytesOf(runtime);
  if (bytes > MOST_RUNTIME_BYTES)
    throw new Unwelcome(
      'too_large',
      `the labels and templates of ${runtimeId} have ${bytes} bytes, and at most ${MOST_RUNTIME_BYTES} are kept: it gets no spawn. Shorten its file, or divide it between runtimes`,
    );
  if (bytesOf(runtimes) > MOST_RUNTIMES_BYTES)
    throw new Unwelcome(
      'too_many_runtimes',
      `${Object.keys(runtimes).length - 1} runtimes have announced themselves, and ${runtimeId} is one too many: it gets no spawn. A runtime is forgotten ${FRESH_MS / 1000} s after its last announcement`,
    );
};
