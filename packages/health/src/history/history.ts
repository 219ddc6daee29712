import type { ExitReason } from '@vigil/events';
import { type Activities, activities } from './activities.ts';
import { type Breakers, largestBreakersBytes, NO_BREAKERS } from './breakers.ts';
import { type Calls, calls } from './calls.ts';
import { type Checkpoints, checkpoints } from './checkpoints.ts';
import { type Axis, type Beat, type Moment, OWN_AXIS, type Receipt } from './moment.ts';
import { type Progress, progress } from './progress.ts';
import { type RateLimit, rateLimits } from './rate-limits.ts';
import { largestRunsBytes, NO_RUNS, type Runs, runsAfter } from './runs.ts';
import { type Steps, steps } from './steps.ts';

/** Whose life it is, as last reported. */
export type Identity = {
  readonly instanceId: string | null;
  readonly taskId: string | null;
  readonly runtimeId: string | null;
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
  readonly labels: Readonly<Record<string, string>>;
};

/** The last receipt. `driftMs`: how far the sender's clock is behind ours; reported, never judged. */
export type Heard = Moment & {
  readonly sequence: number | null;
  readonly intervalMs: number | null;
  readonly driftMs: number;
  readonly correlationId: string;
};

/** The reported end. `ordered`: by an order of ours. */
export type End = { readonly reason: ExitReason; readonly at: number; readonly ordered: boolean };

/** A person keeps the agent from being judged. `until` null: until released. */
export type Held = { readonly until: number | null; readonly mark: number; readonly over: boolean };

/** The bounded memory of one life of an agent that signals read. */
export type History = {
  readonly identity: Identity;
  readonly axis: Axis;
  readonly started: Moment;
  readonly heard: Heard;
  readonly activity: Activities;
  readonly calls: Calls;
  readonly runs: Runs;
  readonly breakers: Breakers;
  readonly progress: Progress;
  readonly checkpoint: Checkpoints;
  readonly rateLimit: RateLimit;
  readonly steps: Steps;
  /** per cent of the context used */
  readonly contextPct: number | null;
  readonly held: Held | null;
  readonly end: End | null;
};

/** The most a history takes as JSON, with ids of at most 64 characters and without the labels. */
export const largestHistoryBytes: number =
  calls.largestBytes +
  largestRunsBytes +
  largestBreakersBytes +
  progress.largestBytes +
  activities.largestBytes +
  checkpoints.largestBytes +
  steps.largestBytes +
  450;

/** A life of which nothing is known but that it began. */
export function bornAt(identity: Identity, receipt: Receipt, correlationId: string): History {
  const { now, watched } = receipt;
  return {
    identity,
    axis: OWN_AXIS,
    started: { now, watched },
    heard: { now, watched, sequence: null, intervalMs: null, driftMs: 0, correlationId },
    activity: activities.initial(receipt),
    calls: calls.initial(receipt),
    runs: NO_RUNS,
    breakers: NO_BREAKERS,
    progress: progress.initial(receipt),
    checkpoint: checkpoints.initial(receipt),
    rateLimit: rateLimits.initial(receipt),
    steps: steps.initial(receipt),
    contextPct: null,
    held: null,
    end: null,
  };
}

/** The contents of a heartbeat, but for breakers: those are counted with a policy's limits. Its receipt is noted by `received`. */
export function folded(h: History, beat: Beat, receipt: Receipt): History {
  return {
    identity: identityAfter(h.identity, beat),
    axis: h.axis,
    started: h.started,
    heard: h.heard,
    activity: activities.observe(h.activity, beat, receipt),
    calls: calls.observe(h.calls, beat, receipt),
    runs: runsAfter(h.runs, h.progress, beat, receipt),
    breakers: h.breakers,
    progress: progress.observe(h.progress, beat, receipt),
    checkpoint: checkpoints.observe(h.checkpoint, beat, receipt),
    rateLimit: rateLimits.observe(h.rateLimit, beat, receipt),
    steps: steps.observe(h.steps, beat, receipt),
    contextPct: beat.context ? percent(beat.context.tokens_used, beat.context.tokens_max) : h.contextPct,
    held: h.held,
    end: h.end,
  };
}

/** That something was received, whatever it says. */
export function received(h: History, beat: Beat, receipt: Receipt, correlationId: string): History {
  const heard: Heard = {
    now: receipt.now,
    watched: receipt.watched,
    sequence: beat.sequence === null ? h.heard.sequence : Math.max(beat.sequence, h.heard.sequence ?? beat.sequence),
    intervalMs: beat.interval_ms ?? h.heard.intervalMs,
    driftMs: receipt.now - receipt.stamp,
    correlationId,
  };
  return { ...h, heard };
}

export function identityOf(beat: Beat): Identity {
  return {
    instanceId: beat.instance_id,
    taskId: beat.task_id,
    runtimeId: beat.runtime_id,
    attempt: beat.attempt,
    maxAttempts: beat.max_attempts,
    labels: beat.labels,
  };
}

function identityAfter(known: Identity, beat: Beat): Identity {
  return {
    instanceId: known.instanceId,
    taskId: beat.task_id,
    runtimeId: beat.runtime_id ?? known.runtimeId,
    attempt: beat.attempt ?? known.attempt,
    maxAttempts: beat.max_attempts ?? known.maxAttempts,
    labels: Object.keys(beat.labels).length > 0 ? beat.labels : known.labels,
  };
}

const percent = (used: number, most: number): number | null => (most > 0 ? (100 * used) / most : null);
