import { type Heartbeat, instant, type Receipt } from '../moment.ts';

/** The turn that the agent's client reports; null if it has reported none. */
export type Turn = {
  readonly open: boolean;
  /** the last event of the client, as sent; compared only with its own later values */
  readonly sentEvent: number | null;
  /** mark of the last event of the client, or of the report that opened the turn */
  readonly moved: number;
} | null;

/** A heartbeat without a turn changes nothing. */
export const turnAfter = (before: Turn, { turn }: Heartbeat, receipt: Receipt): Turn => {
  if (turn === null) return before;
  const { open, last_event_at: sent } = turn;
  const isNewer = sent !== null && (before === null || before.sentEvent === null || sent > before.sentEvent);
  const opens = open && before?.open !== true;
  if (before !== null && !isNewer && open === before.open) return before;
  const mark = isNewer ? instant(receipt, sent).watched : opens ? receipt.watched : 0;
  return {
    open,
    sentEvent: isNewer ? sent : (before?.sentEvent ?? null),
    moved: Math.max(before?.moved ?? 0, mark),
  };
};

/** Whether the client opens a turn. A turn that ends and one that begins between two reports count as one. */
export const opensTurn = (before: Turn, after: Turn): boolean => after?.open === true && before?.open !== true;

/**
 * Removes the output from a heartbeat while a turn is open, because a spinner, a redraw or a retry line is not a sign
 * of work.
 */
export const signsOf = (turn: Turn, heartbeat: Heartbeat): Heartbeat => {
  if (turn?.open !== true || heartbeat.output === null) return heartbeat;
  return { ...heartbeat, output: { ...heartbeat.output, last_output_at: null } };
};
