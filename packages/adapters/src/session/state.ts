import type { ContextUse, TokenUsage, ToolCall, TurnReport, WaitingFor } from '@vigil/events';
import { ownOf } from '../shared/payload.ts';

/**
 * A call in flight. `asked`: a person was asked for a permission for it; `answered`: the hook has returned the answer. `pendingEnd`: its end, unless the file of
 * the session shows another outcome; absent: it runs.
 */
export type OpenCall = {
  readonly call: ToolCall;
  readonly batch: string | null;
  readonly asked: boolean;
  readonly answered?: true;
  readonly pendingEnd?: ToolCall;
};

/** The end of a call without an id. `at`: epoch milliseconds */
export type SeenEnd = { readonly tool: string; readonly argsHash: string | null; readonly at: number };

/** A wait for a person, and its call; null if unknown. */
export type Wait = { readonly waiting: WaitingFor; readonly callId: string | null };

/** An obstacle to the next answer. */
export type Obstacle =
  | { readonly kind: 'rate_limited'; readonly retryAt: number | null }
  | { readonly kind: 'blocked'; readonly errorClass: string };

/** One agent of a session: its own, or one of its sub-agents. */
export type AgentState = {
  /** the client's name of the type of sub-agent; null for the session's own agent, or if unknown */
  readonly type: string | null;
  readonly open: Readonly<Record<string, OpenCall>>;
  /** recently ended calls, whose start may be reported late */
  readonly endedCalls: readonly string[];
  /** ends in the session file, the newest last; their hook may report them late */
  readonly seenEnds: readonly SeenEnd[];
  readonly turn: TurnReport | null;
  /** when its last turn ended; null without one */
  readonly closedAt: number | null;
  readonly wait: Wait | null;
  readonly obstacle: Obstacle | null;
  /** whether its turn is over and a background task or timer starts the next one */
  readonly wakes: boolean;
  readonly ended: boolean;
  readonly phase: string;
  readonly usage: readonly TokenUsage[];
  readonly context: ContextUse | null;
  readonly costUsd: number | null;
  /** the source of `usage`: the client itself, or metrics and traces; null without a count */
  readonly counts: 'own' | 'metered' | null;
  /** answers whose tokens are counted, the newest last */
  readonly counted: readonly string[];
};

/** Plain JSON. `main` is the session's own agent. */
export type SessionState = {
  readonly main: AgentState;
  readonly subagents: Readonly<Record<string, AgentState>>;
};

const noAgent: AgentState = {
  type: null,
  open: {},
  endedCalls: [],
  seenEnds: [],
  turn: null,
  closedAt: null,
  wait: null,
  obstacle: null,
  wakes: false,
  ended: false,
  phase: 'session',
  usage: [],
  context: null,
  costUsd: null,
  counts: null,
  counted: [],
};

export const newSession: SessionState = { main: noAgent, subagents: {} };

/** The number of sub-agents that are stored. Beyond it, those that ended first are dropped. */
const MOST_SUBAGENTS = 50;

export const agentOf = (session: SessionState, id: string | null): AgentState =>
  id === null ? session.main : (ownOf(session.subagents, id) ?? { ...noAgent, phase: 'working' });

export const withAgent = (session: SessionState, id: string | null, agent: AgentState): SessionState => {
  if (id === null) return { ...session, main: agent };
  const subagents = { ...session.subagents, [id]: agent };
  const surplus = Object.keys(subagents).length - MOST_SUBAGENTS;
  if (surplus <= 0) return { ...session, subagents };
  const oldest = Object.keys(subagents)
    .filter((one) => subagents[one]?.ended)
    .slice(0, surplus);
  return {
    ...session,
    subagents: Object.fromEntries(Object.entries(subagents).filter(([one]) => !oldest.includes(one))),
  };
};

export const isWorking = ({ ended, turn, open }: AgentState): boolean =>
  !ended && (turn?.open === true || Object.keys(open).length > 0);

export const workingSubagents = ({ subagents }: SessionState): readonly string[] =>
  Object.keys(subagents).filter((id) => subagents[id] !== undefined && isWorking(subagents[id]));
