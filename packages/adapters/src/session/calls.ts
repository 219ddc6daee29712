import type { ToolCall } from '@vigil/events';
import { notEnded } from '@vigil/sdk/hashes';
import { ownOf } from '../shared/payload.ts';
import { type CallName, nameOf } from './events.ts';
import type { AgentState, OpenCall } from './state.ts';

/** An agent, and its calls that have changed. */
export type Changed = { readonly agent: AgentState; readonly calls: readonly ToolCall[] };

/**
 * The number of calls in flight that are stored, more than a model starts at once. Beyond it, the oldest ends with an
 * unknown result.
 */
const MOST_OPEN = 100;

/**
 * The number of ended calls that are stored, so that a late start does not reopen a call and a late end does not count
 * again. A backlog of hook events is read after the session file, which has the ends of all of its calls.
 */
const MOST_ENDED = 1000;
const remembered = ({ endedCalls }: AgentState, ids: readonly string[]): readonly string[] =>
  [...endedCalls, ...ids].slice(-MOST_ENDED);

const ended = (call: ToolCall, outcome: 'refused' | 'abandoned', at: number): ToolCall => ({
  ...call,
  outcome,
  ended_at: at,
});

/** The longest wait for the outcome of an ended call, milliseconds. */
const LONGEST_PENDING_MS = 5000;

export const isPendingTooLong =
  (at: number) =>
  ({ pendingEnd }: OpenCall): boolean =>
    pendingEnd !== undefined && at - (pendingEnd.ended_at ?? at) >= LONGEST_PENDING_MS;

const isUnfinished = ({ pendingEnd }: OpenCall): boolean => pendingEnd === undefined;

/**
 * The remaining wait after calls have ended and these are still open. A wait without a call may be for any unfinished
 * call that began before it. A call that only awaits its outcome has already ended its wait.
 */
const waitAfter = ({ wait }: AgentState, over: readonly OpenCall[], open: AgentState['open']): AgentState['wait'] => {
  if (wait === null) return null;
  const finished = over.filter(isUnfinished);
  if (wait.callId !== null) return finished.some(({ call }) => call.call_id === wait.callId) ? null : wait;
  return finished.length > 0 && !Object.values(open).some(isUnfinished) ? null : wait;
};

/** Ends the open calls that `ends` selects, with an unknown result unless the end is pending. */
export const abandon = (agent: AgentState, at: number, ends: (one: OpenCall) => boolean): Changed => {
  const over = Object.values(agent.open).filter(ends);
  if (over.length === 0) return { agent, calls: [] };
  const ids = new Set(over.map(({ call }) => call.call_id));
  const open = Object.fromEntries(Object.entries(agent.open).filter(([id]) => !ids.has(id)));
  const endedCalls = remembered(agent, [...ids]);
  return {
    agent: { ...agent, open, endedCalls, wait: waitAfter(agent, over, open) },
    calls: over.map(({ call, pendingEnd }) => pendingEnd ?? ended(call, 'abandoned', at)),
  };
};

/**
 * Ends an open call that has failed according to the session file. The hook that reported its end had the result, but
 * not the outcome.
 */
export const endFailed = (
  agent: AgentState,
  { call, pendingEnd }: OpenCall,
  errorClass: string,
  at: number,
): Changed => {
  const result = pendingEnd ?? { ...call, ended_at: at };
  return end(agent, { ...result, outcome: 'error', error_class: errorClass }, nameOf(call));
};

const isOfOther =
  (batch: string | null) =>
  (one: OpenCall): boolean =>
    batch !== null && one.batch !== null && one.batch !== batch;

/**
 * Starts a call. It ends calls of the same agent in another batch, because a model answers only after all its calls
 * have ended.
 */
export const start = (agent: AgentState, call: ToolCall, batch: string | null, at: number): Changed => {
  if (agent.endedCalls.includes(call.call_id)) return { agent, calls: [] };
  const isOther = isOfOther(batch);
  const isLate = isPendingTooLong(at);
  const before = abandon(agent, at, (one) => isOther(one) || isLate(one));
  const kept = Object.entries(before.agent.open);
  const lost = abandon(before.agent, at, ({ call: { call_id } }) =>
    kept.slice(0, Math.max(0, kept.length + 1 - MOST_OPEN)).some(([id]) => id === call_id),
  );
  const known = ownOf(agent.open, call.call_id);
  const one = { ...known, call, batch: batch ?? known?.batch ?? null, asked: known?.asked ?? false };
  const open = { ...lost.agent.open, [call.call_id]: one };
  return { agent: { ...lost.agent, open }, calls: [...before.calls, ...lost.calls, call] };
};

/** Sets the batch of an open call. */
export const inBatch = (agent: AgentState, callId: string, batch: string | null, at: number): Changed => {
  const known = ownOf(agent.open, callId);
  if (known === undefined || batch === null) return { agent, calls: [] };
  const open = { ...agent.open, [callId]: { ...known, batch } };
  return abandon({ ...agent, open }, at, isOfOther(batch));
};

/** A call whose start is reported after the end of its turn has ended with the turn; its result is unknown. */
export const startLate = (agent: AgentState, call: ToolCall, at: number): Changed =>
  agent.endedCalls.includes(call.call_id)
    ? { agent, calls: [] }
    : {
        agent: { ...agent, endedCalls: remembered(agent, [call.call_id]) },
        calls: [ended(call, 'abandoned', at)],
      };

/** The open call, if there is exactly one. */
export const onlyCall = ({ open }: AgentState): ToolCall | undefined => {
  const [first, ...others] = Object.values(open);
  return others.length === 0 ? first?.call : undefined;
};

/** The newest open call of that name; undefined if none is open. */
export const openCall = ({ open }: AgentState, { callId, tool, argsHash }: CallName): ToolCall | undefined => {
  if (callId !== null) return ownOf(open, callId)?.call;
  const same = Object.values(open).filter(({ call }) => call.tool === tool && call.args_hash === argsHash);
  return same.at(-1)?.call;
};

/** A client writes the end of a call into its file after the hook that reports it. */
const wasSeen = ({ seenEnds }: AgentState, { ended_at }: ToolCall, { callId, tool, argsHash }: CallName): boolean =>
  callId === null &&
  seenEnds.some((seen) => seen.tool === tool && seen.argsHash === argsHash && (ended_at ?? 0) <= seen.at);

/** Ends a call with its result; the first report counts. If its start was not reported, it is taken from the end. */
export const end = (agent: AgentState, result: ToolCall, name: CallName): Changed => {
  const known = openCall(agent, name);
  if (known === undefined && agent.endedCalls.includes(result.call_id)) return { agent, calls: [] };
  if (wasSeen(agent, result, name)) return { agent, calls: [] };
  const call = known === undefined ? result : { ...result, call_id: known.call_id };
  const { [call.call_id]: _, ...open } = agent.open;
  const over = ownOf(agent.open, call.call_id) ?? { call, batch: null, asked: false };
  const wait = waitAfter(agent, [over], open);
  const started_at = call.started_at ?? known?.started_at ?? null;
  const endedCalls = remembered(agent, [call.call_id]);
  return { agent: { ...agent, open, endedCalls, wait }, calls: [{ ...call, started_at }] };
};

/**
 * Marks an ended call whose outcome only the session file will show. It stays open until then, so that it ends once.
 */
export const endPending = (agent: AgentState, result: ToolCall, name: CallName): Changed => {
  const known = openCall(agent, name);
  if (known === undefined && agent.endedCalls.includes(result.call_id)) return { agent, calls: [] };
  const call = known ?? { ...result, ...notEnded };
  const pendingEnd = { ...result, call_id: call.call_id, started_at: result.started_at ?? call.started_at };
  const before = ownOf(agent.open, call.call_id) ?? { call, batch: null, asked: false };
  const open = { ...agent.open, [call.call_id]: { ...before, pendingEnd } };
  return { agent: { ...agent, open, wait: waitAfter(agent, [before], open) }, calls: [] };
};

/** The oldest open call of that name that began at or before `at`; undefined without one. */
export const callUntil = ({ open }: AgentState, { tool, argsHash }: CallName, at: number): ToolCall | undefined =>
  Object.values(open).find(
    ({ call }) => call.tool === tool && call.args_hash === argsHash && (call.started_at ?? at) <= at,
  )?.call;

/** Ends an open call with the result in a session file. */
export const endSeen = (agent: AgentState, call: ToolCall, result: ToolCall, at: number): Changed => {
  const over = end(agent, { ...result, call_id: call.call_id, started_at: call.started_at }, nameOf(call));
  const seen = { tool: call.tool, argsHash: call.args_hash, at };
  return { ...over, agent: { ...over.agent, seenEnds: [...agent.seenEnds, seen].slice(-MOST_ENDED) } };
};

/** Marks a call as waiting for a permission. */
export const ask = (agent: AgentState, callId: string): AgentState => {
  const one = ownOf(agent.open, callId);
  return one === undefined ? agent : { ...agent, open: { ...agent.open, [callId]: { ...one, asked: true } } };
};

/** Marks a call whose request is answered through its hook. */
export const answer = (agent: AgentState, callId: string): AgentState => {
  const one = ownOf(agent.open, callId);
  return one === undefined ? agent : { ...agent, open: { ...agent.open, [callId]: { ...one, answered: true } } };
};

export const isAnswered = ({ open }: AgentState, call: ToolCall | undefined): boolean =>
  call !== undefined && ownOf(open, call.call_id)?.answered === true;

/**
 * Ends a call by its batch. A call with a permission request and without a reported end was refused, because a client
 * reports the end of every call that it makes.
 */
export const endInBatch = (agent: AgentState, call: ToolCall): Changed => {
  const known = ownOf(agent.open, call.call_id);
  if (known === undefined) return { agent, calls: [] };
  const refused = known.asked && call.outcome !== 'error';
  return end(agent, refused ? { ...call, outcome: 'refused' } : call, nameOf(call));
};

export const refuse = (agent: AgentState, name: CallName, at: number): Changed => {
  const call = openCall(agent, name);
  if (call === undefined) return { agent, calls: [] };
  const { agent: after } = end(agent, call, nameOf(call));
  return { agent: after, calls: [ended(call, 'refused', at)] };
};
