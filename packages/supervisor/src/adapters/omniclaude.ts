import type { CheckpointRef } from '@vigil/events';
import { stringify } from 'yaml';

/** A line of omniclaude's dispatch log. Minutes to one decimal. */
export type DispatchEvent =
  | {
      readonly event: 'stall_detected';
      readonly ticket_id: string;
      readonly agent_id: string;
      readonly stall_reason: string;
      readonly idle_minutes: number;
      /** an agent whose call may still run is never reported as stalled */
      readonly bash_timeout_exemption: false;
      readonly redispatch_attempt: number;
      readonly max_redispatches: number | null;
      readonly action: 'kill_and_redispatch';
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

/** An ended agent that was ordered to end, and the attempt that continues its task. */
type Ended = {
  readonly taskId: string;
  readonly agentId: string;
  readonly stallReason: string;
  readonly idleMs: number;
  readonly attempt: number;
  readonly maxAttempts: number | null;
};

export const stallEvents = (ended: Ended): readonly DispatchEvent[] => {
  const { taskId: ticket_id, agentId: agent_id } = ended;
  const stall = {
    event: 'stall_detected',
    ticket_id,
    agent_id,
    stall_reason: ended.stallReason,
    idle_minutes: Math.round(ended.idleMs / 6000) / 10,
    bash_timeout_exemption: false,
    redispatch_attempt: ended.attempt,
    max_redispatches: ended.maxAttempts,
    action: 'kill_and_redispatch',
  } as const;
  return [stall, { event: 'agent_killed', ticket_id, agent_id }];
};

/** What an ended agent leaves for the agent that continues its task. */
export type Remains = {
  readonly taskId: string;
  readonly stallReason: string;
  readonly checkpoint: CheckpointRef | null;
  /** the attempt that continues from here */
  readonly attempt: number;
};

/** omniclaude's recovery file, field by field. */
export const recoveryYaml = ({ taskId, stallReason, checkpoint, attempt }: Remains, at: number): string =>
  stringify({
    schema_version: '1.1.0',
    ticket_id: taskId,
    timestamp_utc: utc(at),
    stall_reason: stallReason,
    completed_work: checkpoint?.completedWork ?? [],
    remaining_work: checkpoint?.remainingWork ?? [],
    redispatch_attempt: attempt,
    recovery_action: 'relaunch_fresh_agent',
  });
