import { type GovernorSettings, HOUR_MS, MINUTE_MS } from './settings.ts';
import type { Admitted, GovernorState, StepRequest } from './state.ts';

/** The n-th newest of those in the window, after which there is room again. */
const freeFrom = (times: readonly number[], most: number, windowMs: number): number =>
  times.length < most ? 0 : (times.toSorted((a, b) => b - a)[most - 1] ?? 0) + windowMs;

const timesOf = ({ admitted }: GovernorState, of: (one: Admitted) => boolean): readonly number[] =>
  admitted.filter(of).map(({ at }) => at);

/** From when a destructive step may be admitted: settled, and its turn. */
export const stepFreeFrom = (state: GovernorState, request: StepRequest, settings: GovernorSettings): number =>
  Math.max(request.requestedAt + settings.settleMs, turnFrom(state, request, settings));

/** From when it is a step's turn: its scope's budget has room, and its agent's cooldown is over. 0: now. */
export const turnFrom = (state: GovernorState, request: StepRequest, settings: GovernorSettings): number => {
  const ofScope = timesOf(state, ({ kind, scope }) => kind === 'step' && scope === request.scope);
  const ofAgent = timesOf(state, ({ kind, agentId }) => kind === 'step' && agentId === request.step.agentId);
  return Math.max(freeFrom(ofScope, settings.stepsPerMinute, MINUTE_MS), freeFrom(ofAgent, 1, settings.cooldownMs));
};

/** What withholds a step at any time. Soft steps need only that the fleet is not halted. */
export const withheldBy = ({ halted, brake }: GovernorState, { step }: StepRequest): 'halted' | 'brake' | null => {
  if (halted) return 'halted';
  return brake !== null && step.class !== 'soft' ? 'brake' : null;
};

/** From when a scope may spawn again; 0: now. */
export const spawnFreeFrom = (state: GovernorState, scope: string, { spawnsPerHour }: GovernorSettings): number =>
  freeFrom(
    timesOf(state, (one) => one.kind === 'spawn' && one.scope === scope),
    spawnsPerHour,
    HOUR_MS,
  );

/** Entries that no budget and no cooldown needs. */
export const counting = (
  admitted: readonly Admitted[],
  { cooldownMs }: GovernorSettings,
  now: number,
): readonly Admitted[] =>
  admitted.filter(({ kind, at }) => at > now - (kind === 'spawn' ? HOUR_MS : Math.max(MINUTE_MS, cooldownMs)));
