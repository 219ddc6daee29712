import {
  ask,
  type Breaker,
  type BreakerLimits,
  callResult,
  closed,
  fail,
  giveBack,
  reset,
  succeed,
} from '@vigil/circuit-breaker';
import type { BreakerReport, CallKind, ToolCall } from '@vigil/events';

/** A call that is not to be made now. `nextAttemptAt` in epoch milliseconds; null: when a trial that is under way has ended. */
export type Denial = { readonly breaker: string; readonly failures: number; readonly nextAttemptAt: number | null };

const when = (nextAttemptAt: number | null, now: number): string => {
  if (nextAttemptAt === null) return 'the next attempt may be made when the trial call that is under way has ended';
  const seconds = Math.max(1, Math.ceil((nextAttemptAt - now) / 1000));
  return `the next attempt may be made at ${new Date(nextAttemptAt).toISOString()}, in ${seconds} s`;
};

/** The denial in words for the model. */
export const denialReason = ({ breaker, failures, nextAttemptAt }: Denial, now: number): string =>
  `Vigil: the circuit breaker ${breaker} is open after ${failures} failed calls in a row; ${when(nextAttemptAt, now)}. Find out why they fail before you continue.`;

/** CODITECT's `ADR-110`, section 5. */
const limits = {
  tool_execution: { failureThreshold: 5, recoveryTimeoutMs: 30_000, halfOpenRequests: 1 },
  external_api: { failureThreshold: 3, recoveryTimeoutMs: 60_000, halfOpenRequests: 1 },
} as const satisfies Record<string, BreakerLimits>;

type Name = keyof typeof limits;
const names: readonly Name[] = ['tool_execution', 'external_api'];

/** The breakers of an agent whose hooks ask before each call: the hooks' processes are gone in a moment, so its supervisor holds them, or a file. */
export type HookBreakers = {
  readonly breakers: Readonly<Record<Name, Breaker>>;
  /** calls that were let through, by their ids: the generation that their results belong to */
  readonly underWay: Readonly<Record<string, { readonly name: Name; readonly generation: number }>>;
};

export const noBreakers: HookBreakers = {
  breakers: { tool_execution: closed, external_api: closed },
  underWay: {},
};

const nameOf = (kind: CallKind): Name => (kind === 'external_api' ? 'external_api' : 'tool_execution');

const withBreaker = (state: HookBreakers, name: Name, breaker: Breaker): HookBreakers => ({
  ...state,
  breakers: { ...state.breakers, [name]: breaker },
});

/** May this call be made? One that may is under way from now on. */
export const asked = (
  state: HookBreakers,
  call: Pick<ToolCall, 'call_id' | 'kind'>,
  now: number,
): { readonly state: HookBreakers; readonly denied: Denial | null } => {
  const name = nameOf(call.kind);
  const before = state.breakers[name];
  const answer = ask(before, limits[name], now);
  if (answer.kind === 'refused')
    return { state, denied: { breaker: name, failures: before.failures, nextAttemptAt: answer.nextAttemptAt } };
  const underWay = { ...state.underWay, [call.call_id]: { name, generation: answer.generation } };
  return { state: { ...withBreaker(state, name, answer.breaker), underWay }, denied: null };
};

type Result = Pick<ToolCall, 'call_id' | 'outcome' | 'error_class'>;

/** A call has ended. */
export const ended = (state: HookBreakers, call: Result, now: number): HookBreakers => {
  const { [call.call_id]: known, ...underWay } = state.underWay;
  if (known === undefined) return state;
  const before = state.breakers[known.name];
  const rest = { ...state, underWay };
  switch (callResult(call)) {
    case 'ok':
      return withBreaker(rest, known.name, succeed(before, known.generation));
    case 'error':
      return withBreaker(rest, known.name, fail(before, known.generation, limits[known.name], now));
    case 'none':
      return withBreaker(rest, known.name, giveBack(before, known.generation));
  }
};

/** The turn is over: a call that was let through and never reported again was not made. */
export const turnOver = (state: HookBreakers): HookBreakers =>
  Object.values(state.underWay).reduce<HookBreakers>(
    (after, { name, generation }) => withBreaker(after, name, giveBack(after.breakers[name], generation)),
    { ...state, underWay: {} },
  );

/** Closes a breaker by order; undefined: there is no such breaker here. */
export const closedByOrder = (state: HookBreakers, name: string): HookBreakers | undefined => {
  const found = names.find((one) => one === name);
  return found === undefined ? undefined : withBreaker(state, found, reset(state.breakers[found]));
};

/** As a heartbeat reports them. */
export const breakerReports = ({ breakers }: HookBreakers): readonly BreakerReport[] =>
  names.map((name) => {
    const breaker = breakers[name];
    const next_attempt_at = breaker.state === 'OPEN' ? breaker.nextAttemptAt : null;
    return { name, state: breaker.state, failures: breaker.failures, next_attempt_at };
  });
