import type { AgentHeartbeatPayload, CallOutcome } from '@vigil/events';

/** A heartbeat as the stream of events has it. `occurredAt`: epoch milliseconds of the broker. */
export type HeartbeatEvent = {
  readonly occurredAt: number;
  readonly payload: Pick<AgentHeartbeatPayload, 'timestamp' | 'tool_calls' | 'context'>;
};

/** `to`: null while it is in flight. Times are those of the broker. */
export type Call = {
  readonly id: string;
  readonly tool: string;
  readonly from: number;
  readonly to: number | null;
  readonly outcome: 'ok' | 'failed' | 'in flight';
};

/** What an agent has done since the page began to follow it. */
export type Activity = {
  readonly calls: readonly Call[];
  /** when its context became much smaller */
  readonly compactions: readonly number[];
  /** the used share of its context; null: not reported */
  readonly context: number | null;
};

export const NO_ACTIVITY: Activity = { calls: [], compactions: [], context: null };

const MOST_CALLS = 500;
/** A context that loses more than this share of its room at once was compacted. */
const COMPACTED = 0.25;

const OUTCOME: Readonly<Record<CallOutcome, Call['outcome']>> = {
  UNKNOWN: 'in flight',
  running: 'in flight',
  ok: 'ok',
  error: 'failed',
  refused: 'failed',
  abandoned: 'failed',
};

/** The activity with one more heartbeat. The agent's clock is moved onto the broker's. */
export const activityAfter = (before: Activity, { occurredAt, payload }: HeartbeatEvent): Activity => {
  const drift = occurredAt - payload.timestamp;
  const calls = new Map(before.calls.map((call) => [call.id, call]));
  for (const { call_id, tool, outcome, started_at, ended_at } of payload.tool_calls) {
    const known = calls.get(call_id);
    calls.set(call_id, {
      ...{ id: call_id, tool, outcome: OUTCOME[outcome] ?? 'in flight' },
      from: started_at === null ? (known?.from ?? occurredAt) : started_at + drift,
      to: ended_at === null ? null : ended_at + drift,
    });
  }
  const { context } = payload;
  const share =
    context === null || context.tokens_max === 0 ? before.context : context.tokens_used / context.tokens_max;
  const isCompacted = before.context !== null && share !== null && before.context - share > COMPACTED;
  return {
    calls: [...calls.values()].slice(-MOST_CALLS),
    compactions: isCompacted ? [...before.compactions, occurredAt] : before.compactions,
    context: share,
  };
};
