import { BLOCKED_ROUTE } from '../notices/agents/agent-notices.ts';
import { type Alert, isBefore, NO_TIMES, type OfAgent, timesAfter } from './alert-state.ts';
import type { Input } from './messages.ts';
import { newestRequest } from './requests.ts';

/** The most agents whose reports the alert of a task keeps. */
const MOST_AGENTS = 16;
/** How long a raise may be read after a later end, while alerting catches up. Milliseconds. */
const LATE_MS = 10_000;

export const isLateEnd = (input: Input, now: number): boolean =>
  input.type === 'NOTIFY' && input.payload.action === 'resolve' && now - input.occurredAt > LATE_MS;

/** An agent that has raised the alert of a task and is not healthy yet keeps it open for all. */
export const isOpenForOthers = ({ agents = [] }: Alert): boolean => agents.some(({ isOpen }) => isOpen);

/**
 * Several agents of a task may raise these. An agent ends what it raised itself. A task that an agent works on is not blocked: one that is
 * HEALTHY, or starts on the task, ends `task_blocked` for all of its agents.
 */
const SHARED: ReadonlySet<string> = new Set(['stuck_agent', BLOCKED_ROUTE]);

const agentIn = (input: Input): string | null =>
  input.type === 'NOTIFY' && SHARED.has(input.payload.route) ? input.payload.agentId : null;

export const isEndOfTask = (input: Input): boolean =>
  input.type === 'NOTIFY' &&
  input.payload.action === 'resolve' &&
  SHARED.has(input.payload.route) &&
  input.payload.agentId === null;

export const taskOverOf = ({ taskOver }: Alert): number => taskOver ?? 0;

/** An agent without a report: its raise from before the end of the task is over. */
const unknownAgent = (state: Alert, agentId: string): OfAgent => ({
  agentId,
  times: { ...NO_TIMES, over: taskOverOf(state) },
  isOpen: false,
});

/**
 * The input happened before a contrary report of the same agent. For a task as a whole, a newer report of one of its
 * agents keeps it open. Requests are reported in their order, and the end of a wait ends no request.
 */
export const isPast = (state: Alert, input: Input): boolean => {
  const { agents = [], times } = state;
  if (input.type === 'NOTIFY' && input.payload.requestId !== null) return false;
  if (input.type === 'NOTIFY' && input.payload.action === 'resolve' && newestRequest(state) !== null) return true;
  const agentId = agentIn(input);
  const known = agents.find((one) => one.agentId === agentId);
  if (agentId !== null) return isBefore((known ?? unknownAgent(state, agentId)).times, input);
  return agents.length === 0 && isBefore(times, input);
};

export const agentsAfter = (state: Alert, input: Input, isLate: boolean): readonly OfAgent[] => {
  const { agents = [] } = state;
  if (input.type !== 'NOTIFY' || !SHARED.has(input.payload.route)) return agents;
  const { action, agentId } = input.payload;
  if (action !== 'raise' && action !== 'resolve') return agents;
  const dated = (one: OfAgent): OfAgent => ({
    ...one,
    times: timesAfter(one.times, input),
    isOpen: isBefore(one.times, input) ? one.isOpen : action === 'raise',
  });
  if (agentId === null) return action === 'resolve' ? agents.map(dated) : agents;
  const known = agents.find((one) => one.agentId === agentId);
  // An unknown agent has nothing to end, unless an earlier raise may still be unread.
  if (known === undefined && action === 'resolve' && agents.length === 0 && !isLate) return agents;
  const others = agents.filter((one) => one !== known);
  return [...kept(others), dated(known ?? unknownAgent(state, agentId))];
};

/** Drops the ended ones first. */
const kept = (agents: readonly OfAgent[]): readonly OfAgent[] => {
  if (agents.length < MOST_AGENTS) return agents;
  const over = agents.findIndex(({ isOpen }) => !isOpen);
  return agents.toSpliced(Math.max(0, over), 1);
};

export const closed = (one: OfAgent): OfAgent => (one.isOpen ? { ...one, isOpen: false } : one);
