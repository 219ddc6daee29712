import type { ToolCall } from '@vigil/events';
import { ownOf } from '../shared/payload.ts';
import type { SessionState } from './state.ts';

/** As many calls as one heartbeat carries. */
const MOST_CALLS = 100;

/**
 * The calls for the next heartbeat: the newest, and the end of each call that an earlier heartbeat has carried as running. Without its end
 * such a call would be overdue. `running`: the ids of these calls. The order stays.
 */
export const callsToSend = (calls: readonly ToolCall[], running: ReadonlySet<string>): readonly ToolCall[] => {
  if (calls.length <= MOST_CALLS) return calls;
  const sent = calls.filter(({ call_id: id }) => running.has(id)).slice(-MOST_CALLS);
  const others = calls.filter(({ call_id: id }) => !running.has(id));
  const kept = new Set([...sent, ...others.slice(Math.max(0, others.length + sent.length - MOST_CALLS))]);
  return calls.filter((call) => kept.has(call));
};

/**
 * The ids of an agent's calls in flight. The session's own agent (null) reports those of its sub-agents, too.
 */
export const runningCalls = ({ main, subagents }: SessionState, agent: string | null): ReadonlySet<string> => {
  const agents = agent === null ? [main, ...Object.values(subagents)] : [ownOf(subagents, agent)];
  return new Set(agents.flatMap((one) => Object.keys(one?.open ?? {})));
};
