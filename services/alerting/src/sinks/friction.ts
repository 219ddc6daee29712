type Told = {
  readonly ticket: string;
  readonly attempts: number | null;
  readonly limit: number | null;
  readonly reason: string;
  readonly log: string;
  readonly checkpoint: string;
};

/** Seed 003's friction event, to the letter where its redispatches are used up. */
export const frictionText = (told: Told): string => `# Agent Stall Escalation: ${told.ticket}
## Summary
${summaryOf(told)}
## Stall History
- See dispatch log: ${told.log}
- Recovery checkpoint: ${told.checkpoint}
## Root Cause Hypothesis
Agent likely hitting context exhaustion or encountering a blocking issue that
persists across redispatches (e.g., missing dependency, broken test, infra issue).
## Recommended Action
Manual investigation required. Read the checkpoint and dispatch log to determine
whether the issue is agent-side (scope too large) or environment-side (broken infra).
`;

const summaryOf = ({ ticket, attempts, limit, reason }: Told): string =>
  limit === null
    ? `Agent stalled ${attempts === null ? '' : `${attempts} ${attempts === 1 ? 'time' : 'times'} `}on ${ticket}: ${reason}`
    : `Agent stalled ${attempts} times on ${ticket}, exceeding the max redispatch
limit of ${limit}. Ticket moved to Blocked in Linear.`;
