import type { ToolCall } from '@vigil/events';
import { finished, rateLimited } from '../calls/calls.ts';
import { signature } from '../calls/heartbeat-delta.ts';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';

export const SNIPPET = 500;
export const PHASE = 64;
/** The number of results of successful calls with which a new one is compared. Beyond it none counts as progress. */
export const REMEMBERED_SUCCESSES = 100;
/** Enough bits to distinguish that many results: two of them are alike once in two hundred histories. */
const SHORT = 0xfffff;
const TIMEOUT = /tim(e|ed)[ _-]?out|deadline[ _-]?exceeded/i;

/** The data that a ticket quotes; stored only under a policy that files tickets. */
export type ProgressEvidence = {
  readonly phase: string;
  /** the end of its last output, else its last error: at most 500 characters */
  readonly snippet: string;
  /** failed calls since the last ACCEPT, whether the last was a timeout, and whether a call has succeeded since */
  readonly errors: number;
  readonly timeout: boolean;
  readonly over: boolean;
  /** when the last of them failed; absent: none did, or an older version wrote the state */
  readonly failedAt?: number;
  /** when the last ACCEPT was reported; only later progress counts as progress despite a judge's bad decisions */
  readonly acceptedAt: number | null;
  /** short hashes of the last different results of successful calls, the newest last; absent: none */
  readonly results?: readonly number[];
  /** how many successful calls since the last ACCEPT were new, up to REMEMBERED_SUCCESSES; absent: none */
  readonly fresh?: number;
  /** when the last of these came, or other progress was declared, on `now`'s axis; absent: neither did */
  readonly freshAt?: number;
};

const NOTHING: ProgressEvidence = { phase: '', snippet: '', errors: 0, timeout: false, over: false, acceptedAt: null };

/** `declared`: whether the heartbeat has a new checkpoint, an update of the work, or an ACCEPT. */
export const progressEvidenceAfter = (
  before: ProgressEvidence | null,
  declared: boolean,
  heartbeat: Heartbeat,
  receipt: Receipt,
): ProgressEvidence => {
  const known: ProgressEvidence = { ...(before ?? NOTHING), ...(declared && { freshAt: receipt.now }) };
  const trouble = heartbeat.tool_calls.reduce((evidence, call) => troubled(evidence, call, receipt), known);
  const accepted = heartbeat.steps?.verdicts.includes('ACCEPT') ?? false;
  const written = heartbeat.output?.tail.join('\n').trim() || heartbeat.errors.at(-1)?.message?.trim();
  return {
    ...(accepted ? { ...NOTHING, acceptedAt: receipt.now, results: trouble.results ?? [] } : trouble),
    phase: heartbeat.phase.slice(0, PHASE).toWellFormed(),
    snippet: written ? ending(written) : known.snippet,
  };
};

/** When the only failure came, if it was a timeout that has resolved itself; null: it was not. */
export const transientAt = ({ errors, timeout, over, failedAt }: ProgressEvidence): number | null =>
  errors === 1 && timeout && over ? (failedAt ?? null) : null;

export const ending = (text: string): string => text.slice(-SNIPPET).toWellFormed();

const troubled = (before: ProgressEvidence, call: ToolCall, receipt: Receipt): ProgressEvidence => {
  if (!finished(call) || rateLimited(call)) return before;
  if (call.outcome === 'ok') return succeeded(before.errors > 0 ? { ...before, over: true } : before, call, receipt);
  const timeout = TIMEOUT.test(call.error_class ?? '');
  const failedAt = instant(receipt, call.ended_at).now;
  return { ...before, errors: Math.min(before.errors + 1, 99), timeout, over: false, failedAt };
};

/**
 * A call makes progress if it succeeds with a result that it has not had. All results since the last ACCEPT are
 * remembered while they count, so only the first round of a loop is progress.
 */
const succeeded = (before: ProgressEvidence, call: ToolCall, receipt: Receipt): ProgressEvidence => {
  const { results = [], fresh = 0 } = before;
  const sign = signature(call, call.result_hash);
  const mark = sign === null ? null : sign & SHORT;
  const isNew = mark === null ? call.mutating : !results.includes(mark);
  if (!isNew) return before;
  const after = mark === null ? before : { ...before, results: [...results.slice(1 - REMEMBERED_SUCCESSES), mark] };
  if (fresh === REMEMBERED_SUCCESSES) return after;
  const freshAt = Math.max(before.freshAt ?? 0, instant(receipt, call.ended_at).now);
  return { ...after, fresh: fresh + 1, freshAt };
};
