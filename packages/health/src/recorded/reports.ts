import { atItsStart, type CallOutcome, type ToolCall } from '@vigil/events';
import { hasTimes } from './inputs.ts';
import type { Hashing, RecordedCall, RecordedRun } from './run.ts';

/**
 * A report that the agent would have sent, and its time, milliseconds. `folded`: the number of recorded calls up to it.
 * `tokens`: null if unknown.
 */
export type Report = {
  readonly at: number;
  readonly folded: number;
  readonly call: ToolCall;
  readonly tokens: number | null;
};

/**
 * The reports of a run in the order of time: the end of each call, and its start. A call with an unknown start may have
 * taken the whole time since the call before it, so it counts as in flight in that time, and not as overdue.
 */
export const reportsOf = (run: RecordedRun, hashing: Hashing, gapMs: number): readonly Report[] => {
  const times = momentsOf(run.calls, gapMs);
  const calls = identified(run.calls.map((call) => toolCall(call, hashing)));
  const ends = calls.map((call, i): Report => {
    const at = times[i] ?? 0;
    return { at, folded: i + 1, call: ended(call, at), tokens: run.calls[i]?.token_count ?? null };
  });
  const begun = new Set<string>();
  const starts = ends.flatMap(({ at, folded, call, tokens }, i): Report[] => {
    const isBegun = begun.has(call.call_id);
    if (call.outcome === 'running') begun.add(call.call_id);
    const from = call.started_at ?? times[i - 1] ?? at;
    if (isBegun || from >= at || call.outcome === 'running') return [];
    const deadline_at = call.started_at === null ? at : call.deadline_at;
    return [{ at: from, folded: folded - 1, call: { ...atItsStart(call), deadline_at }, tokens }];
  });
  return inOrder([...ends, ...(hasTimes(run) ? starts : [])]);
};

/** The end of each call. The order of calls is that of the run; a time that goes back counts as no elapsed time. */
const momentsOf = (calls: readonly RecordedCall[], gapMs: number): readonly number[] => {
  const known = calls.map(({ ts, ended_at }) => ts ?? ended_at);
  const first = known.findIndex((at) => at !== null);
  let last = first < 0 ? 0 : (known[first] ?? 0) - first * gapMs;
  return known.map((at, i) => {
    if (i > 0 || at !== null) last = at === null ? last + gapMs : Math.max(last, at);
    return last;
  });
};

type Unidentified = Omit<ToolCall, 'call_id'> & Pick<RecordedCall, 'call_id'>;

/**
 * Each entry without an id is a separate call, except one that reports a running call with the same tool and arguments.
 */
const identified = (calls: readonly Unidentified[]): readonly ToolCall[] => {
  const running = new Map<string, string>();
  return calls.map((call, i) => {
    if (call.call_id !== null) return { ...call, call_id: call.call_id };
    const what = JSON.stringify([call.tool, call.args_hash]);
    const call_id = running.get(what) ?? `call-${i}`;
    if (call.outcome === 'running') running.set(what, call_id);
    else running.delete(what);
    return { ...call, call_id };
  });
};

/**
 * Recorded hashes cover the whole result, which the record may have cut, so they take precedence. A recorded null means
 * unknown. The agent's side has the values themselves and counts null as a value.
 */
const toolCall = (call: RecordedCall, hashing: Hashing): Unidentified => {
  const outcome = outcomeOf(call);
  const known = call.args_h !== null && call.res_h !== null && call.resn_h !== null;
  const made = known
    ? null
    : hashing({
        args: call.args ?? undefined,
        result: call.result ?? undefined,
        failed: outcome === 'error',
        endedAt: call.ended_at ?? call.ts,
      });
  return {
    call_id: call.call_id,
    kind: call.kind ?? 'tool',
    tool: call.tool,
    args_hash: call.args_h ?? made?.args_hash ?? null,
    result_hash: call.res_h ?? made?.result_hash ?? null,
    masked_result_hash: call.resn_h ?? made?.masked_result_hash ?? null,
    outcome,
    error_class: call.error_class,
    started_at: call.started_at,
    ended_at: call.ended_at,
    deadline_at: call.deadline_at,
    mutating: call.mutating ?? false,
    polling: call.polling ?? false,
    checking: call.checking ?? false,
    target: call.target,
  };
};

const outcomeOf = ({ outcome, err }: RecordedCall): CallOutcome => outcome ?? (err === true ? 'error' : 'ok');

const ended = (call: ToolCall, at: number): ToolCall =>
  call.outcome === 'running' ? { ...call, ended_at: null } : { ...call, ended_at: at };

/** Sorts by time; at the same time, ends before starts, and calls in their order. */
const inOrder = (reports: readonly Report[]): readonly Report[] => {
  const begins = ({ call }: Report) => Number(call.outcome === 'running');
  return reports.toSorted((a, b) => a.at - b.at || begins(a) - begins(b) || a.folded - b.folded);
};
