import type { ToolCall } from '@vigil/events';
import type { ReportedFields } from '../messages/agent-report.ts';

/** The calls of an agent that are saved before its end. Plain JSON. */
export type RecentCalls = {
  /** the newest that it has reported; null: none */
  readonly last: ToolCall | null;
  /** begun since its last checkpoint, oldest first; the newest of them */
  readonly sinceCheckpoint: readonly ToolCall[];
};

export const noCalls: RecentCalls = { last: null, sinceCheckpoint: [] };

const CALLS_KEPT = 20;

/** A call that has ended is in the place of its start. */
const merged = (known: readonly ToolCall[], calls: readonly ToolCall[]): readonly ToolCall[] => {
  const renewed = new Map(calls.map((call) => [call.call_id, call]));
  const kept = known.map((call) => renewed.get(call.call_id) ?? call);
  const ids = new Set(known.map(({ call_id: id }) => id));
  return [...kept, ...[...renewed.values()].filter(({ call_id: id }) => !ids.has(id))].slice(-CALLS_KEPT);
};

/** Adds a report of the agent. The calls of a report that names a checkpoint count as begun after it. */
export const callsAfterReport = (
  before: RecentCalls,
  { tool_calls: calls = [], checkpoint }: Pick<ReportedFields, 'tool_calls' | 'checkpoint'>,
): RecentCalls => {
  if (calls.length === 0 && !checkpoint) return before;
  return {
    last: calls.at(-1) ?? before.last,
    sinceCheckpoint: merged(checkpoint ? [] : before.sinceCheckpoint, calls),
  };
};
