import { duration, limitAfter, longCalls } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import type { OpenCall } from '../history/calls/calls.ts';
import { begunAt, type History } from '../history/history.ts';
import type { Judging } from '../history/moment.ts';
import { after, silent, sinceOf } from './absence.ts';
import { type AnySignal, absentFor, absentFrom, signal, spelled } from './signal.ts';

const noCallsLimits = z.strictObject({
  after: duration,
  ...longCalls,
  /** whether an agent that has made no call yet counts from its start */
  from_start: z.boolean().default(false),
});
type NoCallsLimits = z.output<typeof noCallsLimits>;

const lastCall = (h: History, { from_start }: NoCallsLimits): number | null =>
  h.calls.last ?? (from_start ? begunAt(h) : null);

/** No call for longer than the limit, and none in flight. */
export const noCalls: AnySignal = signal(noCallsLimits, {
  axis: 'absence',
  reevaluateEveryHeartbeat: true,
  awaits: ['call'],
  resetOnCallEnd: true,
  firesFrom: (h, limits, at) => absentFrom(lastCall(h, limits), stretched(h, limits), at),
  evidence: (h, limits, at) => {
    const flying = h.calls.open.length === 0 ? ', none in flight' : `, ${h.calls.open.length} in flight`;
    return silent('no call', absentFor(lastCall(h, limits), at), stretched(h, limits), flying);
  },
  finding: (h, limits, at) =>
    `You have made no call for ${spelled(absentFor(lastCall(h, limits), at))}${sinceOf(h, h.calls.last)}.`,
  advice: 'Continue with the next step of your task. If you wait for something, name it.',
});

/** A long declared deadline counts from the start of the call, so its end leaves what is left of it. */
const stretched = ({ calls: { lastTool, lastSpanMs, lastRanMs = 0 } }: History, limits: NoCallsLimits): number =>
  Math.max(limits.after, limitAfter({ tool: lastTool, spanMs: lastSpanMs }, limits) - lastRanMs);

const kind = z.enum(['model', 'tool', 'external_api', 'checkpoint_write']);

/**
 * The longest duration of calls: their own deadline, or that of their kind. The exemption call_in_flight uses it too.
 */
export const callLimits: z.ZodType<CallLimits> = z.strictObject({
  buffer: duration.default(60_000),
  default_deadline: z.partialRecord(kind, duration).default({}),
  /** a deadline of such a call counts as this at most, also a declared one */
  longest: z.partialRecord(kind, duration).default({}),
});
type ByKind = Partial<Record<z.output<typeof kind>, number>>;
export type CallLimits = { readonly buffer: number; readonly default_deadline: ByKind; readonly longest: ByKind };

/** A call past its deadline and buffer. */
export const callOverdue: AnySignal = signal(callLimits, {
  axis: 'absence',
  awaits: ['answer'],
  notSuspendedBy: () => ['call_in_flight', 'event_driven'],
  firesFrom: (h, limits, at) => {
    let first = NEVER;
    for (const call of h.calls.open)
      first = Math.min(first, absentFrom(sinceWhen(call, h), callLimit(call, limits), at));
    return first;
  },
  evidence: (h, limits, at) => {
    const worst = mostOverdue(h, limits, at);
    if (!worst) return { value: null, limit: null, words: 'no call in flight with a deadline', hard: false };
    const limit = callLimit(worst, limits);
    const figure = silent(`${worst.kind} call ${worst.tool} not answered`, absentFor(sinceWhen(worst, h), at), limit);
    return { ...figure, hard: worst.spanMs !== null };
  },
  finding: (h, limits, at) => {
    const worst = mostOverdue(h, limits, at);
    if (!worst) return 'No call of yours is overdue.';
    const allowed =
      worst.spanMs === null
        ? `such a call is expected to end within ${spelled(callLimit(worst, limits))}`
        : `it was to end within ${spelled(worst.spanMs)}`;
    return `Your call of ${worst.tool} started ${spelled(absentFor(worst.mark, at))} ago and has not ended; ${allowed}.`;
  },
  advice: 'Stop the call if it hangs. Run long work in the background with a time limit, and look at its result later.',
});

/** The time from the start of a call to its deadline and buffer; NEVER without a deadline. */
export const callLimit = (call: OpenCall, limits: CallLimits): number => {
  if (call.kind === 'UNKNOWN') return call.spanMs === null ? NEVER : call.spanMs + limits.buffer;
  const deadline = call.spanMs ?? limits.default_deadline[call.kind];
  const longest = limits.longest[call.kind] ?? NEVER;
  return deadline === undefined && longest === NEVER ? NEVER : Math.min(deadline ?? NEVER, longest) + limits.buffer;
};

/**
 * A declared deadline counts from the start of the call. An estimate counts from the last event of the client, if it
 * reports events, because a call that starts a sub-agent lasts as long as the sub-agent works.
 */
const sinceWhen = ({ mark, spanMs }: OpenCall, { turn }: History): number =>
  spanMs === null && turn !== null ? Math.max(mark, turn.moved) : mark;

const mostOverdue = (h: History, limits: CallLimits, at: Judging): OpenCall | null => {
  let worst: OpenCall | null = null;
  let first = NEVER;
  for (const call of h.calls.open) {
    const from = absentFrom(sinceWhen(call, h), callLimit(call, limits), at);
    if (from < first) [worst, first] = [call, from];
  }
  return worst;
};

/** The client reports an open turn, no call is in flight, and the model does not answer: no event, no call and no use of tokens. */
export const noModelAnswer: AnySignal = signal(after, {
  axis: 'absence',
  awaits: ['turn', 'call', 'tokens'],
  by: 'turn',
  resetOnCallEnd: true,
  firesFrom: (h, limits, at) => absentFrom(movedAt(h), limits.after, at),
  evidence: (h, limits, at) => {
    if (h.turn !== null && !h.turn.open)
      return { value: null, limit: limits.after, words: 'no turn is open', hard: false };
    const calls = h.calls.open.length === 0 ? ', none in flight' : `, ${h.calls.open.length} in flight`;
    const missing = `no answer of the model, no event of its client and no call${calls}`;
    const silence = absentFor(movedAt(h), at);
    return silent(silence === null ? missing : `${missing},`, silence, limits.after);
  },
  finding: (h, _, at) =>
    `Your turn is open and nothing has happened in it for ${spelled(absentFor(movedAt(h), at))}${sinceOf(h, movedAt(h))}: no answer and no call.`,
  advice: 'Continue with the next step of your task. If you wait for something, name it.',
});

/** The mark of the client's last sign; null if no turn is open, or a call is in flight. */
export const movedAt = ({ turn, calls, tokens, lastReceipt }: History): number | null => {
  if (turn === null || !turn.open || calls.open.length > 0) return null;
  const used = tokens.count > 0 ? (tokens.unusedSince ?? lastReceipt.watched) : 0;
  return Math.max(turn.moved, calls.last ?? 0, used);
};
