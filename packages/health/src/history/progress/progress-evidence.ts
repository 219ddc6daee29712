import type { ToolCall } from '@vigil/events';
import { finished, rateLimited } from '../calls/calls.ts';
import { type Heartbeat, instant, type Receipt } from '../moment.ts';

export const SNIPPET = 500;
export const PHASE = 64;
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
};

const NOTHING: ProgressEvidence = { phase: '', snippet: '', errors: 0, timeout: false, over: false, acceptedAt: null };

export const progressEvidenceAfter = (
  before: ProgressEvidence | null,
  heartbeat: Heartbeat,
  receipt: Receipt,
): ProgressEvidence => {
  const known = before ?? NOTHING;
  const trouble = heartbeat.tool_calls.reduce((evidence, call) => troubled(evidence, call, receipt), known);
  const accepted = heartbeat.steps?.verdicts.includes('ACCEPT') ?? false;
  const written = heartbeat.output?.tail.join('\n').trim() || heartbeat.errors.at(-1)?.message?.trim();
  return {
    ...(accepted ? { ...NOTHING, acceptedAt: receipt.now } : trouble),
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
  if (call.outcome === 'ok') return before.errors > 0 ? { ...before, over: true } : before;
  const timeout = TIMEOUT.test(call.error_class ?? '');
  const failedAt = instant(receipt, call.ended_at).now;
  return { ...before, errors: Math.min(before.errors + 1, 99), timeout, over: false, failedAt };
};
