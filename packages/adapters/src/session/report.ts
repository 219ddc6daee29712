import type { Activity, Heartbeat, TokenUsage, ToolCall, TurnReport, WaitingFor } from '@vigil/events';
import { tokensIn } from '../shared/counts.ts';
import { type AgentState, agentOf, isWorking, type SessionState, workingSubagents } from './state.ts';

/** Fields of a heartbeat of one agent of a session. `agent`: the client's id of a sub-agent; null: the session's own. */
export type AgentReport = {
  readonly agent: string | null;
  /** the client's name of the type of sub-agent */
  readonly type: string | null;
  readonly fields: Partial<Heartbeat>;
};

/** Null: unknown. */
const totalOf = (usage: readonly TokenUsage[]): number | null =>
  usage.length === 0 ? null : usage.reduce((sum, one) => sum + tokensIn(one), 0);

/** The question to a person. A session waits if one of its sub-agents does. */
const waitOf = (session: SessionState, id: string | null): WaitingFor | null => {
  const own = agentOf(session, id).wait?.waiting ?? null;
  if (own !== null || id !== null) return own;
  const waits = workingSubagents(session).map((one) => agentOf(session, one).wait?.waiting ?? null);
  return waits.find((wait) => wait !== null) ?? null;
};

const activityOf = (agent: AgentState, wait: WaitingFor | null, isBusy: boolean): Activity | null => {
  if (agent.ended) return 'exiting';
  if (wait !== null) return 'awaiting_input';
  if (agent.obstacle !== null) return agent.obstacle.kind;
  if (isBusy) return 'working';
  if (agent.wakes) return 'idle';
  return agent.turn === null ? 'starting' : 'awaiting_input';
};

/** While a sub-agent works, the turn of the session's own agent is open. */
const turnOf = ({ turn }: AgentState, isBusy: boolean): TurnReport | null => {
  if (turn === null) return null;
  return { ...turn, open: turn.open || isBusy };
};

/** The current state of one agent, with the calls that have changed. */
export const reportOf = (session: SessionState, id: string | null, calls: readonly ToolCall[]): AgentReport => {
  const agent = agentOf(session, id);
  const isBusy = isWorking(agent) || (id === null && !agent.ended && workingSubagents(session).length > 0);
  const wait = waitOf(session, id);
  const activity = activityOf(agent, wait, isBusy);
  const atPrompt = activity === 'awaiting_input' && wait === null;
  const { obstacle } = agent;
  return {
    agent: id,
    type: agent.type,
    fields: {
      activity,
      phase: agent.phase,
      waiting_for: atPrompt ? { kind: 'prompt', text: null, since: agent.turn?.last_event_at ?? null } : wait,
      turn: turnOf(agent, isBusy),
      usage: agent.usage,
      token_count: totalOf(agent.usage),
      context: agent.context,
      cost_usd: agent.costUsd,
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
      ...(obstacle?.kind === 'rate_limited' ? { rate_limit: { retry_at: obstacle.retryAt } } : {}),
      ...(agent.ended ? { exit: { code: null, signal: null, reason: id === null ? 'explicit' : 'finished' } } : {}),
    },
  };
};
