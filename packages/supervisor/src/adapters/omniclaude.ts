import type { CheckpointRef, ToolCall, WorkItem } from '@vigil/events';
import { duration, limitAfter, longCalls } from '@vigil/policy';
import { stringify } from 'yaml';
import { z } from 'zod';
import { usesIn } from '../output/policy-patterns.ts';

/** A line of omniclaude's dispatch log. Minutes to one decimal. */
export type DispatchEvent =
  | {
      readonly event: 'stall_detected';
      readonly ticket_id: string;
      readonly agent_id: string;
      readonly stall_reason: string;
      readonly idle_minutes: number;
      /** whether the timeout of its last call was so long that it extended the policy's limit */
      readonly bash_timeout_exemption: boolean;
      readonly redispatch_attempt: number;
      readonly max_redispatches: number | null;
      /** `escalate_to_blocked`: no attempt is left */
      readonly action: 'kill_and_redispatch' | 'escalate_to_blocked';
    }
  | { readonly event: 'agent_killed'; readonly ticket_id: string; readonly agent_id: string }
  | {
      readonly event: 'redispatch';
      readonly ticket_id: string;
      readonly redispatch_attempt: number;
      readonly remaining_tasks: readonly string[];
    };

/** `2026-04-02T14:30:00Z` */
export const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** `at`: epoch milliseconds */
export const dispatchLine = (event: DispatchEvent, at: number): string =>
  `${JSON.stringify({ timestamp_utc: utc(at), ...event })}\n`;

/** One of omniclaude's three reasons; any other as it was given. */
export const stallReasonOf = (reason: string, axes: readonly string[]): string => {
  if (axes.includes('absence')) return 'inactivity';
  if (/context/i.test(reason)) return 'context_overflow';
  return /rate.?limit/i.test(reason) ? 'rate_limit' : reason;
};

/** An agent that is ordered to end, its last call, and the attempt that continues its task. */
type Stalled = {
  readonly taskId: string;
  readonly agentId: string;
  readonly stallReason: string;
  readonly idleMs: number;
  readonly lastCall: ToolCall | null;
  /** as it was served; undefined: it is not known */
  readonly policyDocument: unknown;
  readonly attempt: number;
  readonly maxAttempts: number | null;
  /** no attempt is left */
  readonly isLast: boolean;
};

const limitOfInactivity = z.object({ after: duration, ...longCalls });

/** Whether the timeout of the call extends a limit of inactivity of the policy. */
const isExempt = (call: ToolCall | null, policyDocument: unknown): boolean => {
  if (call === null || call.deadline_at === null || call.started_at === null) return false;
  const spanMs = call.deadline_at - call.started_at;
  return usesIn(policyDocument)
    .filter(({ signal }) => signal === 'no_calls')
    .flatMap(({ settings }) => limitOfInactivity.safeParse(settings).data ?? [])
    .some((limits) => limitAfter({ tool: call.tool, spanMs }, limits) > limits.after);
};

export const stallDetected = (stalled: Stalled): DispatchEvent => ({
  event: 'stall_detected',
  ticket_id: stalled.taskId,
  agent_id: stalled.agentId,
  stall_reason: stalled.stallReason,
  idle_minutes: Math.round(stalled.idleMs / 6000) / 10,
  bash_timeout_exemption: isExempt(stalled.lastCall, stalled.policyDocument),
  redispatch_attempt: stalled.attempt,
  max_redispatches: stalled.maxAttempts,
  action: stalled.isLast ? 'escalate_to_blocked' : 'kill_and_redispatch',
});

/** The reason that omniclaude gives an agent that it ends for a finding. */
export const STALL_DETECTED = 'stall_detected';

/** What the runtime has of an agent beyond its last checkpoint. */
export type KnownState = {
  /** the last calls that it has begun since then, oldest first */
  readonly calls: readonly ToolCall[];
  /** the last lines of its output, without control characters */
  readonly output: readonly string[];
  /** the item of its task in the tracker; null: the tracker reports none */
  readonly work: WorkItem | null;
};

/** Lines of output that are saved of an agent before its end, and characters of a line. */
const LINES_KEPT = 50;
const LONGEST_KEPT = 1000;

export const knownState = (
  calls: KnownState['calls'],
  output: readonly string[],
  work: WorkItem | null,
): KnownState => ({
  calls,
  output: output.slice(-LINES_KEPT).map((line) => line.slice(0, LONGEST_KEPT)),
  work,
});

/** What an ended agent leaves for the agent that continues its task. */
export type Remains = {
  readonly taskId: string;
  readonly stallReason: string;
  readonly checkpoint: CheckpointRef | null;
  /** the attempt that continues from here */
  readonly attempt: number;
  readonly known: KnownState;
};

const callLine = ({ tool, target, outcome, started_at: startedAt }: ToolCall): object => ({
  tool,
  ...(target === null ? {} : { target }),
  outcome,
  ...(startedAt === null ? {} : { started: utc(startedAt) }),
});

/** What has begun and not ended: its item of work, and its calls in flight. */
const openWork = ({ work, calls }: KnownState): readonly object[] => [
  ...(work === null ? [] : [{ item: work.id, status: work.status }]),
  ...calls.filter(({ outcome }) => outcome === 'running').map(callLine),
];

/** omniclaude's recovery file, field by field, and then what the runtime has itself. */
export const recoveryYaml = ({ taskId, stallReason, checkpoint, attempt, known }: Remains, at: number): string =>
  stringify({
    schema_version: '1.1.0',
    ticket_id: taskId,
    timestamp_utc: utc(at),
    stall_reason: stallReason,
    completed_work: checkpoint?.completedWork ?? [],
    remaining_work: checkpoint?.remainingWork ?? [],
    redispatch_attempt: attempt,
    recovery_action: 'relaunch_fresh_agent',
    calls_since_checkpoint: known.calls.map(callLine),
    last_output: known.output,
    ...(checkpoint === null ? {} : { last_checkpoint: { id: checkpoint.checkpointId, uri: checkpoint.uri } }),
    open_work: openWork(known),
  });
