/** Where omniclaude keeps its files, below the root. Runtimes and alerting write the same ones. */
export const FOLDERS = {
  state: '.onex_state',
  friction: '.onex_state/friction/',
  dispatchLog: '.onex_state/dispatch-log/',
} as const;

/** `day`: `2026-04-02`; `ticket`: as part of a file's name */
export const frictionFile = (day: string, ticket: string): string => `${day}-agent-stall-escalation-${ticket}.md`;

/** A ticket in the name of a file. It cannot lead out of the folder. */
export const ticketName = (ticket: string): string => ticket.toLowerCase().replace(/[^a-z0-9._-]/g, '-');

type Escalated = {
  readonly utc: string;
  readonly ticket: string;
  readonly attempts: number | null;
  readonly friction: string;
};

/** A line of omniclaude's dispatch log. */
export const blockedLine = ({ utc, ticket, attempts, friction }: Escalated): string => {
  const event = {
    timestamp_utc: utc,
    event: 'escalated_to_blocked',
    ticket_id: ticket,
    attempt_count: attempts,
    friction_path: friction,
  };
  return `${JSON.stringify(event)}\n`;
};

/** A task that is Blocked. `log` and `checkpoint`: paths */
type Friction = {
  readonly ticket: string;
  readonly attempts: number | null;
  readonly limit: number | null;
  readonly reason: string;
  /** its agents stalled; otherwise the last of them ended by itself */
  readonly isStall: boolean;
  /** its issue is moved to Blocked in Linear */
  readonly isMoved: boolean;
  readonly log: string;
  readonly checkpoint: string;
};

/** omniclaude's friction event, to the letter where stalls have used up the redispatches and Linear has the issue. */
export const frictionText = (
  friction: Friction,
): string => `# ${friction.isStall ? 'Agent Stall Escalation' : 'Escalation'}: ${friction.ticket}
## Summary
${summaryOf(friction)}
## Stall History
- See dispatch log: ${friction.log}
- Recovery checkpoint: ${friction.checkpoint}
## Root Cause Hypothesis
${hypothesisOf(friction)}
## Recommended Action
Manual investigation required. Read the checkpoint and dispatch log to determine
whether the issue is agent-side (scope too large) or environment-side (broken infra).
`;

const summaryOf = ({ ticket, attempts, limit, reason, isStall, isMoved }: Friction): string => {
  const after = isMoved ? 'Ticket moved to Blocked in Linear.' : 'The task waits for a person.';
  if (!isStall) return `No agent continues ${ticket}: ${reason}.\n${after}`;
  if (limit === null)
    return `Agent stalled ${attempts === null ? '' : `${attempts} ${attempts === 1 ? 'time' : 'times'} `}on ${ticket}: ${reason}`;
  return `Agent stalled ${attempts} times on ${ticket}, exceeding the max redispatch\nlimit of ${limit}. ${after}`;
};

const hypothesisOf = ({ isStall }: Friction): string =>
  isStall
    ? `Agent likely hitting context exhaustion or encountering a blocking issue that
persists across redispatches (e.g., missing dependency, broken test, infra issue).`
    : `The last agent ended by itself. Its output and exit code have the cause, which may
persist across redispatches (e.g., missing dependency, broken test, infra issue).`;
