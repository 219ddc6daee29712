import { ask, type Breaker, type BreakerLimits, callResult, closed, fail, succeed } from '@vigil/circuit-breaker';
import type { ToolCall } from '@vigil/events';
import { NEVER } from '@vigil/stream';
import { ahead, type Heartbeat, instant, type Receipt } from '../moment.ts';

/** The breakers of an agent. A task's recovery_attempt is recovery's. */
export const AGENT_BREAKERS = ['tool_execution', 'checkpoint_write', 'external_api'] as const;
export type AgentBreaker = (typeof AGENT_BREAKERS)[number];
export type AllLimits = Readonly<Record<AgentBreaker, BreakerLimits>>;

/** A breaker that is not closed. Times are on `now`'s axis; `nextAttemptAt` is null if the caller did not report it. */
export type Tripped = {
  readonly state: 'OPEN' | 'HALF_OPEN';
  readonly failures: number;
  readonly nextAttemptAt: number | null;
  /** the start of this state; for a half-open breaker of Vigil, the start of the open state */
  readonly at: number;
};

/** `at`: the start of its state. */
type Own = { readonly breaker: Breaker; readonly at: number };

export type Breakers = {
  /** the breakers that the caller holds; null: closed. They take precedence */
  readonly held: Readonly<Partial<Record<AgentBreaker, Tripped | null>>>;
  /** the breakers that Vigil counts from the outcomes of calls, if no caller holds them; absent without failures */
  readonly own: Readonly<Partial<Record<AgentBreaker, Own>>>;
};

export const NO_BREAKERS: Breakers = { held: {}, own: {} };

/** The breakers that a heartbeat reports, or that follow from the outcomes of its calls, counted with the policy's limits. */
export const breakersAfter = (
  before: Breakers,
  heartbeat: Heartbeat,
  receipt: Receipt,
  limits: AllLimits,
): Breakers => {
  const held = heartbeat.breakers.length === 0 ? before.held : reported(before.held, heartbeat, receipt);
  let own = before.own;
  for (const call of heartbeat.tool_calls) {
    const name = breakerOf(call);
    if (name !== null && held[name] === undefined) own = finishedWith(own, name, call, receipt, limits[name]);
  }
  if (held !== before.held) own = Object.fromEntries(Object.entries(own).filter(([name]) => !(name in held)));
  return held === before.held && own === before.own ? before : { held, own };
};

/** Closes a breaker that Vigil counts, on a person's request. */
export const breakerReset = (before: Breakers, name: string): Breakers =>
  isAgents(name) && before.own[name] ? { ...before, own: without(before.own, name) } : before;

/** Whether its caller reports it, open or closed. */
export const isHeld = ({ held }: Breakers, name: string): boolean => isAgents(name) && held[name] !== undefined;

/**
 * The state of a breaker at a time; null: closed. Vigil's is half open from its next attempt on, a caller's when the
 * caller reports it.
 */
export const trippedAt = ({ held, own }: Breakers, name: AgentBreaker, now: number): Tripped | null => {
  const reported = held[name];
  if (reported !== undefined) return reported;
  const ours = own[name];
  if (!ours || ours.breaker.state === 'CLOSED') return null;
  const { failures } = ours.breaker;
  const next = ours.breaker.state === 'OPEN' ? ours.breaker.nextAttemptAt : 0;
  return next > now
    ? { state: 'OPEN', failures, nextAttemptAt: next, at: ours.at }
    : { state: 'HALF_OPEN', failures, nextAttemptAt: null, at: ours.at };
};

/** The next time at which a breaker of Vigil becomes half open. */
export const nextAttempt = ({ own }: Breakers, now: number): number => {
  let next: number = NEVER;
  for (const { breaker } of Object.values(own))
    if (breaker.state === 'OPEN' && breaker.nextAttemptAt > now) next = Math.min(next, breaker.nextAttemptAt);
  return next;
};

const isAgents = (name: string): name is AgentBreaker => AGENT_BREAKERS.some((one) => one === name);

const reported = (before: Breakers['held'], heartbeat: Heartbeat, receipt: Receipt): Breakers['held'] => {
  const held = { ...before };
  for (const { name, state, failures, next_attempt_at: next } of heartbeat.breakers) {
    if (!isAgents(name) || state === 'UNKNOWN') continue;
    const at = before[name]?.state === state ? (before[name]?.at ?? receipt.now) : receipt.now;
    const nextAttemptAt = state === 'HALF_OPEN' || next === null ? null : ahead(receipt, next);
    held[name] = state === 'CLOSED' ? null : { state, failures, nextAttemptAt, at };
  }
  return held;
};

const breakerOf = (call: ToolCall): AgentBreaker | null => {
  switch (call.kind) {
    case 'tool':
      return 'tool_execution';
    case 'checkpoint_write':
    case 'external_api':
      return call.kind;
    case 'model':
    case 'UNKNOWN':
      return null;
  }
};

/** Ignores the result of a call that began while the breaker was open, because the breaker did not admit that call. */
const finishedWith = (
  own: Breakers['own'],
  name: AgentBreaker,
  call: ToolCall,
  receipt: Receipt,
  limits: BreakerLimits,
): Breakers['own'] => {
  const result = callResult(call);
  if (result === 'none') return own;
  const ended = instant(receipt, call.ended_at).now;
  const known = own[name] ?? { breaker: closed, at: ended };
  const asked = ask(known.breaker, limits, ended - spanOf(call));
  if (asked.kind === 'refused') return own;
  const breaker =
    result === 'ok' ? succeed(asked.breaker, asked.generation) : fail(asked.breaker, asked.generation, limits, ended);
  if (breaker.state === 'CLOSED' && breaker.failures === 0) return own[name] ? without(own, name) : own;
  return { ...own, [name]: { breaker, at: breaker.generation === known.breaker.generation ? known.at : ended } };
};

const spanOf = ({ started_at: start, ended_at: end }: ToolCall): number =>
  start === null || end === null ? 0 : Math.max(0, end - start);

const without = (own: Breakers['own'], name: AgentBreaker): Breakers['own'] =>
  Object.fromEntries(Object.entries(own).filter(([other]) => other !== name));
