import type { ExitReason } from '@vigil/events';
import { type Activities, activitiesAfter, largestActivitiesBytes, noActivities } from './activities.ts';
import { type Blocked, blockedAfter, largestBlockedBytes } from './blocked.ts';
import { type Breakers, largestBreakersBytes, NO_BREAKERS } from './breakers.ts';
import { type Calls, calls } from './calls.ts';
import { type Checkpoints, checkpoints } from './checkpoints.ts';
import { type Context, context } from './context.ts';
import { type Errors, errorsAfter, largestErrorsBytes, NO_ERRORS } from './errors.ts';
import type { Held } from './held.ts';
import { type Identity, identityAfter } from './identity.ts';
import { type Exceeded, limits } from './limits.ts';
import { largestMatchesBytes, type Matches, NO_MATCHES } from './matches.ts';
import { type Axis, type Beat, type Moment, OWN_AXIS, type Receipt } from './moment.ts';
import { newsOf } from './news.ts';
import { type Outcomes, outcomes } from './outcomes.ts';
import { type Outputs, outputs } from './outputs.ts';
import { largestProgressBytes, noProgress, type Progress, progressAfter } from './progress.ts';
import { type RateLimit, rateLimits } from './rate-limits.ts';
import { largestRunsBytes, NO_RUNS, type Runs, runsAfter } from './runs.ts';
import { type Spend, spend } from './spend.ts';
import { type Steps, steps } from './steps.ts';
import { largestTargetsBytes, NO_TARGETS, type Targets, targetsAfter } from './targets.ts';
import { largestTokensBytes, NO_TOKENS, type Tokens, tokensAfter } from './tokens.ts';
import { signsOf, type Turn, turns } from './turn.ts';
import { largestUnbegunBytes, type Unbegun, unbegunAfter } from './unbegun.ts';
import { type Variety, variety } from './variety.ts';
import { largestWaitBytes, type Wait, waitAfter } from './wait.ts';
import { largestWitnessBytes, type Witness } from './witness.ts';
import { type Work, work } from './work.ts';

/** The last receipt. `driftMs`: how far the sender's clock is behind ours; never an age. `byRuntime`: a runtime sent it, which goes on doing so whatever its agent does. */
export type Heard = Moment & {
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

/** The bounded memory of one life of an agent that signals read. */
export type History = {
  readonly identity: Identity;
  readonly axis: Axis;
  readonly started: Moment;
  readonly heard: Heard;
  readonly activity: Activities;
  readonly wait: Wait;
  readonly turn: Turn;
  readonly blocked: Blocked;
  readonly calls: Calls;
  readonly runs: Runs;
  readonly errors: Errors;
  readonly targets: Targets;
  readonly outcomes: Outcomes;
  readonly variety: Variety;
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
  readonly unbegun: Unbegun;
  readonly limits: readonly Exceeded[];
  readonly witness: Witness | null;
  readonly held: Held | null;
  readonly end: End | null;
};

/** The most a history takes as JSON, with ids of at most 64 characters and without the labels. */
export const largestHistoryBytes: number =
  calls.largestBytes +
  largestRunsBytes +
  largestErrorsBytes +
  largestTargetsBytes +
  outcomes.largestBytes +
  variety.largestBytes +
  largestMatchesBytes +
  largestBreakersBytes +
  largestWitnessBytes +
  largestProgressBytes +
  largestActivitiesBytes +
  largestWaitBytes +
  turns.largestBytes +
  largestBlockedBytes +
  checkpoints.largestBytes +
  steps.largestBytes +
  largestTokensBytes +
  context.largestBytes +
  spend.largestBytes +
  outputs.largestBytes +
  work.largestBytes +
  largestUnbegunBytes +
  limits.largestBytes +
  560;

/** A life of which nothing is known but that it began. */
export function bornAt(identity: Identity, receipt: Receipt, correlationId: string): History {
  const { now, watched } = receipt;
  return {
    identity,
    axis: OWN_AXIS,
    started: { now, watched },
    heard: { now, watched, sequence: null, intervalMs: null, driftMs: 0, byRuntime: false, correlationId },
    activity: noActivities(receipt),
    wait: null,
    turn: turns.initial(receipt),
    blocked: null,
    calls: calls.initial(receipt),
    runs: NO_RUNS,
    errors: NO_ERRORS,
    targets: NO_TARGETS,
    outcomes: outcomes.initial(receipt),
    variety: variety.initial(receipt),
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
    unbegun: identity.taskId === null ? null : watched,
    limits: limits.initial(receipt),
    witness: null,
    held: null,
    end: null,
  };
}

/** A heartbeat, but for what of its contents is read with a policy (`readWith`). */
export function folded(h: History, beat: Beat, receipt: Receipt, correlationId: string): History {
  const identity = identityAfter(h.identity, beat);
  const known = calls.observe(h.calls, beat, receipt);
  const news = newsOf(h.progress, beat);
  const turn = turns.observe(h.turn, beat, receipt);
  const signs = signsOf(turn, beat);
  const forward = progressAfter(
    h.progress,
    news,
    { call: h.calls.sentLast, output: h.output.sentOutput },
    signs,
    receipt,
  );
  const progressed = forward.at > h.progress.at;
  const spent = spend.observe(h.spend, beat, receipt);
  const isAnother = spent.count !== h.spend.count;
  const tokens = tokensAfter(h.tokens, beat, { progressed, isAnother, previousLate: h.heard.driftMs, receipt });
  const took = identity.taskId !== h.identity.taskId;
  const moved = progressed || known !== h.calls || tokens.count > h.tokens.count;
  const activity = activitiesAfter(h.activity, h.output.sentOutput, turn, signs, receipt);
  const after: History = {
    identity,
    axis: h.axis,
    started: h.started,
    heard: heardAfter(h.heard, beat, receipt, correlationId),
    activity,
    wait: waitAfter(h.wait, activity.value, beat, receipt),
    turn,
    blocked: blockedAfter(h.blocked, tokens.count > h.tokens.count, beat, receipt),
    calls: known,
    runs: runsAfter(h.runs, news, receipt),
    errors: errorsAfter(h.errors, news, progressed && !forward.strict, beat, receipt),
    targets: targetsAfter(h.targets, news, beat, receipt),
    outcomes: outcomes.observe(h.outcomes, beat, receipt),
    variety: variety.observe(h.variety, beat, receipt),
    matches: h.matches,
    breakers: h.breakers,
    progress: forward,
    checkpoint: checkpoints.observe(h.checkpoint, beat, receipt),
    rateLimit: rateLimits.observe(h.rateLimit, beat, receipt),
    steps: steps.observe(h.steps, beat, receipt),
    tokens,
    context: context.observe(h.context, beat, receipt),
    spend: spent,
    output: outputs.observe(h.output, beat, receipt),
    work: work.observe(took ? null : h.work, beat, receipt),
    unbegun: unbegunAfter(h.unbegun, took, moved, beat, receipt),
    limits: limits.observe(h.limits, beat, receipt),
    witness: h.witness,
    held: h.held,
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

/** That something was received, whatever it says. */
export function received(h: History, beat: Beat, receipt: Receipt, correlationId: string): History {
  // What comes late or out of order tells nothing of the sender's clock.
  return { ...h, heard: { ...heardAfter(h.heard, beat, receipt, correlationId), driftMs: h.heard.driftMs } };
}

function heardAfter(before: Heard, beat: Beat, receipt: Receipt, correlationId: string): Heard {
  return {
    now: receipt.now,
    watched: receipt.watched,
    sequence: beat.sequence === null ? before.sequence : Math.max(beat.sequence, before.sequence ?? beat.sequence),
    intervalMs: beat.interval_ms ?? before.intervalMs,
    driftMs: receipt.now - receipt.stamp,
    byRuntime: beat.reporter === 'runtime',
    correlationId,
  };
}
