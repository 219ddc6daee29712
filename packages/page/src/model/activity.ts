import type { AgentHeartbeatPayload, CallOutcome } from '@vigil/events';
import type { AgentRow, HistoryRow } from '@vigil/read-model';

/** A heartbeat as the stream of events has it. `occurredAt`: epoch milliseconds of the broker. */
export type HeartbeatEvent = {
  readonly occurredAt: number;
  readonly payload: Pick<AgentHeartbeatPayload, 'timestamp' | 'instance_id' | 'tool_calls' | 'context'>;
};

/** `to`: null while it is in flight. Times are those of the broker. */
export type Call = {
  readonly id: string;
  readonly tool: string;
  readonly from: number;
  readonly to: number | null;
  readonly outcome: 'ok' | 'failed' | 'in flight';
};

/** What an agent has done. */
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
    // As the history of the API names it.
    const id = `${payload.instance_id ?? ''}/${call_id}`;
    const known = calls.get(id);
    calls.set(id, {
      ...{ id, tool, outcome: OUTCOME[outcome] ?? 'in flight' },
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

/** A call in flight is over if its agent has ended or has another instance: its end was never reported. */
const isOver = (call: HistoryRow, { state, instanceId }: Pick<AgentRow, 'state' | 'instanceId'>): boolean =>
  state === 'TERMINATED' || (call.instanceId !== null && instanceId !== null && call.instanceId !== instanceId);

/** The calls and compactions of the stored history, oldest first. `history`: newest first, as the API has it. */
export const activityOf = (history: readonly HistoryRow[], agent: Pick<AgentRow, 'state' | 'instanceId'>): Activity => {
  const oldestFirst = history.toReversed();
  const calls = oldestFirst.flatMap((row): readonly Call[] => {
    if (row.kind !== 'call') return [];
    const to = row.endedAt ?? (isOver(row, agent) ? row.at : null);
    return [{ id: row.id, tool: row.tool ?? '', from: row.at, to, outcome: OUTCOME[row.outcome ?? 'UNKNOWN'] }];
  });
  const compactions = oldestFirst.flatMap(({ kind, at }) => (kind === 'compaction' ? [at] : []));
  return { calls: calls.slice(-MOST_CALLS), compactions, context: null };
};

/** The stored activity with what the page has seen itself, which is newer. Each call and each compaction once. */
export const activityWith = (stored: Activity, seen: Activity): Activity => {
  const calls = new Map([...stored.calls, ...seen.calls].map((call) => [call.id, call]));
  const compactions = new Set([...stored.compactions, ...seen.compactions]);
  return { calls: [...calls.values()].slice(-MOST_CALLS), compactions: [...compactions], context: seen.context };
};
