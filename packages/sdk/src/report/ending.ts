import { count, type KnownExitReason, reason as reasonIn, small } from './fields.ts';
import { type Lasting, lasting, type Notes } from './notes.ts';

/**
 * How the agent ends. Without a runtime, `finished` and `explicit` end it. Any other reason is a hint, because only a
 * confirmed death moves its task to another agent.
 * Under a runtime every reason is a hint: the runtime observes the end.
 */
export type Ending = {
  /** default: finished */
  readonly reason?: KnownExitReason | undefined;
  readonly code?: number | undefined;
  /** how long pending reports may take to go out, milliseconds; default 2000 */
  readonly withinMs?: number | undefined;
};

const FLUSH_MS = 2000;
const LONGEST_FLUSH_MS = 60_000;

export const withinOf = ({ withinMs }: Ending): number => Math.min(count(withinMs) ?? FLUSH_MS, LONGEST_FLUSH_MS);

/** A crashed agent has to count as silent: `exiting` would excuse its silence. */
const activityAt = (why: KnownExitReason): Lasting['activity'] => {
  switch (why) {
    case 'finished':
      return 'finished';
    case 'explicit':
      return 'exiting';
    case 'crashed':
    case 'resource_limit':
    case 'lost':
      return null;
  }
};

/** Adds the end to the last heartbeat. */
export const ended = (notes: Notes, { reason, code }: Ending): Notes => {
  const why = reasonIn(reason) ?? 'finished';
  return lasting(notes, {
    activity: activityAt(why),
    exit: { code: small(code), signal: null, reason: why },
  });
};
