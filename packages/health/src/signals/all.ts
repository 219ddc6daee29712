import { callOverdue, noActivity, noCalls, noCheckpoint, noHeartbeat } from './absence.ts';
import { breakerOpen, exited, rateLimitedSignal, selfReportedStuck } from './fact.ts';
import { consecutiveFailures } from './rate.ts';
import { repeatedCalls } from './repetition.ts';
import type { AnySignal } from './signal.ts';

/** Every signal, under the name that policies use. To add one: write it in its family's file, list it here, give it its cases in cases.ts. */
export const SIGNALS = {
  no_heartbeat: noHeartbeat,
  no_activity: noActivity,
  no_calls: noCalls,
  no_checkpoint: noCheckpoint,
  call_overdue: callOverdue,
  repeated_calls: repeatedCalls,
  consecutive_failures: consecutiveFailures,
  rate_limited: rateLimitedSignal,
  breaker_open: breakerOpen,
  exited,
  self_reported_stuck: selfReportedStuck,
} as const satisfies Record<string, AnySignal>;

export type SignalName = keyof typeof SIGNALS;
