import { noActivity, noHeartbeat, noOutput, noStep, noTokens } from './absence.ts';
import { callOverdue, noCalls, noModelAnswer } from './calls.ts';
import { contextExhausted, tokenBurn, tokenSpike } from './cost.ts';
import { diverseCalls, steadyTokens } from './counter.ts';
import {
  blocked,
  breakerOpen,
  exited,
  falseCompletion,
  rateLimitedSignal,
  resourceLimit,
  selfReportedStuck,
} from './fact.ts';
import { errorPattern, unrecoverableError } from './patterns.ts';
import { callBudget, consecutiveFailures, errorRate, reportedErrors } from './rate.ts';
import {
  frequentCall,
  noAccept,
  repeatedAnswer,
  repeatedArguments,
  repeatedCalls,
  repeatedError,
  sameTarget,
} from './repetition.ts';
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
  no_model_answer: noModelAnswer,
  repeated_calls: repeatedCalls,
  repeated_answer: repeatedAnswer,
  repeated_arguments: repeatedArguments,
  frequent_call: frequentCall,
  repeated_error: repeatedError,
  same_target: sameTarget,
  no_accept: noAccept,
  consecutive_failures: consecutiveFailures,
  error_rate: errorRate,
  reported_errors: reportedErrors,
  call_budget: callBudget,
  token_spike: tokenSpike,
  token_burn: tokenBurn,
  context_exhausted: contextExhausted,
  rate_limited: rateLimitedSignal,
  error_pattern: errorPattern,
  unrecoverable_error: unrecoverableError,
  breaker_open: breakerOpen,
  exited,
  self_reported_stuck: selfReportedStuck,
  blocked,
  false_completion: falseCompletion,
  diverse_calls: diverseCalls,
  steady_tokens: steadyTokens,
  resource_limit: resourceLimit,
} as const satisfies Record<string, AnySignal>;

export type SignalName = keyof typeof SIGNALS;
