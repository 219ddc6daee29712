import type { Heartbeat, Receipt } from '../moment.ts';

export const CLASS_CHARACTERS = 60;

/** An error, reported by the agent or its client, that does not pass by itself; null without one. */
export type Blocked = {
  /** the start, on `now`'s axis */
  readonly at: number;
  /** null: not reported */
  readonly errorClass: string | null;
  /** whether the client reported it, with the end of a turn, and not the agent itself */
  readonly byClient: boolean;
} | null;

/**
 * The start of a turn does not end it, because the next request may fail in the same way. An answer of the model ends
 * it: a call, tokens, an event after the start of the turn, or a turn that ends well. `used`: whether this heartbeat
 * reports use of tokens.
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
