import { finished } from './calls.ts';
import { hash32 } from './hash.ts';
import { type Beat, instant, markOf, type Receipt } from './moment.ts';
import { type News, REMEMBERED_RESULTS, workOf } from './news.ts';

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

export const largestProgressBytes: number = REMEMBERED_RESULTS * 11 + 350;

export function noProgress({ now, watched }: Receipt): Progress {
  return {
    at: now,
    lag: now - watched,
    strict: false,
    results: [],
    checkpoint: null,
    work: null,
    indicator: 0,
    sentCall: null,
    sentOutput: null,
  };
}

export function progressAfter(before: Progress, news: News, beat: Beat, receipt: Receipt): Progress {
  const { strict, at } = byCalls(before, news, receipt);
  const reports = strict || beat.checkpoint !== null || beat.work !== null || beat.steps !== null;
  const indicator = reports ? before.indicator : hash32(beat.phase, beat.progress_indicator);
  const forward = news.declared || (!reports && weak(before, indicator, beat, receipt));
  const last = forward ? receipt.now : at;
  return {
    at: last,
    lag: last === before.at ? before.lag : last - markOf(receipt, last),
    strict: reports,
    results: news.results,
    checkpoint: beat.checkpoint?.checkpoint_id ?? before.checkpoint,
    work: beat.work ? workOf(beat) : before.work,
    indicator,
    sentCall: beat.last_tool_call ?? before.sentCall,
    sentOutput: beat.output?.last_output_at ?? before.sentOutput,
  };
}

function byCalls(before: Progress, news: News, receipt: Receipt): Pick<Progress, 'at' | 'strict'> {
  let { at, strict } = before;
  for (const { call, advances } of news.calls) {
    if (advances) at = Math.max(at, instant(receipt, call.ended_at).now);
    strict ||= finished(call) && (call.mutating || call.result_hash !== null);
  }
  return { at, strict };
}

function weak(before: Progress, indicator: number, beat: Beat, receipt: Receipt): boolean {
  if (indicator !== before.indicator) return true;
  if (beat.last_tool_call !== null && beat.last_tool_call > (before.sentCall ?? 0)) return true;
  const output = beat.output?.last_output_at ?? null;
  return output !== null && output > (before.sentOutput ?? 0) && receipt.now - before.at > OUTPUT_MS;
}
