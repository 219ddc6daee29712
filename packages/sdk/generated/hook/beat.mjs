// Generated from packages/sdk/src/hook/beat.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import { agentSaid,               marked, overtaken } from '../progress.mjs';
import { noEnd } from '../receipts.mjs';
/** Who a session is to Vigil. */
const NO_ID = /[^A-Za-z0-9._:-]/g;
const asId = (text        )         => text.replace(NO_ID, '-').slice(0, 128);
export const whoIs = (sessionId        , env             )      => ({
  agentId: asId(env.VIGIL_AGENT || env.VIGIL_AGENT_ID || `claude-${sessionId}`),
  instanceId: asId(sessionId),
  taskId: env.VIGIL_TASK_ID ? asId(env.VIGIL_TASK_ID) : null,
});
/** Nothing is heard between two events: a model may think, and a command may run, for so long. Milliseconds. */
const INTERVAL_MS = 600_000;
const MOST_CALLS = 100;
/** Heartbeats that wait for the gateway; of more, the oldest go. */
const MOST_UNSENT = 10;
const callsOf = (words                 )                          => {
  const calls = words.flatMap(({ tool_calls = [] }) => tool_calls);
  const newest = new Map(calls.map((call) => [call.call_id, call]));
  return [...newest.values()].slice(-MOST_CALLS);
};
const lastOf =                       (words                 , field   )                      =>
  [...words].reverse().find((one) => one[field] !== undefined)?.[field];
/** What the hooks have to say becomes one heartbeat. `now`: epoch milliseconds. */
export const said = (
  before         ,
  words                 ,
  breakers                          ,
  who     ,
  now        ,
)          => {
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
  return { ...session, unsent: [...before.unsent, heartbeat                        ].slice(-MOST_UNSENT) };
};
/** As the gateway offers it. */
const kinds                                                        = {
  NUDGE_AGENT: 'nudge',
  PROBE_AGENT: 'probe',
  HANDOFF_AGENT: 'handoff',
  RESET_BREAKER: 'reset_breaker',
};
/** For this life of the agent, and never answered. */
const isOurs = (payload                  , who     , { done }         )          =>
  payload.agentId === who.agentId && payload.instanceId === who.instanceId && !done.includes(payload.orderId);
export const textsAmong = (orders                  , who     , session         )                   =>
  orders.filter(
    ({ type, payload }) =>
      Object.hasOwn(kinds, type) && typeof payload.message === 'string' && isOurs(payload, who, session),
  );
/** Breakers that are to be closed. */
export const resetsAmong = (orders                  , who     , session         )                   =>
  orders.filter(({ type, payload }) => type === 'RESET_BREAKER' && isOurs(payload, who, session));
/** Why it is not to be passed on any more; null: it is. */
export const lateness = ({ expiresInMs, payload }       , { progress }         )                                  => {
  if (expiresInMs <= 0) return 'expired';
  return overtaken(progress, payload) ? 'superseded' : null;
};
export const receiptOf = (
  { type, payload }       ,
  outcome                                ,
  why               ,
  at        ,
)                      => ({
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
