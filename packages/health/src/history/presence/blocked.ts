import type { Heartbeat, Receipt } from '../moment.ts';

export const CLASS_CHARACTERS = 60;

/** The agent, or its client, reports an error that does not pass by itself. Null: it does not. */
export type Blocked = {
  /** since when, on `now`'s axis */
  readonly at: number;
  /** null: not reported */
  readonly errorClass: string | null;
  /** its client reported it: the end of a turn, and not a report of the agent */
  readonly byClient: boolean;
} | null;

/**
 * A turn that only starts does not end it: the next request may fail in the same way. What ends it is an answer of the model: a call,
 * tokens, an event after the start of the turn, or a turn that ends well. `used`: this heartbeat reports use of tokens.
 */
export const blockedAfter = (before: Blocked, used: boolean, heartbeat: Heartbeat, { now }: Receipt): Blocked => {
  if (heartbeat.activity === 'blocked') {
    const errorClass = heartbeat.errors.at(-1)?.error_class?.slice(0, CLASS_CHARACTERS) ?? before?.errorClass ?? null;
    const byClient = heartbeat.turn !== null;
    if (before !== null && before.errorClass === errorClass && before.byClient === byClient) return before;
    return { at: before?.at ?? now, errorClass, byClient };
  }
  if (before === null) return null;
  return used || heartbeat.tool_calls.length > 0 || hasContinued(heartbeat) ? null : before;
};

const hasContinued = ({ turn, activity }: Heartbeat): boolean => {
  if (turn === null || !turn.open) return activity !== null;
  return turn.last_event_at !== null && turn.started_at !== null && turn.last_event_at > turn.started_at;
};
