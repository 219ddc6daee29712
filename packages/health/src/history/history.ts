import type { ExitReason } from '@vigil/events';
import { type Breakers, largestBreakersBytes, NO_BREAKERS } from './calls/breakers.ts';
import { type CallDiversity, callDiversity } from './calls/call-diversity.ts';
import { type Calls, calls } from './calls/calls.ts';
import { type Errors, errorsAfter, largestErrorsBytes, NO_ERRORS } from './calls/errors.ts';
import { heartbeatDeltaOf } from './calls/heartbeat-delta.ts';
import { type Outcomes, outcomes } from './calls/outcomes.ts';
import { type RateLimit, rateLimits } from './calls/rate-limits.ts';
import { largestRunsBytes, NO_RUNS, type Runs, runsAfter } from './calls/runs.ts';
import { largestTargetsBytes, NO_TARGETS, type Targets, targetsAfter } from './calls/targets.ts';
import { type Identity, identityAfter } from './identity.ts';
import { type Axis, type Heartbeat, type Moment, OWN_AXIS, type Receipt } from './moment.ts';
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

/** The last receipt. `driftMs`: how far the sender's clock is behind ours; never an age. `byRuntime`: a runtime sent it, and continues to send also when its agent does nothing. */
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

/** The most that each part takes as JSON, with ids of at most 64 characters. A part that is missing here does not compile. */
const LARGEST_BYTES: Readonly<Record<keyof History, number>> = {
  identity: 480,
  axis: 100,
  started: 50,
  lastReceipt: 230,
  activity: largestActivitiesBytes,
  wait: largestWaitBytes,
  turn: turns.largestBytes,
  blocked: largestBlockedBytes,
  calls: calls.largestBytes,
  runs: largestRunsBytes,
  errors: largestErrorsBytes,
  targets: largestTargetsBytes,
  outcomes: outcomes.largestBytes,
  callDiversity: callDiversity.largestBytes,
  matches: largestMatchesBytes,
  breakers: largestBreakersBytes,
  progress: largestProgressBytes,
  checkpoint: checkpoints.largestBytes,
  rateLimit: rateLimits.largestBytes,
  steps: steps.largestBytes,
  tokens: largestTokensBytes,
  context: context.largestBytes,
  spend: spend.largestBytes,
  output: outputs.largestBytes,
  work: work.largestBytes,
  notStarted: largestNotStartedBytes,
  limits: limits.largestBytes,
  progressEvidence: largestProgressEvidenceBytes,
  hold: 60,
  end: 150,
};

/** The most a history takes as JSON, with ids of at most 64 characters and without the labels. */
export const largestHistoryBytes: number = Object.values(LARGEST_BYTES).reduce((sum, bytes) => sum + bytes, 0);

/** An instance that has started and reported nothing else. */
export function initialHistory(identity: Identity, receipt: Receipt, correlationId: string): History {
  const { now, watched } = receipt;
  return {
    identity,
    axis: OWN_AXIS,
    started: { now, watched },
    lastReceipt: { now, watched, sequence: null, intervalMs: null, driftMs: 0, byRuntime: false, correlationId },
    activity: noActivities(receipt),
    wait: null,
    turn: turns.initial(receipt),
    blocked: null,
    calls: calls.initial(receipt),
    runs: NO_RUNS,
    errors: NO_ERRORS,
    targets: NO_TARGETS,
    outcomes: outcomes.initial(receipt),
    callDiversity: callDiversity.initial(receipt),
    matches: NO_MATCHES,
    breakers: NO_BREAKERS,
    progress: noProgress(receipt),
    checkpoint: checkpoints.initial(receipt),
    rateLimit: rateLimits.initial(receipt),
    steps: steps.initial(receipt),
    tokens: NO_TOKENS,
    context: context.initial(receipt),
    spend: spend.initial(receipt),
    output: outputs.initial(receipt),
    work: work.initial(receipt),
    notStarted: identity.taskId === null ? null : watched,
    limits: limits.initial(receipt),
    progressEvidence: null,
    hold: null,
    end: null,
  };
}

/**
 * A heartbeat, except for the contents that are read with a policy (`readWith`): matches, breakers and progress evidence. A part that reads
 * another one follows it. The literal is faster than a table of functions by part.
 */
export function historyAfter(h: History, heartbeat: Heartbeat, receipt: Receipt, correlationId: string): History {
  const identity = identityAfter(h.identity, heartbeat);
  const takesTask = identity.taskId !== h.identity.taskId;
  const callsAfter = calls.observe(h.calls, heartbeat, receipt);
  const delta = heartbeatDeltaOf(h.progress, heartbeat);
  const turn = turns.observe(h.turn, heartbeat, receipt);
  const signs = signsOf(turn, heartbeat);
  const sent = { call: h.calls.sentLast, output: h.output.sentOutput };
  const progress = progressAfter(h.progress, delta, sent, signs, receipt);
  const progressed = progress.at > h.progress.at;
  const spent = spend.observe(h.spend, heartbeat, receipt);
  const isAnother = spent.count !== h.spend.count;
  const previousLate = h.lastReceipt.driftMs;
  const tokens = tokensAfter(h.tokens, heartbeat, { progressed, isAnother, previousLate, receipt });
  const usesTokens = tokens.count > h.tokens.count;
  const activity = activitiesAfter(h.activity, h.output.sentOutput, turn, signs, receipt);
  const hasBegun = progressed || callsAfter !== h.calls || usesTokens;
  const after: History = {
    identity,
    axis: h.axis,
    started: h.started,
    lastReceipt: lastReceiptAfter(h.lastReceipt, heartbeat, receipt, correlationId),
    activity,
    wait: waitAfter(h.wait, activity.value, heartbeat, receipt),
    turn,
    blocked: blockedAfter(h.blocked, usesTokens, heartbeat, receipt),
    calls: callsAfter,
    runs: runsAfter(h.runs, delta, receipt),
    errors: errorsAfter(h.errors, delta, progressed && !progress.strict, heartbeat, receipt),
    targets: targetsAfter(h.targets, delta, heartbeat, receipt),
    outcomes: outcomes.observe(h.outcomes, heartbeat, receipt),
    callDiversity: callDiversity.observe(h.callDiversity, heartbeat, receipt),
    matches: h.matches,
    breakers: h.breakers,
    progress,
    checkpoint: checkpoints.observe(h.checkpoint, heartbeat, receipt),
    rateLimit: rateLimits.observe(h.rateLimit, heartbeat, receipt),
    steps: steps.observe(h.steps, heartbeat, receipt),
    tokens,
    context: context.observe(h.context, heartbeat, receipt),
    spend: spent,
    output: outputs.observe(h.output, heartbeat, receipt),
    work: work.observe(takesTask ? null : h.work, heartbeat, receipt),
    notStarted: notStartedAfter(h.notStarted, takesTask, hasBegun, heartbeat, receipt),
    limits: limits.observe(h.limits, heartbeat, receipt),
    progressEvidence: h.progressEvidence,
    hold: h.hold,
    end: h.end,
  };
  return receipt.previous !== null && isUnassigned(h) && !isUnassigned(after) ? woken(after, receipt) : after;
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
