import { finished, isLaterCall } from '../calls/calls.ts';
import { type HeartbeatDelta, workOf } from '../calls/heartbeat-delta.ts';
import { hash32 } from '../hash.ts';
import { type Heartbeat, instant, markOf, type Receipt } from '../moment.ts';

/** Output alone is progress only after this long. */
const OUTPUT_MS = 60_000;

export type Progress = {
  /** the last progress, on `now`'s axis; the start if there was none */
  readonly at: number;
  /** how far `watched` was behind `now` then */
  readonly lag: number;
  /** whether it has reported checkpoints, work, a judge's decisions or results; then weaker signs no longer count */
  readonly strict: boolean;
  /** hashes of (tool, arguments, result), the newest last */
  readonly results: readonly number[];
  /** the id as last reported; part of the stored shape 17, and no longer compared */
  readonly checkpoint: string | null;
  readonly work: string | null;
  readonly indicator: number;
};

/** The previously reported last call and output, as sent. A later one is a weak sign of progress. */
export type Sent = { readonly call: number | null; readonly output: number | null };

export const noProgress = ({ now, watched }: Receipt): Progress => ({
  at: now,
  lag: now - watched,
  strict: false,
  results: [],
  checkpoint: null,
  work: null,
  indicator: 0,
});

export const progressAfter = (
  before: Progress,
  delta: HeartbeatDelta,
  sent: Sent,
  heartbeat: Heartbeat,
  receipt: Receipt,
): Progress => {
  const { strict, at } = byCalls(before, delta, receipt);
  const reports = strict || heartbeat.checkpoint !== null || heartbeat.work !== null || heartbeat.steps !== null;
  const indicator = reports ? before.indicator : hash32(heartbeat.phase, heartbeat.progress_indicator);
  const forward =
    delta.declared || (!reports && (indicator !== before.indicator || hasContinued(before, sent, heartbeat, receipt)));
  const last = forward ? receipt.now : at;
  return {
    at: last,
    lag: last === before.at ? before.lag : last - markOf(receipt, last),
    strict: reports,
    results: delta.results,
    checkpoint: heartbeat.checkpoint?.checkpoint_id ?? before.checkpoint,
    work: heartbeat.work ? workOf(heartbeat) : before.work,
    indicator,
  };
};

const byCalls = (before: Progress, delta: HeartbeatDelta, receipt: Receipt): Pick<Progress, 'at' | 'strict'> => {
  let { at, strict } = before;
  for (const { call, advances } of delta.calls) {
    if (advances) at = Math.max(at, instant(receipt, call.ended_at).now);
    strict ||= finished(call) && (call.mutating || call.result_hash !== null);
  }
  return { at, strict };
};

const hasContinued = (before: Progress, sent: Sent, heartbeat: Heartbeat, receipt: Receipt): boolean => {
  if (heartbeat.last_tool_call !== null && isLaterCall(sent.call, heartbeat.last_tool_call, receipt)) return true;
  const output = heartbeat.output?.last_output_at ?? null;
  return output !== null && output > (sent.output ?? 0) && receipt.now - before.at > OUTPUT_MS;
};
