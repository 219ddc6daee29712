import { added } from '../shared/counts.ts';
import type { AnswerUsage, Usage } from './events.ts';
import type { AgentState, SessionState } from './state.ts';

/** The number of answers that are stored, so that a repeated report does not count again. */
const MOST_COUNTED = 200;

/** Adds the tokens of an answer. */
export const withAnswer = (agent: AgentState, { requestId, tokens, context, costUsd }: AnswerUsage): AgentState => {
  if (agent.counted.includes(requestId)) return agent;
  return {
    ...agent,
    counts: 'own',
    usage: added(agent.usage, tokens),
    context: context ?? agent.context,
    costUsd: costUsd === null ? agent.costUsd : (agent.costUsd ?? 0) + costUsd,
    counted: [...agent.counted, requestId].slice(-MOST_COUNTED),
  };
};

/** Drops the counts of another source, because the client counts by itself. */
export const uncounted = (agent: AgentState): AgentState => ({ ...agent, usage: [], counted: [], costUsd: null });

/** Applies the client's own counts; unknown parts keep their value. */
export const withUsage = (agent: AgentState, { usage, context, costUsd }: Usage): AgentState => ({
  ...agent,
  usage: usage.length === 0 ? agent.usage : usage,
  context: context ?? agent.context,
  costUsd: costUsd ?? agent.costUsd,
});

/** Drops the counts of this source, because another one counts the tokens and cost of the whole session from now on. */
export const withoutUsage = ({ main, subagents }: SessionState): SessionState => {
  const forgotten = (agent: AgentState): AgentState => ({ ...uncounted(agent), counts: null });
  return {
    main: forgotten(main),
    subagents: Object.fromEntries(Object.entries(subagents).map(([id, agent]) => [id, forgotten(agent)])),
  };
};
