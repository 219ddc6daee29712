import type { CallOutcome } from '@vigil/events';
import type { AgentRow, HistoryRow } from '@vigil/read-model';

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
};

const MOST_CALLS = 500;

const OUTCOME: Readonly<Record<CallOutcome, Call['outcome']>> = {
  UNKNOWN: 'in flight',
  running: 'in flight',
  ok: 'ok',
  error: 'failed',
  refused: 'failed',
  abandoned: 'failed',
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
  return { calls: calls.slice(-MOST_CALLS), compactions };
};
