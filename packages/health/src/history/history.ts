import type { CheckpointRef, ExitReason } from '@vigil/events';
import { type Breakers, NO_BREAKERS } from './calls/breakers.ts';
import { type Calls, callsAfter, NO_CALLS } from './calls/calls.ts';
import { type Errors, errorsAfter, NO_ERRORS } from './calls/errors.ts';
import { heartbeatDeltaOf } from './calls/heartbeat-delta.ts';
import {
  type CallDiversity,
  callDiversityAfter,
  NO_DIVERSITY,
  NO_OUTCOMES,
  type Outcomes,
  outcomesAfter,
} from './calls/last-calls.ts';
import { type Made, madeAfter, NONE_MADE } from './calls/made.ts';
import { type RateLimit, rateLimitAfter } from './calls/rate-limits.ts';
import { NO_REPORTED_ERRORS, type ReportedErrors, reportedErrorsAfter } from './calls/reported-errors.ts';
import { NO_RUNS, type Runs, runsAfter } from './calls/runs.ts';
import { NO_TARGETS, type Targets, targetsAfter } from './calls/targets.ts';
import { type Identity, identityAfter } from './identity.ts';
import { type Axis, type Heartbeat, type Moment, OWN_AXIS, type Receipt } from './moment.ts';
import { type Activities, activitiesAfter, noActivities } from './presence/activities.ts';
import { type Blocked, blockedAfter } from './presence/blocked.ts';
import type { Hold } from './presence/hold.ts';
import { type Matches, NO_MATCHES } from './presence/matches.ts';
import { NO_OUTPUT, type Outputs, outputsAfter } from './presence/outputs.ts';
import { opensTurn, signsOf, type Turn, turnAfter } from './presence/turn.ts';
import { type Wait, waitAfter } from './presence/wait.ts';
import { NO_WAITS, type Waits } from './presence/waits.ts';
import { type Checkpoints, checkpointsAfter, NO_CHECKPOINTS } from './progress/checkpoints.ts';
import { hasAdvanced, type NotStarted, notStartedAfter } from './progress/not-started.ts';
import { noProgress, type Progress, progressAfter } from './progress/progress.ts';
import type { ProgressEvidence } from './progress/progress-evidence.ts';
import { NO_PROOF, type Proof, proofAfter } from './progress/proof.ts';
import { NO_STEPS, type Steps, stepsAfter } from './progress/steps.ts';
import { type Work, workAfter } from './progress/work.ts';
import { type Context, contextAfter, NO_CONTEXT } from './usage/context.ts';
import { type Exceeded, limitsAfter, NO_LIMITS } from './usage/limits.ts';
import { NO_SPEND, type Spend, spendAfter } from './usage/spend.ts';
import { lastUse, NO_TOKENS, type Tokens, tokensAfter } from './usage/tokens.ts';

/**
 * The last receipt. `driftMs`: how far the sender's clock is behind the broker's; never an age. `byRuntime`: whether a
 * runtime sent it, which also sends while its agent does nothing.
 */
export type LastReceipt = Moment & {
  readonly sequence: number | null;
  readonly intervalMs: number | null;
  readonly driftMs: number;
  readonly byRuntime: boolean;
  readonly correlationId: string;
};

/**
 * The reported end. `orderId`: the order that caused it; `bySelf`: whether the agent has reported it itself, so that
 * another heartbeat of the agent revokes it.
 */
export type End = {
  readonly reason: ExitReason;
  readonly at: number;
  readonly orderId: string | null;
  readonly bySelf: boolean;
  /** how its process ended, as its runtime reports; absent: no runtime has, or the state is older than this */
  readonly exit?: Exit;
  /** the newest checkpoint, as its runtime reports it with the end; absent: it reports none, or the state is older than this */
  readonly checkpoint?: CheckpointRef;
};

/** The exit code or signal of a process, and the last lines that it printed: at most 5, each at most 140 characters. */
export type Exit = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly lastOutput: readonly string[];
};

const LAST_LINES = 5;
const LONGEST_LAST_LINE = 140;

/** The last lines with a text, short enough for a finding and an alert. */
export const lastLinesOf = (lines: readonly string[]): readonly string[] =>
  lines
    .filter((line) => line.trim() !== '')
    .slice(-LAST_LINES)
    .map((line) =>
      line.length <= LONGEST_LAST_LINE ? line : `${line.slice(0, LONGEST_LAST_LINE - 1).toWellFormed()}…`,
    );

/** The newest checkpoint. The report of an end has one that the last heartbeat may have lacked, because it is sent until it is read. */
export const newestCheckpoint = ({ end, checkpoint }: History): CheckpointRef | null =>
  end?.checkpoint ?? checkpoint.newest;

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
  readonly made: Made;
  readonly runs: Runs;
  readonly errors: Errors;
  readonly targets: Targets;
  readonly outcomes: Outcomes;
  readonly reportedErrors: ReportedErrors;
  readonly waits: Waits;
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
  readonly proof: Proof;
  readonly limits: readonly Exceeded[];
  readonly progressEvidence: ProgressEvidence | null;
  readonly hold: Hold | null;
  readonly end: End | null;
};

/** The history of an instance that has only started. */
export const initialHistory = (identity: Identity, receipt: Receipt, correlationId: string): History => {
  const { now, watched } = receipt;
  return {
    identity,
    axis: OWN_AXIS,
    started: { now, watched },
    lastReceipt: { now, watched, sequence: null, intervalMs: null, driftMs: 0, byRuntime: false, correlationId },
    activity: noActivities(receipt),
    wait: null,
    turn: null,
    blocked: null,
    calls: NO_CALLS,
    made: NONE_MADE,
    runs: NO_RUNS,
    errors: NO_ERRORS,
    targets: NO_TARGETS,
    outcomes: NO_OUTCOMES,
    reportedErrors: NO_REPORTED_ERRORS,
    waits: NO_WAITS,
    callDiversity: NO_DIVERSITY,
    matches: NO_MATCHES,
    breakers: NO_BREAKERS,
    progress: noProgress(receipt),
    checkpoint: NO_CHECKPOINTS,
    rateLimit: null,
    steps: NO_STEPS,
    tokens: NO_TOKENS,
    context: NO_CONTEXT,
    spend: NO_SPEND,
    output: NO_OUTPUT,
    work: null,
    notStarted: identity.taskId === null ? null : watched,
    proof: NO_PROOF,
    limits: NO_LIMITS,
    progressEvidence: null,
    hold: null,
    end: null,
  };
};

const UNIDENTIFIED = {
  instanceId: null,
  taskId: null,
  runtimeId: null,
  attempt: null,
  maxAttempts: null,
  labels: {},
  eventDriven: false,
  client: null,
  parentId: null,
  verified: null,
};

/** The initial history. Histories share its parts until the first report of each. */
export const INITIAL_HISTORY: History = initialHistory(
  UNIDENTIFIED,
  { now: 0, watched: 0, stamp: 0, previous: null },
  '',
);

// One function for each part: a look-up by name would cost more than the signal that it saves.
export const PARTS = {
  blocked: ({ blocked }: History) => blocked,
  breakers: ({ breakers }: History) => breakers,
  checkpoint: ({ checkpoint }: History) => checkpoint,
  context: ({ context }: History) => context,
  end: ({ end }: History) => end,
  errors: ({ errors }: History) => errors,
  limits: ({ limits }: History) => limits,
  made: ({ made }: History) => made,
  matches: ({ matches }: History) => matches,
  outcomes: ({ outcomes }: History) => outcomes,
  reportedErrors: ({ reportedErrors }: History) => reportedErrors,
  output: ({ output }: History) => output,
  rateLimit: ({ rateLimit }: History) => rateLimit,
  runs: ({ runs }: History) => runs,
  steps: ({ steps }: History) => steps,
  targets: ({ targets }: History) => targets,
  turn: ({ turn }: History) => turn,
  notStarted: ({ notStarted }: History) => notStarted,
  callDiversity: ({ callDiversity }: History) => callDiversity,
  work: ({ work }: History) => work,
} as const;

/** The parts of a history that can be the only basis of a signal. */
export type Part = keyof typeof PARTS;

/**
 * A heartbeat, except for the contents that need a policy (`readWith` and `withWaits`): matches, breakers, progress
 * evidence and waits. A part that reads another part comes after it. The literal is faster than a table of functions by part.
 */
export const historyAfter = (h: History, heartbeat: Heartbeat, receipt: Receipt, correlationId: string): History => {
  const identity = identityAfter(h.identity, heartbeat, receipt);
  const takesTask = identity.taskId !== h.identity.taskId;
  const delta = heartbeatDeltaOf(h.progress, h.checkpoint, heartbeat, receipt);
  const turn = turnAfter(h.turn, heartbeat, receipt);
  const opens = opensTurn(h.turn, turn);
  const calls = callsAfter(h.calls, opens, heartbeat, receipt);
  const signs = signsOf(turn, heartbeat);
  const sent = { call: h.calls.sentLast, output: h.output.sentOutput };
  const progress = progressAfter(h.progress, delta, sent, signs, receipt);
  const progressed = progress.at > h.progress.at;
  const spend = spendAfter(h.spend, heartbeat);
  const isAnother = spend.count !== h.spend.count;
  const previousLate = h.lastReceipt.driftMs;
  const tokens = tokensAfter(h.tokens, heartbeat, { progressed, isAnother, previousLate, receipt });
  const usesTokens = tokens.count > h.tokens.count;
  const activity = activitiesAfter(
    h.activity,
    { sentOutput: h.output.sentOutput, turn, takesTask, wait: h.wait },
    signs,
    receipt,
  );
  const wait = waitAfter(h.wait, activity.value, heartbeat, receipt);
  const sentBefore = { steps: h.steps.total, output: h.output.sentOutput };
  const begins = delta.declared || calls !== h.calls || usesTokens || hasAdvanced(sentBefore, heartbeat);
  const after: History = {
    identity,
    axis: h.axis,
    started: h.started,
    lastReceipt: lastReceiptAfter(h.lastReceipt, heartbeat, receipt, correlationId),
    activity,
    wait,
    turn,
    blocked: blockedAfter(h.blocked, usesTokens, heartbeat, receipt),
    calls,
    made: madeAfter(h.made, delta, opens, heartbeat, receipt),
    runs: runsAfter(h.runs, delta, opens, receipt),
    errors: errorsAfter(h.errors, delta, progressed && !progress.strict, heartbeat, receipt),
    targets: targetsAfter(h.targets, delta, heartbeat, receipt),
    outcomes: outcomesAfter(h.outcomes, heartbeat, receipt),
    reportedErrors: reportedErrorsAfter(
      h.reportedErrors,
      {
        steps: h.steps.total,
        reportsCalls: h.outcomes.calls > 0,
        isLater: calls.last !== h.calls.last,
      },
      heartbeat,
      receipt,
    ),
    waits: h.waits,
    callDiversity: callDiversityAfter(h.callDiversity, heartbeat, receipt),
    matches: h.matches,
    breakers: h.breakers,
    progress,
    checkpoint: checkpointsAfter(h.checkpoint, heartbeat, receipt),
    rateLimit: rateLimitAfter(
      h.rateLimit,
      { activity: h.activity.value, progressAt: progress.at, usedTokens: lastUse(tokens, receipt) },
      heartbeat,
      receipt,
    ),
    steps: stepsAfter(h.steps, heartbeat, receipt),
    tokens,
    context: contextAfter(h.context, heartbeat, receipt),
    spend,
    output: outputsAfter(h.output, heartbeat, receipt),
    work: workAfter(takesTask ? null : h.work, heartbeat, receipt),
    notStarted: notStartedAfter(h.notStarted, takesTask, begins, heartbeat, receipt),
    proof: proofAfter(takesTask ? NO_PROOF : h.proof, heartbeat),
    limits: limitsAfter(h.limits, heartbeat, receipt),
    progressEvidence: h.progressEvidence,
    hold: h.hold,
    end: h.end,
  };
  return receipt.previous !== null && isUnassigned(h) && !isUnassigned(after) ? woken(after, receipt) : after;
};

/**
 * Whether the agent never reports its activity and has no task, runtime or call yet, so that it may be working or idle.
 */
export const isUnassigned = ({ activity, identity, calls: { last } }: History): boolean =>
  activity.value === null && identity.taskId === null && identity.runtimeId === null && last === null;

/** Whether the agent itself reports that it has ended its work, or is about to exit. */
export const hasEnded = ({ activity: { value } }: History): boolean => value === 'finished' || value === 'exiting';

/**
 * The mark from which work can be expected of the agent: its start, or the time at which it got its task; null: none yet.
 * Idling does not move it: a policy that exempts an idle agent counts from the end of the idleness by that exemption.
 */
export const begunAt = (h: History): number | null =>
  isUnassigned(h) ? null : Math.max(h.started.watched, h.identity.assignedAt ?? 0);

const woken = (h: History, { watched }: Receipt): History => ({
  ...h,
  identity: { ...h.identity, assignedAt: watched },
  activity: { ...h.activity, left: { ...h.activity.left, idle: watched } },
});

/** Records a receipt, without the contents of the heartbeat. */
export const received = (h: History, heartbeat: Heartbeat, receipt: Receipt, correlationId: string): History => {
  // A late or reordered heartbeat does not measure the sender's clock.
  const lastReceipt = lastReceiptAfter(h.lastReceipt, heartbeat, receipt, correlationId);
  return { ...h, lastReceipt: { ...lastReceipt, driftMs: h.lastReceipt.driftMs } };
};

const lastReceiptAfter = (
  before: LastReceipt,
  heartbeat: Heartbeat,
  receipt: Receipt,
  correlationId: string,
): LastReceipt => ({
  now: receipt.now,
  watched: receipt.watched,
  sequence:
    heartbeat.sequence === null ? before.sequence : Math.max(heartbeat.sequence, before.sequence ?? heartbeat.sequence),
  intervalMs: heartbeat.interval_ms ?? before.intervalMs,
  driftMs: receipt.now - receipt.stamp,
  byRuntime: heartbeat.reporter === 'runtime',
  correlationId,
});

/** An agent that has been silent for this long counts as lost, and is forgotten: seven days. */
const LOST_MS = 7 * 24 * 3_600_000;

/** When silence alone ends the agent, on `now`'s axis; a closed ingress excuses it until then. */
export const lostForGoodFrom = ({ lastReceipt }: History): number => lastReceipt.now + LOST_MS;

/**
 * Ends an agent without a reported end after seven days of silence, at its last heartbeat. Otherwise returns the same
 * history.
 */
export const endedBySilence = (history: History, now: number): History => {
  if (history.end !== null || now < lostForGoodFrom(history)) return history;
  const end: End = { reason: 'lost', at: history.lastReceipt.now, orderId: null, bySelf: false };
  return { ...history, end };
};
