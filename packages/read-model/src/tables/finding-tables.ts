/** An agent's breakers under the agent, recovery's under the task. */
export const breakers = {
  key: ['holder', 'name'],
  groups: { breaker: ['agent_id', 'task_id', 'state', 'failures', 'next_attempt_at', 'breaker_since'] },
} as const;

export const tickets = {
  key: ['ticket_id'],
  groups: {
    filed: ['agent_id', 'instance_id', 'task_id', 'episode_id', 'labels', 'severity', 'ticket', 'findings', 'filed_at'],
    answer: ['answer', 'analysis', 'alert_key', 'answered_at'],
  },
} as const;
