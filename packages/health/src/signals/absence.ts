import { duration, spell } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import type { OpenCall } from '../history/calls.ts';
import type { History } from '../history/history.ts';
import type { Judging } from '../history/moment.ts';
import { type AnySignal, absentFor, absentFrom, type Figure, signal } from './signal.ts';

const after = z.strictObject({ after: duration });

/** S0's heartbeat timeout. */
export const noHeartbeat: AnySignal = signal(after, {
  axis: 'absence',
  firesFrom: (h, limits, at) => absentFrom(h.heard.watched, limits.after, at),
  evidence: (h, limits, at) => silent('nothing received', absentFor(h.heard.watched, at), limits.after),
});

/** S1, S3: no call, no output and no beat of the agent's own. */
export const noActivity: AnySignal = signal(after, {
  axis: 'absence',
  firesFrom: (h, limits, at) => absentFrom(h.activity.own, limits.after, at),
  evidence: (h, limits, at) =>
    silent('no call, no output, no beat of its own', absentFor(h.activity.own, at), limits.after),
});

const noCallsLimits = z.strictObject({
  after: duration,
  /** tools whose declared deadline stretches the limit; seed 003: Bash, 60 s, 120 s */
  applies_to: z.array(z.string()).default([]),
  buffer: duration.default(60_000),
  deadlines_above: duration.default(120_000),
});

/** S0, S3. */
export const noCalls: AnySignal = signal(noCallsLimits, {
  axis: 'absence',
  firesFrom: (h, limits, at) => absentFrom(h.calls.last, stretched(h, limits), at),
  evidence: (h, limits, at) => {
    const flying = h.calls.open.length === 0 ? ', none in flight' : `, ${h.calls.open.length} in flight`;
    return silent('no call', absentFor(h.calls.last, at), stretched(h, limits), flying);
  },
});

function stretched({ calls }: History, limits: z.output<typeof noCallsLimits>): number {
  const { lastTool, lastSpanMs } = calls;
  const applies = lastTool !== null && limits.applies_to.includes(lastTool);
  if (!applies || lastSpanMs === null || lastSpanMs <= limits.deadlines_above) return limits.after;
  return Math.max(limits.after, lastSpanMs + limits.buffer);
}

const noCheckpointLimits = z.strictObject({ after: duration, assume_checkpoints: z.boolean().default(false) });

/** S0: the age of the last checkpoint, or of an agent that writes them and has written none. */
export const noCheckpoint: AnySignal = signal(noCheckpointLimits, {
  axis: 'absence',
  firesFrom: (h, limits, at) => absentFrom(checkpointMark(h, limits), limits.after, at),
  evidence: (h, limits, at) => silent('no new checkpoint', absentFor(checkpointMark(h, limits), at), limits.after),
});

function checkpointMark({ checkpoint, started }: History, limits: z.output<typeof noCheckpointLimits>): number | null {
  return checkpoint.mark ?? (checkpoint.reports || limits.assume_checkpoints ? started.watched : null);
}

/** How long calls may take: their own deadline, or that of their kind. Shared with the exemption call_in_flight. */
export const callLimits: z.ZodType<CallLimits> = z.strictObject({
  buffer: duration.default(60_000),
  default_deadline: z
    .partialRecord(z.enum(['model', 'tool', 'external_api', 'checkpoint_write']), duration)
    .default({}),
});
export type CallLimits = {
  readonly buffer: number;
  readonly default_deadline: Partial<Record<'model' | 'tool' | 'external_api' | 'checkpoint_write', number>>;
};

/** A call past its deadline and buffer. */
export const callOverdue: AnySignal = signal(callLimits, {
  axis: 'absence',
  despite: 'call_in_flight',
  firesFrom: (h, limits, at) => {
    let first = NEVER;
    for (const call of h.calls.open) first = Math.min(first, absentFrom(call.mark, callLimit(call, limits), at));
    return first;
  },
  evidence: (h, limits, at) => {
    const worst = mostOverdue(h, limits, at);
    if (!worst) return { value: null, limit: null, words: 'no call in flight with a deadline', hard: false };
    const limit = callLimit(worst, limits);
    const figure = silent(`${worst.kind} call ${worst.tool} not answered`, absentFor(worst.mark, at), limit);
    return { ...figure, hard: worst.spanMs !== null };
  },
});

/** From its start to its deadline and buffer; NEVER where there is no deadline. */
export function callLimit(call: OpenCall, limits: CallLimits): number {
  const deadline = call.spanMs ?? (call.kind === 'UNKNOWN' ? undefined : limits.default_deadline[call.kind]);
  return deadline === undefined ? NEVER : deadline + limits.buffer;
}

function mostOverdue(h: History, limits: CallLimits, at: Judging): OpenCall | null {
  let worst: OpenCall | null = null;
  let first = NEVER;
  for (const call of h.calls.open) {
    const from = absentFrom(call.mark, callLimit(call, limits), at);
    if (from < first) [worst, first] = [call, from];
  }
  return worst;
}

function silent(what: string, value: number | null, limit: number, more = ''): Figure {
  if (value === null) return { value, limit, words: `${what} to go by: never reported`, hard: false };
  return { value, limit, words: `${what} for ${spell(value)}${more}; limit ${spell(limit)}`, hard: false };
}
