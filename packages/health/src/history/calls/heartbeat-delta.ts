import type { ToolCall } from '@vigil/events';
import { hash32 } from '../hash.ts';
import type { Heartbeat, Receipt } from '../moment.ts';
import { type Checkpoints, isNewCheckpoint } from '../progress/checkpoints.ts';
import { finished } from './calls.ts';

/** The number of results that are stored, over all tools and arguments. A longer cycle is not detected as a loop. */
export const REMEMBERED_RESULTS = 32;

/** The stored values with which new reports are compared. */
type Remembered = {
  /** hashes of (tool, arguments, result), the newest last */
  readonly results: readonly number[];
  readonly work: string | null;
};

/** A call, compared with the previous ones. */
export type CallDelta = {
  readonly call: ToolCall;
  /** a hash of its tool, arguments and result; null if one of them is unknown, or the call has not ended */
  readonly sign: number | null;
  /**
   * whether these arguments have not had this result recently; of a successful mutation, also if its arguments or result
   * are unknown
   */
  readonly advances: boolean;
  /** whether it advances and succeeded; another failure of the same call is not new */
  readonly succeeds: boolean;
};

/** The new information of a heartbeat. */
export type HeartbeatDelta = {
  /** a new checkpoint, a work update or comment, an ACCEPT */
  readonly declared: boolean;
  readonly calls: readonly CallDelta[];
  /** those before and its own */
  readonly results: readonly number[];
};

const NONE: readonly CallDelta[] = [];

export const heartbeatDeltaOf = (
  before: Remembered,
  checkpoint: Checkpoints,
  heartbeat: Heartbeat,
  receipt: Receipt,
): HeartbeatDelta => {
  const declared = declaresProgress(before, checkpoint, heartbeat, receipt);
  if (heartbeat.tool_calls.length === 0) return { declared, calls: NONE, results: before.results };
  let { results } = before;
  const calls = heartbeat.tool_calls.map((call): CallDelta => {
    const sign = finished(call) ? signature(call, call.result_hash) : null;
    const fresh = sign !== null && !results.includes(sign);
    const advances = fresh || (sign === null && call.mutating && call.outcome === 'ok');
    if (fresh) results = [...results.slice(1 - REMEMBERED_RESULTS), sign];
    return { call, sign, advances, succeeds: advances && call.outcome === 'ok' };
  });
  return { declared, calls, results };
};

/** Whether it reports a new checkpoint, a work update or comment, or an ACCEPT. */
export const declaresProgress = (
  before: Pick<Remembered, 'work'>,
  checkpoint: Checkpoints,
  heartbeat: Heartbeat,
  receipt: Receipt,
): boolean => savesNew(checkpoint, heartbeat, receipt) || isDeclared(before, heartbeat);

/** A hash of the call's tool, arguments and result; null if one of them is unknown. */
export const signature = (call: ToolCall, result: string | null): number | null =>
  call.args_hash === null || result === null ? null : hash32(call.tool, call.args_hash, result);

const savesNew = (before: Checkpoints, { checkpoint }: Heartbeat, receipt: Receipt): boolean =>
  checkpoint !== null && checkpoint.valid !== false && isNewCheckpoint(before, checkpoint, receipt);

const isDeclared = (before: Pick<Remembered, 'work'>, heartbeat: Heartbeat): boolean => {
  const { work, steps } = heartbeat;
  if (work && before.work !== null && workOf(heartbeat) !== before.work) return true;
  return steps?.verdicts.includes('ACCEPT') ?? false;
};

/** The work item as text. A different text is an update or a comment. */
export const workOf = ({ work }: Heartbeat): string | null =>
  work && `${work.id} ${work.updated_at} ${work.comment_count}`;
