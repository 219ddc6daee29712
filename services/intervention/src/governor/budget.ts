import { NEVER } from '@vigil/stream';
import { brakeFreeFrom } from './brake.ts';
import { bytesOfAll } from './bytes.ts';
import { hasOthersThan } from './places.ts';
import { type GovernorSettings, HOUR_MS, MINUTE_MS, MOST_ADMITTED_BYTES } from './settings.ts';
import type { AdmissionRequest, Admitted, GovernorState, SpawnRequest, StepRequest } from './state.ts';

/** The n-th newest of those in the window, after which there is room again. */
const freeFrom = (times: readonly number[], most: number, windowMs: number): number =>
  times.length < most ? 0 : (times.toSorted((a, b) => b - a)[most - 1] ?? 0) + windowMs;

const timesOf = ({ admitted }: GovernorState, of: (one: Admitted) => boolean): readonly number[] =>
  admitted.filter(of).map(({ at }) => at);

/** From when a destructive step may be admitted: after the settling time, when it is its turn. */
export const stepFreeFrom = (state: GovernorState, request: StepRequest, settings: GovernorSettings): number =>
  Math.max(request.requestedAt + settings.settleMs, turnFrom(state, request, settings));

/** From when it is a step's turn: its scope's budget has room, its runtime's share too, and its agent's cooldown is over. 0: now. */
export const turnFrom = (state: GovernorState, request: StepRequest, settings: GovernorSettings): number => {
  const ofAgent = timesOf(state, ({ kind, agentId }) => kind === 'step' && agentId === request.step.agentId);
  return Math.max(
    roomFrom(state, settings),
    budgetFreeFrom(state, request, { most: settings.stepsPerMinute, windowMs: MINUTE_MS, policy: null }),
    freeFrom(ofAgent, 1, settings.cooldownMs),
  );
};

/** `policy`: the name of the policy that sets it; null: the fleet's own. */
type Budget = { readonly most: number; readonly windowMs: number; readonly policy: string | null };

/**
 * While the fleet has other runtimes, one uses at most half of a scope's budget, rounded up. The rest is left to the others: agents that fail
 * again and again on one host do not use up the recoveries of all.
 */
const budgetFreeFrom = (
  state: GovernorState,
  { kind, scope, runtimeId }: AdmissionRequest,
  { most, windowMs, policy }: Budget,
): number => {
  const isOfScope = (one: Admitted) =>
    one.kind === kind && one.scope === scope && (policy === null || one.policy === policy);
  const ofScope = freeFrom(timesOf(state, isOfScope), most, windowMs);
  if (runtimeId === '' || !hasOtherRuntimes(state, runtimeId)) return ofScope;
  const ofRuntime = timesOf(state, (one) => isOfScope(one) && one.shareOf === runtimeId);
  return Math.max(ofScope, freeFrom(ofRuntime, Math.ceil(most / 2), windowMs));
};

const hasOtherRuntimes = ({ runtimes, liveAgents }: GovernorState, runtimeId: string): boolean =>
  hasOthersThan(liveAgents, runtimeId) || Object.keys(runtimes).some((other) => other !== '' && other !== runtimeId);

/** What withholds a step at any time. Soft steps need only that the fleet is not halted. */
export const withheldBy = (
  { halted, brake }: GovernorState,
  request: StepRequest,
  settings: GovernorSettings,
  now: number,
): 'halted' | 'brake' | null => {
  if (halted) return 'halted';
  return request.step.class !== 'soft' && brakeFreeFrom(brake, request, settings) > now ? 'brake' : null;
};

/** When a waiting step is due: for its admission, or for the news that it waits for its turn only. NEVER: only an input changes it. */
export const stepDueAt = (state: GovernorState, request: StepRequest, settings: GovernorSettings): number => {
  if (state.halted) return NEVER;
  const brakeFree = request.step.class === 'soft' ? 0 : brakeFreeFrom(state.brake, request, settings);
  const isAnnounced = request.withheld !== null && request.withheld !== 'budget';
  if (isAnnounced && turnFrom(state, request, settings) > brakeFree) return brakeFree;
  return Math.max(brakeFree, stepFreeFrom(state, request, settings));
};

/** From when the fleet's budget of spawns has room; 0: now. */
export const spawnFreeFrom = (state: GovernorState, request: SpawnRequest, settings: GovernorSettings): number =>
  Math.max(
    roomFrom(state, settings),
    budgetFreeFrom(state, request, { most: settings.spawnsPerHour, windowMs: HOUR_MS, policy: null }),
  );

/** From when the budget that the spawn's policy sets has room; 0: now. */
export const policyFreeFrom = (state: GovernorState, request: SpawnRequest): number => {
  const { policy, spawn } = request;
  return spawn.maxPerHour === null
    ? 0
    : budgetFreeFrom(state, request, { most: spawn.maxPerHour, windowMs: HOUR_MS, policy });
};

/** From when the admissions that count have room for another, of all scopes together; 0: now. */
const roomFrom = ({ admitted }: GovernorState, settings: GovernorSettings): number =>
  bytesOfAll(admitted) <= MOST_ADMITTED_BYTES
    ? 0
    : Math.min(...admitted.map((one) => one.at + countsFor(one.kind, settings)));

/** Entries that no budget and no cooldown needs. */
export const counting = (
  admitted: readonly Admitted[],
  settings: GovernorSettings,
  now: number,
): readonly Admitted[] => {
  const left = admitted.filter(({ kind, at }) => at > now - countsFor(kind, settings));
  return left.length === admitted.length ? admitted : left;
};

const countsFor = (kind: Admitted['kind'], { cooldownMs }: GovernorSettings): number =>
  kind === 'spawn' ? HOUR_MS : Math.max(MINUTE_MS, cooldownMs);
