import type { ToolCall } from '@vigil/events';
import { finished } from './calls.ts';
import { hash32 } from './hash.ts';
import { type Beat, type Fold, instant, markOf, type Receipt } from './moment.ts';

/** Results that are remembered, over all tools and arguments: a cycle longer than this is no loop that we look for. */
const RESULTS = 32;
/** Output alone is progress only after this long. */
const OUTPUT_MS = 60_000;

export type Progress = {
  /** when it last went forward, on `now`'s axis; before any, the start */
  readonly at: number;
  /** how far `watched` was behind `now` then */
  readonly lag: number;
  /** it has reported checkpoints, work, verdicts or results: weaker signs no longer count */
  readonly strict: boolean;
  /** hashes of (tool, arguments, result), the newest last */
  readonly results: readonly number[];
  readonly checkpoint: string | null;
  readonly work: string | null;
  readonly indicator: number;
  readonly sentCall: number | null;
  readonly sentOutput: number | null;
};

export const progress: Fold<Progress> = {
  initial: ({ now, watched }) => ({
    at: now,
    lag: now - watched,
    strict: false,
    results: [],
    checkpoint: null,
    work: null,
    indicator: 0,
    sentCall: null,
    sentOutput: null,
  }),
  observe: (before, beat, receipt) => {
    const { results, strict, at } = byCalls(before, beat, receipt);
    const reports = strict || beat.checkpoint !== null || beat.work !== null || beat.steps !== null;
    const forward = declared(before, beat) || (!reports && weak(before, beat, receipt));
    const last = forward ? receipt.now : at;
    return {
      at: last,
      lag: last === before.at ? before.lag : last - markOf(receipt, last),
      strict: reports,
      results,
      checkpoint: beat.checkpoint?.checkpoint_id ?? before.checkpoint,
      work: beat.work ? workOf(beat) : before.work,
      indicator: hash32(beat.phase, beat.progress_indicator),
      sentCall: beat.last_tool_call ?? before.sentCall,
      sentOutput: beat.output?.last_output_at ?? before.sentOutput,
    };
  },
  largestBytes: RESULTS * 11 + 350,
};

/** What a call's result is compared by: an error without content is its class. Null: nothing to compare. */
export function resultOf(call: ToolCall): string | null {
  return call.result_hash ?? (call.outcome === 'error' && call.error_class ? `error:${call.error_class}` : null);
}

/** The call as a number: the same only for the same tool, arguments and result. Null: something of it is unknown. */
export function signature(call: ToolCall, result: string | null): number | null {
  return call.args_hash === null || result === null ? null : hash32(call.tool, call.args_hash, result);
}

/** A successful mutation, or a result that these arguments have not had lately. */
export function advances(call: ToolCall, results: readonly number[]): boolean {
  if (!finished(call)) return false;
  if (call.mutating && call.outcome === 'ok') return true;
  const sign = signature(call, call.result_hash);
  return sign !== null && !results.includes(sign);
}

function byCalls(before: Progress, beat: Beat, receipt: Receipt): Pick<Progress, 'at' | 'strict' | 'results'> {
  let { at, strict, results } = before;
  for (const call of beat.tool_calls) {
    if (advances(call, results)) at = Math.max(at, instant(receipt, call.ended_at).now);
    strict ||= finished(call) && (call.mutating || call.result_hash !== null);
    results = remembering(results, call);
  }
  return { at, strict, results };
}

export function remembering(results: readonly number[], call: ToolCall): readonly number[] {
  const sign = finished(call) ? signature(call, call.result_hash) : null;
  return sign === null || results.includes(sign) ? results : [...results.slice(1 - RESULTS), sign];
}

/** A new checkpoint, a work update or comment, an ACCEPT. */
export function declared(before: Progress, beat: Beat): boolean {
  const { checkpoint, work, steps } = beat;
  if (checkpoint && checkpoint.valid !== false && checkpoint.checkpoint_id !== before.checkpoint) return true;
  if (work && before.work !== null && workOf(beat) !== before.work) return true;
  return steps?.verdicts.includes('ACCEPT') ?? false;
}

function workOf({ work }: Beat): string | null {
  return work && `${work.id} ${work.updated_at} ${work.comment_count}`;
}

function weak(before: Progress, beat: Beat, receipt: Receipt): boolean {
  if (hash32(beat.phase, beat.progress_indicator) !== before.indicator) return true;
  if (beat.last_tool_call !== null && beat.last_tool_call > (before.sentCall ?? 0)) return true;
  const output = beat.output?.last_output_at ?? null;
  return output !== null && output > (before.sentOutput ?? 0) && receipt.now - before.at > OUTPUT_MS;
}
