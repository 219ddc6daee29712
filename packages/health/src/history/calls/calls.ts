import type { CallKind, ToolCall } from '@vigil/events';
import { hash32 } from '../hash.ts';
import { type Heartbeat, instant, placed, type Receipt } from '../moment.ts';

/** The largest number of calls in flight that are stored. With more, one is dropped that is not the first to be due. */
export const OPEN_CALLS = 12;

/** A call in flight. `spanMs`: from its start to its declared deadline. */
export type OpenCall = {
  readonly id: string;
  readonly kind: CallKind;
  readonly tool: string;
  readonly mark: number;
  readonly spanMs: number | null;
};

export type Calls = {
  readonly open: readonly OpenCall[];
  /** mark of the last start or end of a call; null: no call has been reported */
  readonly last: number | null;
  /** mark of the last end of a call that was in flight, without those of the model */
  readonly landed: number | null;
  /** the same for calls of the model; absent: none has ended */
  readonly modelLanded?: number;
  readonly lastTool: string | null;
  readonly lastSpanMs: number | null;
  /** how long that call ran; absent: it runs, its start is unknown, or it declares no deadline */
  readonly lastRanMs?: number;
  /** `last_tool_call` as sent: compared with itself only */
  readonly sentLast: number | null;
  /** failed calls in a row; rate limits neither count nor end the row */
  readonly failures: number;
  readonly failedAt: number | null;
  /** the same for each tool, by the hash of its name; of the tools that failed last */
  readonly failing: readonly ToolFailures[];
};

/** The largest number of tools whose failures are stored. With more, the one that failed longest ago is dropped. */
export const FAILING_TOOLS = 4;
/** `before`: how many of the failures came before the present turn; absent: none. */
export type ToolFailures = {
  readonly tool: number;
  readonly failures: number;
  readonly before?: number;
  readonly at: number;
};

export const NO_CALLS: Calls = {
  open: [],
  last: null,
  landed: null,
  lastTool: null,
  lastSpanMs: null,
  sentLast: null,
  failures: 0,
  failedAt: null,
  failing: [],
};

/** `opens`: whether a turn of the client opens. The calls of the heartbeat are of that turn. */
export const callsAfter = (before: Calls, opens: boolean, heartbeat: Heartbeat, receipt: Receipt): Calls => {
  const known = opens && before.failing.length > 0 ? inNewTurn(before) : before;
  const after = heartbeat.tool_calls.reduce((sofar, call) => callAfter(sofar, call, receipt), known);
  return lastCallSent(after, heartbeat, receipt);
};

const inNewTurn = (before: Calls): Calls => ({
  ...before,
  failing: before.failing.map((one) => ({ ...one, before: one.failures })),
});

/** Whether the call ran and its result is known, so that it counts as success or failure. */
export const finished = (call: ToolCall): boolean => call.outcome === 'ok' || call.outcome === 'error';
/** Whether the call has ended: it ran, or was refused or abandoned. Its result may be unknown. */
const ended = (call: ToolCall): boolean => finished(call) || call.outcome === 'refused' || call.outcome === 'abandoned';
export const rateLimited = (call: ToolCall): boolean => call.error_class === 'rate_limit';

const callAfter = (before: Calls, call: ToolCall, receipt: Receipt): Calls => {
  const spanMs = spanOf(call, receipt);
  const mark = instant(receipt, ended(call) ? call.ended_at : call.started_at).watched;
  const open = openAfter(before.open, call, mark, spanMs);
  const { lastRanMs: _, ...others } = before;
  const ranMs = spanMs === null ? 0 : mark - startedAt(before, call, receipt, mark);
  return {
    ...others,
    ...(ranMs > 0 && { lastRanMs: ranMs }),
    open,
    ...(open.length < before.open.length && landedAfter(before, call.kind, mark)),
    last: Math.max(before.last ?? mark, mark),
    lastTool: call.tool,
    lastSpanMs: spanMs,
    ...failuresAfter(before, call, receipt),
  };
};

/** Its start is known exactly while it is in flight. Otherwise it is at the latest its end. */
const startedAt = ({ open }: Calls, call: ToolCall, receipt: Receipt, mark: number): number => {
  const known = open.find(({ id }) => id === call.call_id);
  if (known) return known.mark;
  return call.started_at === null ? mark : Math.min(mark, instant(receipt, call.started_at).watched);
};

const landedAfter = (
  { landed, modelLanded }: Calls,
  kind: CallKind,
  mark: number,
): Pick<Calls, 'modelLanded'> | Pick<Calls, 'landed'> =>
  kind === 'model' ? { modelLanded: Math.max(modelLanded ?? mark, mark) } : { landed: Math.max(landed ?? mark, mark) };

const openAfter = (
  open: readonly OpenCall[],
  call: ToolCall,
  mark: number,
  spanMs: number | null,
): readonly OpenCall[] => {
  const known = open.find(({ id }) => id === call.call_id);
  if (ended(call)) return known ? open.filter(({ id }) => id !== call.call_id) : open;
  if (call.outcome !== 'running' || known) return open;
  const all = [...open, { id: call.call_id, kind: call.kind, tool: call.tool, mark, spanMs }];
  return all.length > OPEN_CALLS ? withoutOne(all) : all;
};

/**
 * Drops the oldest call that cannot be the first overdue one under any policy. Kept are the oldest of all and, of each
 * kind, the oldest without a deadline and the one with the first deadline: at most eleven.
 */
const withoutOne = (open: readonly OpenCall[]): readonly OpenCall[] => {
  const kept = new Map<string, OpenCall>();
  for (const call of open) {
    const group = `${call.kind} ${call.spanMs === null}`;
    const known = kept.get(group);
    if (known === undefined || dueAt(call) < dueAt(known)) kept.set(group, call);
  }
  const firsts = [...kept.values()];
  const dropped = open.findIndex((call, i) => i > 0 && !firsts.includes(call));
  return open.toSpliced(dropped, 1);
};

const dueAt = ({ mark, spanMs }: OpenCall): number => mark + (spanMs ?? 0);

const spanOf = (call: ToolCall, receipt: Receipt): number | null =>
  call.deadline_at === null ? null : Math.max(0, call.deadline_at - (call.started_at ?? receipt.stamp));

const failuresAfter = (
  before: Calls,
  call: ToolCall,
  receipt: Receipt,
): Pick<Calls, 'failures' | 'failedAt' | 'failing'> => {
  const { failures, failedAt, failing } = before;
  const failed = call.outcome === 'error' && !rateLimited(call);
  if (call.outcome !== 'ok' && !failed) return { failures, failedAt, failing };
  if (!failed && failing.length === 0) return { failures: 0, failedAt: null, failing };
  const tool = hash32(call.tool);
  const others = failing.filter((one) => one.tool !== tool);
  if (!failed) return { failures: 0, failedAt: null, failing: others };
  const at = instant(receipt, call.ended_at).now;
  const known = failing.find((one) => one.tool === tool) ?? { failures: 0 };
  return {
    failures: failures + 1,
    failedAt: at,
    failing: [...others.slice(1 - FAILING_TOOLS), { ...known, tool, failures: known.failures + 1, at }],
  };
};

const lastCallSent = (before: Calls, heartbeat: Heartbeat, receipt: Receipt): Calls => {
  const sent = heartbeat.last_tool_call;
  if (sent === null || !isLaterCall(before.sentLast, sent, receipt)) return before;
  const mark = instant(receipt, sent).watched;
  return { ...before, sentLast: sent, last: Math.max(before.last ?? mark, mark) };
};

/**
 * Whether `last_tool_call` names a later call than the last one. If that one is in the future of the agent's clock, its
 * time was wrong or the clock was set back. Then a call after the previous receipt, on the broker's clock, is later.
 */
export const isLaterCall = (last: number | null, sent: number, receipt: Receipt): boolean => {
  if (last === null || sent > last) return true;
  const { previous, stamp } = receipt;
  return last > stamp && previous !== null && sent <= stamp && placed(receipt, sent) > previous.now;
};
