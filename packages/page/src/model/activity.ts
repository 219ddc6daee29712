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

/** What an agent has done. `hasOlder`: it has made older calls than these. */
export type Activity = {
  readonly calls: readonly Call[];
  readonly hasOlder: boolean;
  /** when its context became much smaller */
  readonly compactions: readonly number[];
};

/** The timeline draws at most so many calls. */
export const MOST_CALLS = 500;

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

/** The calls and compactions of the stored history, oldest first. `history`: newest first, as the API has it; `isWhole`: nothing older is stored. */
export const activityOf = (
  history: readonly HistoryRow[],
  isWhole: boolean,
  agent: Pick<AgentRow, 'state' | 'instanceId'>,
): Activity => {
  const oldestFirst = history.toReversed();
  const calls = oldestFirst.flatMap((row): readonly Call[] => {
    if (row.kind !== 'call') return [];
    const to = row.endedAt ?? (isOver(row, agent) ? row.at : null);
    return [{ id: row.id, tool: row.tool ?? '', from: row.at, to, outcome: OUTCOME[row.outcome ?? 'UNKNOWN'] }];
  });
  const compactions = oldestFirst.flatMap(({ kind, at }) => (kind === 'compaction' ? [at] : []));
  return { calls: calls.slice(-MOST_CALLS), hasOlder: !isWhole || calls.length > MOST_CALLS, compactions };
};

/** Something that the agent did, for the table. */
export type Deed = {
  readonly id: string;
  readonly at: number;
  readonly what: string;
  readonly outcome: Call['outcome'] | null;
  /** null: a moment, or in flight */
  readonly tookMs: number | null;
};

const tokens = (count: number | null): string => (count === null ? 'unknown' : count.toLocaleString('en-US'));

/** `context from 176,000 to 82,000 of 200,000 tokens` */
const compactionText = ({ usedBefore, usedAfter, contextMax }: HistoryRow): string =>
  `compaction: context from ${tokens(usedBefore)} to ${tokens(usedAfter)} of ${tokens(contextMax)} tokens`;

/** The calls that are drawn, and the compactions, newest first. */
export const deedsOf = ({ calls }: Activity, history: readonly HistoryRow[]): readonly Deed[] => {
  const compactions = history.filter(({ kind }) => kind === 'compaction');
  return [
    ...calls.map(({ id, tool, from, to, outcome }) => ({
      ...{ id, at: from, what: `call of ${tool}`, outcome, tookMs: to === null ? null : to - from },
    })),
    ...compactions.map((row) => ({ id: row.id, at: row.at, what: compactionText(row), outcome: null, tookMs: null })),
  ].toSorted((one, other) => other.at - one.at);
};

/** `1 call`, `2 calls`. */
export const counted = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`;

/** The calls and compactions since `from`, in words. Where older calls are not drawn, it counts the newest ones. */
export const activityText = ({ calls, hasOlder, compactions }: Activity, from: number): string => {
  const shown = calls.filter(({ to }) => to === null || to >= from);
  const failed = shown.filter(({ outcome }) => outcome === 'failed').length;
  const shrunk = counted(compactions.filter((at) => at >= from).length, 'compaction');
  const isCut = hasOlder && shown.length === calls.length && calls.length > 0;
  return isCut
    ? `The newest ${counted(shown.length, 'call')}, ${failed} of them failed; older ones are not drawn. ${shrunk}.`
    : `${counted(shown.length, 'call')}, ${failed} of them failed, and ${shrunk}.`;
};
