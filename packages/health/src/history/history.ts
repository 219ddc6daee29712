import type { ExitReason } from '@vigil/events';
import { type Breakers, largestBreakersBytes, NO_BREAKERS } from './calls/breakers.ts';
import { type CallDiversity, callDiversity } from './calls/call-diversity.ts';
import { type Calls, calls } from './calls/calls.ts';
import { type Errors, errorsAfter, largestErrorsBytes, NO_ERRORS } from './calls/errors.ts';
import { type HeartbeatDelta, heartbeatDeltaOf } from './calls/heartbeat-delta.ts';
import { type Outcomes, outcomes } from './calls/outcomes.ts';
import { type RateLimit, rateLimits } from './calls/rate-limits.ts';
import { largestRunsBytes, NO_RUNS, type Runs, runsAfter } from './calls/runs.ts';
import { largestTargetsBytes, NO_TARGETS, type Targets, targetsAfter } from './calls/targets.ts';
import { type Identity, identityAfter } from './identity.ts';
import { type Axis, type Fold, type Heartbeat, type Moment, OWN_AXIS, type Receipt } from './moment.ts';
import { type Activities, activitiesAfter, largestActivitiesBytes, noActivities } from './presence/activities.ts';
import { type Blocked, blockedAfter, largestBlockedBytes } from './presence/blocked.ts';
import type { Hold } from './presence/hold.ts';
import { largestMatchesBytes, type Matches, NO_MATCHES } from './presence/matches.ts';
import { type Outputs, outputs } from './presence/outputs.ts';
import { signsOf, type Turn, turns } from './presence/turn.ts';
import { largestWaitBytes, type Wait, waitAfter } from './presence/wait.ts';
import { type Checkpoints, checkpoints } from './progress/checkpoints.ts';
import { largestNotStartedBytes, type NotStarted, notStartedAfter } from './progress/not-started.ts';
import { largestProgressBytes, noProgress, type Progress, progressAfter } from './progress/progress.ts';
import { largestProgressEvidenceBytes, type ProgressEvidence } from './progress/progress-evidence.ts';
import { type Steps, steps } from './progress/steps.ts';
import { type Work, work } from './progress/work.ts';
import { type Context, context } from './usage/context.ts';
import { type Exceeded, limits } from './usage/limits.ts';
import { type Spend, spend } from './usage/spend.ts';
import { largestTokensBytes, NO_TOKENS, type Tokens, tokensAfter } from './usage/tokens.ts';

/** The last receipt. `driftMs`: how far the sender's clock is behind ours; never an age. `byRuntime`: a runtime sent it, which goes on doing so whatever its agent does. */
export type LastReceipt = Moment & {
  readonly sequence: number | null;
  readonly intervalMs: number | null;
  readonly driftMs: number;
  readonly byRuntime: boolean;
  readonly correlationId: string;
};

/** The reported end. `orderId`: the order of ours that it was; `bySelf`: the agent has reported it itself, and another heartbeat of it takes it back. */
export type End = {
  readonly reason: ExitReason;
  readonly at: number;
  readonly orderId: string | null;
  readonly bySelf: boolean;
};

/** The bounded memory of one instance of an agent, for signals. */
export type History = {
  readonly identity: Identity;
  readonly axis: Axis;
  readonly started: Moment;
  readonly lastReceipt: LastReceipt;
  readonly activity: Activities;
  readonly wait: Wait;
  readonly turn: Turn;
  readonly blocked: Blocked;
  readonly calls: Calls;
  readonly runs: Runs;
  readonly errors: Errors;
  readonly targets: Targets;
  readonly outcomes: Outcomes;
  readonly callDiversity: CallDiversity;
  readonly matches: Matches;
  readonly breakers: Breakers;
  readonly progress: Progress;
  readonly checkpoint: Checkpoints;
  readonly rateLimit: RateLimit;
  readonly steps: Steps;
  readonly tokens: Tokens;
  readonly context: Context;
  readonly spend: Spend;
  readonly output: Outputs;
  readonly work: Work;
  readonly notStarted: NotStarted;
  readonly limits: readonly Exceeded[];
  readonly progressEvidence: ProgressEvidence | null;
  readonly hold: Hold | null;
  readonly end: End | null;
};

/** What the first record of an instance gives to the parts. */
type Birth = { readonly identity: Identity; readonly receipt: Receipt; readonly correlationId: string };

/** What a heartbeat gives to the parts: itself, and those parts that others read, as it leaves them. */
type Observed = {
  readonly heartbeat: Heartbeat;
  readonly receipt: Receipt;
  readonly correlationId: string;
  readonly delta: HeartbeatDelta;
  readonly identity: Identity;
  readonly calls: Calls;
  readonly turn: Turn;
  readonly progress: Progress;
  readonly spend: Spend;
  readonly tokens: Tokens;
  readonly activity: Activities;
  readonly isProgress: boolean;
  readonly usesTokens: boolean;
  readonly takesTask: boolean;
  /** it reports a call, use of tokens, or progress */
  readonly hasBegun: boolean;
};

/** One part of a history. `largestBytes`: the most it takes as JSON, with ids of at most 64 characters. */
type Part<S> = {
  readonly initial: (birth: Birth) => S;
  readonly observe: (before: S, observed: Observed) => S;
  readonly largestBytes: number;
};

/** A part that depends on nothing but the heartbeat and its receipt. */
const alone = <S>({ initial, observe, largestBytes }: Fold<S>): Part<S> => ({
  initial: ({ receipt }) => initial(receipt),
  observe: (before, { heartbeat, receipt }) => observe(before, heartbeat, receipt),
  largestBytes,
});

/** A part that a heartbeat leaves as it is: a policy reads it (`readWith`), or another record changes it. */
const unchanged = <S>(value: S, largestBytes: number): Part<S> => ({
  initial: () => value,
  observe: (before) => before,
  largestBytes,
});

/** Every part of a history: how it begins, what a heartbeat makes of it, how large it grows. A part that is missing here does not compile. */
const PARTS_OF_HISTORY: { readonly [Name in keyof History]: Part<History[Name]> } = {
  identity: {
    initial: ({ identity }) => identity,
    observe: (_, { identity }) => identity,
    largestBytes: 480,
  },
  axis: unchanged(OWN_AXIS, 100),
  started: {
    initial: ({ receipt: { now, watched } }) => ({ now, watched }),
    observe: (before) => before,
    largestBytes: 50,
  },
  lastReceipt: {
    initial: ({ receipt: { now, watched }, correlationId }) => ({
      now,
      watched,
      sequence: null,
      intervalMs: null,
      driftMs: 0,
      byRuntime: false,
      correlationId,
    }),
    observe: (before, { heartbeat, receipt, correlationId }) =>
      lastReceiptAfter(before, heartbeat, receipt, correlationId),
    largestBytes: 230,
  },
  activity: {
    initial: ({ receipt }) => noActivities(receipt),
    observe: (_, { activity }) => activity,
    largestBytes: largestActivitiesBytes,
  },
  wait: {
    initial: () => null,
    observe: (before, { activity, heartbeat, receipt }) => waitAfter(before, activity.value, heartbeat, receipt),
    largestBytes: largestWaitBytes,
  },
  turn: { ...alone(turns), observe: (_, { turn }) => turn },
  blocked: {
    initial: () => null,
    observe: (before, { usesTokens, heartbeat, receipt }) => blockedAfter(before, usesTokens, heartbeat, receipt),
    largestBytes: largestBlockedBytes,
  },
  calls: { ...alone(calls), observe: (_, observed) => observed.calls },
  runs: {
    initial: () => NO_RUNS,
    observe: (before, { delta, receipt }) => runsAfter(before, delta, receipt),
    largestBytes: largestRunsBytes,
  },
  errors: {
    initial: () => NO_ERRORS,
    observe: (before, { delta, isProgress, progress, heartbeat, receipt }) =>
      errorsAfter(before, delta, isProgress && !progress.strict, heartbeat, receipt),
    largestBytes: largestErrorsBytes,
  },
  targets: {
    initial: () => NO_TARGETS,
    observe: (before, { delta, heartbeat, receipt }) => targetsAfter(before, delta, heartbeat, receipt),
    largestBytes: largestTargetsBytes,
  },
  outcomes: alone(outcomes),
  callDiversity: alone(callDiversity),
  matches: unchanged(NO_MATCHES, largestMatchesBytes),
  breakers: unchanged(NO_BREAKERS, largestBreakersBytes),
  progress: {
    initial: ({ receipt }) => noProgress(receipt),
    observe: (_, { progress }) => progress,
    largestBytes: largestProgressBytes,
  },
  checkpoint: alone(checkpoints),
  rateLimit: alone(rateLimits),
  steps: alone(steps),
  tokens: {
    initial: () => NO_TOKENS,
    observe: (_, { tokens }) => tokens,
    largestBytes: largestTokensBytes,
  },
  context: alone(context),
  spend: { ...alone(spend), observe: (_, observed) => observed.spend },
  output: alone(outputs),
  work: {
    ...alone(work),
    observe: (before, { takesTask, heartbeat, receipt }) => work.observe(takesTask ? null : before, heartbeat, receipt),
  },
  notStarted: {
    initial: ({ identity, receipt }) => (identity.taskId === null ? null : receipt.watched),
    observe: (before, { takesTask, hasBegun, heartbeat, receipt }) =>
      notStartedAfter(before, takesTask, hasBegun, heartbeat, receipt),
    largestBytes: largestNotStartedBytes,
  },
  limits: alone(limits),
  progressEvidence: unchanged<ProgressEvidence | null>(null, largestProgressEvidenceBytes),
  hold: unchanged<Hold | null>(null, 60),
  end: unchanged<End | null>(null, 150),
};

const NAMES = Object.keys(PARTS_OF_HISTORY) as readonly (keyof History)[];

/** The most a history takes as JSON, with ids of at most 64 characters and without the labels. */
export const largestHistoryBytes: number = NAMES.reduce((sum, name) => sum + PARTS_OF_HISTORY[name].largestBytes, 0);

/** An instance that has started and reported nothing else. */
export function initialHistory(identity: Identity, receipt: Receipt, correlationId: string): History {
  const birth: Birth = { identity, receipt, correlationId };
  return Object.fromEntries(NAMES.map((name) => [name, PARTS_OF_HISTORY[name].initial(birth)])) as History;
}

/** A heartbeat, but for what of its contents is read with a policy (`readWith`). */
export function historyAfter(h: History, heartbeat: Heartbeat, receipt: Receipt, correlationId: string): History {
  const observed = observedIn(h, heartbeat, receipt, correlationId);
  const after = { ...h };
  for (const name of NAMES) observePart(after, name, observed);
  return receipt.previous !== null && isUnassigned(h) && !isUnassigned(after) ? woken(after, receipt) : after;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

function observePart<Name extends keyof History>(after: Mutable<History>, name: Name, observed: Observed): void {
  const before = after[name];
  const part = PARTS_OF_HISTORY[name].observe(before, observed);
  // Most heartbeats leave most parts as they are: a look is cheaper than a write.
  if (part !== before) after[name] = part;
}

/** The parts that others read, each after those that it reads. */
function observedIn(h: History, heartbeat: Heartbeat, receipt: Receipt, correlationId: string): Observed {
  const identity = identityAfter(h.identity, heartbeat);
  const known = calls.observe(h.calls, heartbeat, receipt);
  const delta = heartbeatDeltaOf(h.progress, heartbeat);
  const turn = turns.observe(h.turn, heartbeat, receipt);
  const signs = signsOf(turn, heartbeat);
  const sent = { call: h.calls.sentLast, output: h.output.sentOutput };
  const progress = progressAfter(h.progress, delta, sent, signs, receipt);
  const progressed = progress.at > h.progress.at;
  const spent = spend.observe(h.spend, heartbeat, receipt);
  const isAnother = spent.count !== h.spend.count;
  const tokens = tokensAfter(h.tokens, heartbeat, {
    progressed,
    isAnother,
    previousLate: h.lastReceipt.driftMs,
    receipt,
  });
  const usesTokens = tokens.count > h.tokens.count;
  return {
    heartbeat,
    receipt,
    correlationId,
    delta,
    identity,
    calls: known,
    turn,
    progress,
    spend: spent,
    tokens,
    activity: activitiesAfter(h.activity, h.output.sentOutput, turn, signs, receipt),
    isProgress: progressed,
    usesTokens,
    takesTask: identity.taskId !== h.identity.taskId,
    hasBegun: progressed || known !== h.calls || usesTokens,
  };
}

/** It never reports its activity and has neither a task, a runtime nor a call yet: whether it works or is idle is unknown. */
export function isUnassigned({ activity, identity, calls: { last } }: History): boolean {
  return activity.value === null && identity.taskId === null && identity.runtimeId === null && last === null;
}

function woken(h: History, { watched }: Receipt): History {
  return { ...h, activity: { ...h.activity, left: { ...h.activity.left, idle: watched } } };
}

/** Records a receipt, without the contents of the heartbeat. */
export function received(h: History, heartbeat: Heartbeat, receipt: Receipt, correlationId: string): History {
  // A heartbeat that is late or out of order gives no measure of the sender's clock.
  return {
    ...h,
    lastReceipt: {
      ...lastReceiptAfter(h.lastReceipt, heartbeat, receipt, correlationId),
      driftMs: h.lastReceipt.driftMs,
    },
  };
}

function lastReceiptAfter(
  before: LastReceipt,
  heartbeat: Heartbeat,
  receipt: Receipt,
  correlationId: string,
): LastReceipt {
  return {
    now: receipt.now,
    watched: receipt.watched,
    sequence:
      heartbeat.sequence === null
        ? before.sequence
        : Math.max(heartbeat.sequence, before.sequence ?? heartbeat.sequence),
    intervalMs: heartbeat.interval_ms ?? before.intervalMs,
    driftMs: receipt.now - receipt.stamp,
    byRuntime: heartbeat.reporter === 'runtime',
    correlationId,
  };
}
