import { type Axis, duration } from '@vigil/policy';
import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import type { OpenCall } from '../history/calls/calls.ts';
import { limitExcusesUntil } from '../history/calls/rate-limits.ts';
import { type History, hasEnded, isUnassigned } from '../history/history.ts';
import type { Moment } from '../history/moment.ts';
import { holdUntil } from '../history/presence/hold.ts';
import { isQuestion } from '../history/presence/wait.ts';
import { markAfter, WAIT } from '../history/presence/waits.ts';
import { type CallLimits, callLimit, callLimits } from '../signals/calls.ts';
import { momentOf } from '../signals/signal.ts';

const UNHELD = 0;
const ALL_BUT_FACT: readonly Axis[] = ['absence', 'repetition', 'rate', 'cost'];

/**
 * A reason not to count certain signals for a while. `until`: its end on `now`'s axis; it does not hold if that is in
 * the past. What it suspends does not count afterwards either. A wait is left out of an absence; new work restarts it.
 */
export type Exemption<Limits> = {
  readonly limits: z.ZodType;
  readonly suspends: readonly Axis[];
  /** whether its start and end are announced; an exemption of every call is only shown */
  readonly announced: boolean;
  /**
   * whether it depends on the last report; then it excuses a runtime's silence for at most the policy's `trusted_for`
   */
  readonly isReported: boolean;
  readonly until: (history: History, limits: Limits, at: Moment) => number;
  /** until when it suspends a signal that would fire at `from`; absent: until `until` for every signal */
  readonly explains?: (history: History, limits: Limits, at: Moment, from: number) => number;
  /** the present wait, which the last receipt reports: its end as a mark, NEVER without a known end, 0 without a wait */
  readonly wait?: { readonly kind: number; readonly until: (history: History, limits: Limits) => number };
  /**
   * the mark at which the present wait began. It does not end a finding from before, and only suspends its plan. Absent:
   * it ends the finding
   */
  readonly began?: (history: History) => number;
  /** the mark before which no absence counts because of it, 0 if there is none; absent: it never restarts one */
  readonly restart?: (history: History, limits: Limits) => number;
};
export type AnyExemption = Exemption<never>;

const exemption = <S extends z.ZodType>(limits: S, rest: Omit<Exemption<z.output<S>>, 'limits'>): AnyExemption =>
  ({ limits, ...rest }) as Exemption<z.output<S>>;

const none = z.strictObject({});

const idleLimits = z.strictObject({
  /**
   * `no_task`: of idle agents only those that hold no task; `ended`: only an agent that has reported `finished` or
   * `exiting`, not an idle one
   */
  for: z.enum(['any', 'no_task', 'ended']).default('any'),
});

const idle = exemption(idleLimits, {
  suspends: ['absence', 'cost'],
  announced: true,
  isReported: true,
  until: (h, limits) => (hasEnded(h) || idlesFreely(h, limits.for) ? NEVER : UNHELD),
  wait: { kind: WAIT.idle, until: (h, limits) => (idlesFreely(h, limits.for) ? NEVER : UNHELD) },
  began: (h) => (h.activity.value === 'idle' && h.identity.taskId !== null ? activitySince(h) : UNHELD),
  /** Without a task, and after its end, what the agent does next is new work. A rest within a task is a wait. */
  restart: (h, limits) => {
    const { left } = h.activity;
    return Math.max(
      isUnassigned(h) ? h.lastReceipt.watched : 0,
      limits.for === 'ended' ? 0 : freeUntil(h, 'idle'),
      left.finished ?? 0,
      left.exiting ?? 0,
    );
  },
});

/** The mark of the first report of the present activity. */
const activitySince = ({ activity: { since, lag } }: History): number => since - lag;

const idlesFreely = ({ activity, identity }: History, whom: 'any' | 'no_task' | 'ended'): boolean =>
  activity.value === 'idle' && (whom === 'any' || (whom === 'no_task' && identity.taskId === null));

/**
 * The mark at which an agent without a task left its rest. A rest ends at the latest when it takes a task, so the
 * task's absences count from then on.
 */
const freeUntil = (
  { activity: { value, left }, identity, lastReceipt }: History,
  rest: 'idle' | 'awaiting_input',
): number => {
  const leftAt = left[rest] ?? 0;
  if (identity.taskId === null) return leftAt;
  return Math.min(value === rest ? lastReceipt.watched : leftAt, identity.assignedAt ?? 0);
};

/**
 * An agent that reports idle or finished is not silent. Only a reported activity makes it idle, so an agent that never
 * reports one can be missing.
 */
export const isIdle = (h: History): boolean => h.activity.value === 'idle' || hasEnded(h);

/** Whether the agent itself has sent a heartbeat, printed output, or begun a turn. */
const hasShownItself = ({ lastReceipt, output, activity, turn }: History): boolean =>
  !lastReceipt.byRuntime || output.sentOutput !== null || activity.sentHeartbeat !== null || turn !== null;

/**
 * `until`: whether it ends with the first call, or with any own sign (a call, output, a turn, a heartbeat); at the
 * latest after `grace`.
 */
const startingLimits = z.strictObject({
  grace: duration.default(300_000),
  until: z.enum(['first_call', 'first_sign']).default('first_call'),
});

/** A grace period, not a wait: absence counts from the start of the agent. */
const starting = exemption(startingLimits, {
  suspends: ['absence'],
  announced: true,
  isReported: false,
  until: (history, { grace, until }) => {
    const isOver = history.calls.last !== null || (until === 'first_sign' && hasShownItself(history));
    return isOver ? UNHELD : history.started.now + grace;
  },
});

/** `alert_after`: a longer wait is an alert; null: never. The exemption has no limit of its own. */
const awaitingInputLimits = z.strictObject({
  alert_after: duration.nullable().default(null),
  /**
   * `question`: only waits in which a person has something to answer; not an idle prompt. `no_task`: these, and of the
   * other waits only those of agents that hold no task
   */
  for: z.enum(['any', 'no_task', 'question']).default('any'),
});
export type AwaitingInputLimits = z.output<typeof awaitingInputLimits>;

const awaitingInput = exemption(awaitingInputLimits, {
  suspends: ['absence'],
  announced: true,
  isReported: true,
  until: (h, limits) => (awaitsFreely(h, limits.for) ? NEVER : UNHELD),
  wait: { kind: WAIT.awaiting_input, until: (h, limits) => (awaitsFreely(h, limits.for) ? NEVER : UNHELD) },
  began: ({ wait }) => (wait === null || wait.kind === 'prompt' ? UNHELD : wait.mark),
  /** What a person types at an idle prompt is new work. */
  restart: (h, limits) => {
    if (limits.for === 'question') return 0;
    return Math.max(limits.for === 'any' ? (h.activity.prompted ?? 0) : 0, freeUntil(h, 'awaiting_input'));
  },
});

const awaitsFreely = ({ activity, wait, identity }: History, whom: AwaitingInputLimits['for']): boolean => {
  if (activity.value !== 'awaiting_input') return false;
  if (whom === 'any' || (whom === 'no_task' && identity.taskId === null)) return true;
  return wait !== null && isQuestion(wait);
};

const inFlightUntil = (h: History, limits: CallLimits, at: Moment, from: number): number => {
  let last = UNHELD;
  for (const call of h.calls.open) {
    if (momentOf(call.mark, at) > from) continue;
    const limit = callLimit(call, limits);
    if (limit < NEVER) last = Math.max(last, momentOf(overFrom(h, call, limit) + 1, at));
  }
  return last;
};

const callInFlight = exemption(callLimits, {
  suspends: ['absence'],
  announced: false,
  isReported: true,
  until: (h, limits, at) => inFlightUntil(h, limits, at, NEVER),
  /** A call does not excuse a signal that was missing before the call began. */
  explains: inFlightUntil,
  restart: (h, limits) => {
    const { landed, modelLanded } = h.calls;
    // The end of a call of a kind with a longest time does not restart the silence either.
    let over = limits.longest.tool === undefined ? (landed ?? 0) : 0;
    if (limits.longest.model === undefined) over = Math.max(over, modelLanded ?? 0);
    for (const call of h.calls.open) {
      // A call of a kind with a longest time is part of the silence, and does not restart it.
      if (call.kind !== 'UNKNOWN' && limits.longest[call.kind] !== undefined) continue;
      const limit = callLimit(call, limits);
      if (limit < NEVER) over = Math.max(over, overFrom(h, call, limit));
    }
    return over;
  },
});

/** The mark at which a call has had its time, without that in which a person had to permit it or the agent was paused. */
const overFrom = ({ waits }: History, { mark }: OpenCall, limit: number): number =>
  markAfter(waits, WAIT.stopped, mark, limit);

/** `for`: of a limit without a reset. `longest`: of a row of them without progress in between. */
const rateLimitedLimits = z.strictObject({ for: duration.default(60_000), longest: duration.default(900_000) });

const rateLimited = exemption(rateLimitedLimits, {
  suspends: ALL_BUT_FACT,
  announced: true,
  isReported: true,
  until: ({ rateLimit }, limits) => (rateLimit ? limitExcusesUntil(rateLimit, limits.for, limits.longest) : UNHELD),
  wait: {
    kind: WAIT.rate_limited,
    until: ({ rateLimit }, limits) => (rateLimit ? limitEnd(rateLimit, limits) : UNHELD),
  },
  began: ({ rateLimit }) => rateLimit?.began ?? rateLimit?.mark ?? UNHELD,
  /** The client repeats its request then, and its model has its whole time again. */
  restart: ({ rateLimit }, limits) => (rateLimit ? limitEnd(rateLimit, limits) : 0),
});

/** The mark until which the last limit excuses the agent. */
const limitEnd = (limit: NonNullable<History['rateLimit']>, limits: z.output<typeof rateLimitedLimits>): number =>
  limit.mark + (limitExcusesUntil(limit, limits.for, limits.longest) - limit.at);

/** `for`: of a pause that the agent reports itself. One that its runtime reports lasts as long as it is reported. */
const paused = exemption(z.strictObject({ for: duration.default(900_000) }), {
  suspends: ALL_BUT_FACT,
  announced: true,
  isReported: true,
  until: ({ activity: { value, since, stopped } }, limits) =>
    value === 'paused' ? (stopped === true ? NEVER : since + limits.for) : UNHELD,
  wait: {
    kind: WAIT.paused,
    until: ({ activity: { value, since, lag, stopped } }, limits) =>
      value === 'paused' ? (stopped === true ? NEVER : since - lag + limits.for) : UNHELD,
  },
  began: (h) => (h.activity.value === 'paused' ? activitySince(h) : UNHELD),
});

/** The first hand-off of a task; one that is repeated without a new task excuses nothing more. */
const handingOff = exemption(z.strictObject({ deadline: duration.default(600_000) }), {
  suspends: ['absence', 'cost'],
  announced: true,
  isReported: true,
  until: ({ activity }, { deadline }) =>
    activity.value === 'handing_off' ? (activity.handOff?.at ?? activity.since) + deadline : UNHELD,
  wait: {
    kind: WAIT.handing_off,
    until: ({ activity: { value, since, lag, handOff } }, { deadline }) =>
      value === 'handing_off' ? (handOff?.mark ?? since - lag) + deadline : UNHELD,
  },
});

/** A person sets this exemption, and has seen the agent when it ends: every absence starts again. */
const held = exemption(none, {
  suspends: ALL_BUT_FACT,
  announced: true,
  isReported: false,
  until: (h) => holdUntil(h.hold),
  restart: ({ hold: h }) => h?.mark ?? 0,
});

/** An agent that reports only events is judged by its calls; its silence is unknown. */
const eventDriven = exemption(none, {
  suspends: ['absence'],
  announced: false,
  isReported: false,
  /** an agent reports in one way for the whole of its instance */
  until: ({ identity }) => (identity.eventDriven ? NEVER : UNHELD),
});

/** Every exemption, in the order in which one of several is shown. */
export const EXEMPTIONS = {
  held,
  paused,
  rate_limited: rateLimited,
  awaiting_input: awaitingInput,
  handing_off: handingOff,
  idle,
  event_driven: eventDriven,
  starting,
  call_in_flight: callInFlight,
} as const satisfies Record<string, AnyExemption>;

export type ExemptionName = keyof typeof EXEMPTIONS;
