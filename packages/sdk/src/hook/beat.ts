import type { BreakerReport, Heartbeat, OrderReceiptPayload } from '@vigil/events';
import { agentSaid, type Finding, marked, overtaken } from '../progress.ts';
import { noEnd } from '../receipts.ts';
import type { Environment } from './call.ts';
import type { Said } from './report.ts';
import type { Session } from './session.ts';

/** Who a session is to Vigil. */
export type Who = { readonly agentId: string; readonly instanceId: string; readonly taskId: string | null };

const NO_ID = /[^A-Za-z0-9._:-]/g;
const asId = (text: string): string => text.replace(NO_ID, '-').slice(0, 128);

export const whoIs = (sessionId: string, env: Environment): Who => ({
  agentId: asId(env.VIGIL_AGENT || env.VIGIL_AGENT_ID || `claude-${sessionId}`),
  instanceId: asId(sessionId),
  taskId: env.VIGIL_TASK_ID ? asId(env.VIGIL_TASK_ID) : null,
});

/** Nothing is heard between two events: a model may think, and a command may run, for so long. Milliseconds. */
const INTERVAL_MS = 600_000;
const MOST_CALLS = 100;
/** Heartbeats that wait for the gateway; of more, the oldest go. */
const MOST_UNSENT = 10;

const callsOf = (words: readonly Said[]): Heartbeat['tool_calls'] => {
  const calls = words.flatMap(({ tool_calls = [] }) => tool_calls);
  const newest = new Map(calls.map((call) => [call.call_id, call]));
  return [...newest.values()].slice(-MOST_CALLS);
};

const lastOf = <K extends keyof Said>(words: readonly Said[], field: K): Said[K] | undefined =>
  [...words].reverse().find((one) => one[field] !== undefined)?.[field];

/** What the hooks have to say becomes one heartbeat. `now`: epoch milliseconds. */
export const said = (
  before: Session,
  words: readonly Said[],
  breakers: readonly BreakerReport[],
  who: Who,
  now: number,
): Session => {
  if (words.length === 0) return before;
  const tool_calls = callsOf(words);
  const failed = tool_calls.filter(({ outcome }) => outcome === 'error').length;
  const sequence = before.sequence + 1;
  const session = {
    ...before,
    sequence,
    progress: marked(agentSaid(before.progress, { tool_calls }, sequence), ['heartbeat'], sequence),
    activity: lastOf(words, 'activity') ?? before.activity,
    phase: lastOf(words, 'phase') ?? before.phase,
    lastCallAt: tool_calls.length > 0 ? now : before.lastCallAt,
    errors: before.errors + failed,
  };
  const heartbeat = {
    agent_id: who.agentId,
    task_id: who.taskId,
    timestamp: now,
    phase: session.phase,
    last_tool_call: session.lastCallAt,
    token_count: 0,
    error_count: session.errors,
    progress_indicator: session.phase,
    instance_id: who.instanceId,
    sequence: session.sequence,
    interval_ms: INTERVAL_MS,
    activity: session.activity,
    tool_calls,
    errors: words.flatMap(({ errors = [] }) => errors).slice(-MOST_CALLS),
    breakers,
    rate_limit: lastOf(words, 'rate_limit') ?? null,
    exit: lastOf(words, 'exit') ?? null,
  };
  return { ...session, unsent: [...before.unsent, heartbeat as unknown as Heartbeat].slice(-MOST_UNSENT) };
};

/** As the gateway offers it. */
export type Order = {
  readonly type: string;
  readonly expiresInMs: number;
  readonly payload: Finding & {
    readonly orderId: string;
    readonly agentId: string;
    readonly instanceId: string | null;
    readonly runtimeId: string;
    readonly message?: string;
    readonly name?: string;
  };
};

const kinds: Readonly<Record<string, OrderReceiptPayload['kind']>> = {
  NUDGE_AGENT: 'nudge',
  PROBE_AGENT: 'probe',
  HANDOFF_AGENT: 'handoff',
  RESET_BREAKER: 'reset_breaker',
};

/** For this life of the agent, and never answered. */
const isOurs = (payload: Order['payload'], who: Who, { done }: Session): boolean =>
  payload.agentId === who.agentId && payload.instanceId === who.instanceId && !done.includes(payload.orderId);

export const textsAmong = (orders: readonly Order[], who: Who, session: Session): readonly Order[] =>
  orders.filter(
    ({ type, payload }) =>
      Object.hasOwn(kinds, type) && typeof payload.message === 'string' && isOurs(payload, who, session),
  );

/** Breakers that are to be closed. */
export const resetsAmong = (orders: readonly Order[], who: Who, session: Session): readonly Order[] =>
  orders.filter(({ type, payload }) => type === 'RESET_BREAKER' && isOurs(payload, who, session));

/** Why it is not to be passed on any more; null: it is. */
export const lateness = ({ expiresInMs, payload }: Order, { progress }: Session): 'expired' | 'superseded' | null => {
  if (expiresInMs <= 0) return 'expired';
  return overtaken(progress, payload) ? 'superseded' : null;
};

export const receiptOf = (
  { type, payload }: Order,
  outcome: OrderReceiptPayload['outcome'],
  why: string | null,
  at: number,
): OrderReceiptPayload => ({
  orderId: payload.orderId,
  kind: kinds[type] ?? 'UNKNOWN',
  agentId: payload.agentId,
  instanceId: payload.instanceId,
  runtimeId: payload.runtimeId,
  outcome,
  why,
  at,
  ...noEnd,
});
