import { type Heartbeat, instant, type Receipt } from '../moment.ts';
import { finished } from './calls.ts';
import type { HeartbeatDelta } from './heartbeat-delta.ts';

/** The number of finished calls: of the instance, since the last declared progress, and in the client's present turn. */
export type Made = {
  readonly instance: number;
  readonly progress: number;
  readonly turn: number;
  /** when the last of them ended, on `now`'s axis */
  readonly at: number;
};

export const NONE_MADE: Made = { instance: 0, progress: 0, turn: 0, at: 0 };

/**
 * A new checkpoint, a work update or an ACCEPT is declared progress. The calls of its heartbeat count after it. `opens`:
 * whether a turn of the client opens; the calls of its heartbeat are of that turn.
 */
export const madeAfter = (
  before: Made,
  { declared }: HeartbeatDelta,
  opens: boolean,
  heartbeat: Heartbeat,
  receipt: Receipt,
): Made => {
  const calls = heartbeat.tool_calls.filter(finished);
  if (calls.length === 0 && !declared && !opens) return before;
  return {
    instance: before.instance + calls.length,
    progress: (declared ? 0 : before.progress) + calls.length,
    turn: (opens ? 0 : before.turn) + calls.length,
    at: calls.reduce((at, { ended_at }) => Math.max(at, instant(receipt, ended_at).now), before.at),
  };
};
