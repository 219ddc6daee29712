import { added } from '../shared/counts.ts';
import type { AnswerUsage, Usage } from './events.ts';
import type { AgentState, SessionState } from './state.ts';

/** Answers that are remembered, so that one that is reported again does not count again. */
const MOST_COUNTED = 200;

/** The tokens of one more answer. */
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

/** The client counts by itself: what another source has counted is forgotten. */
export const uncounted = (agent: AgentState): AgentState => ({ ...agent, usage: [], counted: [], costUsd: null });

/** What the client has counted itself; unknown parts stay as they are. */
export const withUsage = (agent: AgentState, { usage, context, costUsd }: Usage): AgentState => ({
  ...agent,
  usage: usage.length === 0 ? agent.usage : usage,
  context: context ?? agent.context,
  costUsd: costUsd ?? agent.costUsd,
});

/** Another source counts the tokens and the cost of the whole session from now on: what this one has counted is forgotten. */
export const withoutUsage = ({ main, subagents }: SessionState): SessionState => {
  const forgotten = (agent: AgentState): AgentState => ({ ...uncounted(agent), counts: null });
  return {
    main: forgotten(main),
    subagents: Object.fromEntries(Object.entries(subagents).map(([id, agent]) => [id, forgotten(agent)])),
  };
};
