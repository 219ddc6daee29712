import type { TokenUsage } from '@vigil/events';
import type { AnswerUsage, Usage } from './events.ts';
import type { AgentState, SessionState } from './state.ts';

/** Answers that are remembered, so that one that is reported again does not count again. */
const mostCounted = 200;

const added = (before: TokenUsage, more: TokenUsage): TokenUsage => ({
  model: before.model,
  input_tokens: before.input_tokens + more.input_tokens,
  cache_read_tokens: before.cache_read_tokens + more.cache_read_tokens,
  cache_write_tokens: before.cache_write_tokens + more.cache_write_tokens,
  output_tokens: before.output_tokens + more.output_tokens,
});

/** The tokens of one more answer. */
export const withAnswer = (agent: AgentState, { requestId, tokens, context, costUsd }: AnswerUsage): AgentState => {
  if (agent.counted.includes(requestId)) return agent;
  const known = agent.usage.find(({ model }) => model === tokens.model);
  const usage =
    known === undefined
      ? [...agent.usage, tokens]
      : agent.usage.map((one) => (one === known ? added(one, tokens) : one));
  return {
    ...agent,
    counts: 'own',
    usage,
    context: context ?? agent.context,
    costUsd: costUsd === null ? agent.costUsd : (agent.costUsd ?? 0) + costUsd,
    counted: [...agent.counted, requestId].slice(-mostCounted),
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
