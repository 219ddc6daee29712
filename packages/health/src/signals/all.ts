import { noActivity, noHeartbeat, noOutput, noStep, noTokens } from './absence.ts';
import { callOverdue, noCalls } from './calls.ts';
import { contextExhausted, tokenBurn, tokenSpike } from './cost.ts';
import { breakerOpen, exited, rateLimitedSignal, selfReportedStuck } from './fact.ts';
import { resourceLimit } from './limits.ts';
import { consecutiveFailures } from './rate.ts';
import { repeatedCalls } from './repetition.ts';
import type { AnySignal } from './signal.ts';
import { noCheckpoint, noClaimRefresh, noCompletion, notStarted, noWorkUpdate, progressMismatch } from './work.ts';

/** Every signal, under the name that policies use. To add one: write it in its family's file, list it here, give it its cases in cases.ts. */
export const SIGNALS = {
  no_heartbeat: noHeartbeat,
  no_activity: noActivity,
  no_calls: noCalls,
  no_output: noOutput,
  no_checkpoint: noCheckpoint,
  no_tokens: noTokens,
  no_work_update: noWorkUpdate,
  no_claim_refresh: noClaimRefresh,
  no_completion: noCompletion,
  no_step: noStep,
  not_started: notStarted,
  progress_mismatch: progressMismatch,
  call_overdue: callOverdue,
  repeated_calls: repeatedCalls,
  consecutive_failures: consecutiveFailures,
  token_spike: tokenSpike,
  token_burn: tokenBurn,
  context_exhausted: contextExhausted,
  rate_limited: rateLimitedSignal,
  breaker_open: breakerOpen,
  exited,
  self_reported_stuck: selfReportedStuck,
  resource_limit: resourceLimit,
} as const satisfies Record<string, AnySignal>;

export type SignalName = keyof typeof SIGNALS;
