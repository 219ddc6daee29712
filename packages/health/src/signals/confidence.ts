import type { Confidence as AnyConfidence } from '@vigil/events';
import type { SignalName } from './all.ts';

/** How far a signal alone shows that an agent is stuck. */
export type Confidence = Exclude<AnyConfidence, 'UNKNOWN'>;

/**
 * The confidence of every signal. The botbox/botty proposal has eight of them in its table of signals. The others follow
 * the same measure. High: reported facts, and the end of all signs. Medium: the absence of one kind of progress, and
 * repetition. Low: what work may look like too.
 */
export const CONFIDENCE: Readonly<Record<SignalName, Confidence>> = {
  // of the proposal
  no_output: 'high',
  rate_limited: 'high',
  repeated_error: 'medium',
  token_burn: 'medium',
  no_completion: 'high',
  no_claim_refresh: 'medium',
  exited: 'high',
  same_target: 'low',
  // ours
  no_heartbeat: 'high',
  no_activity: 'high',
  no_model_answer: 'high',
  call_overdue: 'high',
  unrecoverable_error: 'high',
  breaker_open: 'high',
  self_reported_stuck: 'high',
  blocked: 'high',
  resource_limit: 'high',
  no_calls: 'medium',
  no_checkpoint: 'medium',
  no_tokens: 'medium',
  no_work_update: 'medium',
  no_step: 'medium',
  not_started: 'medium',
  progress_mismatch: 'medium',
  repeated_calls: 'medium',
  repeated_answer: 'medium',
  repeated_arguments: 'medium',
  no_accept: 'medium',
  consecutive_failures: 'medium',
  context_exhausted: 'medium',
  error_pattern: 'medium',
  false_completion: 'medium',
  frequent_call: 'low',
  error_rate: 'low',
  reported_errors: 'low',
  call_budget: 'low',
  token_spike: 'low',
  diverse_calls: 'low',
  steady_tokens: 'low',
};
