type Friction = {
  readonly ticket: string;
  readonly attempts: number | null;
  readonly limit: number | null;
  readonly reason: string;
  readonly log: string;
  readonly checkpoint: string;
};

/** omniclaude's friction event, to the letter where its redispatches are used up. */
export const frictionText = (friction: Friction): string => `# Agent Stall Escalation: ${friction.ticket}
## Summary
${summaryOf(friction)}
## Stall History
- See dispatch log: ${friction.log}
- Recovery checkpoint: ${friction.checkpoint}
## Root Cause Hypothesis
Agent likely hitting context exhaustion or encountering a blocking issue that
persists across redispatches (e.g., missing dependency, broken test, infra issue).
## Recommended Action
Manual investigation required. Read the checkpoint and dispatch log to determine
whether the issue is agent-side (scope too large) or environment-side (broken infra).
`;

const summaryOf = ({ ticket, attempts, limit, reason }: Friction): string =>
  limit === null
    ? `Agent stalled ${attempts === null ? '' : `${attempts} ${attempts === 1 ? 'time' : 'times'} `}on ${ticket}: ${reason}`
    : `Agent stalled ${attempts} times on ${ticket}, exceeding the max redispatch
limit of ${limit}. Ticket moved to Blocked in Linear.`;
