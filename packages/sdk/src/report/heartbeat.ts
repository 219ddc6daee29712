import type { BreakerReport, Heartbeat } from '@vigil/events';
// biome-ignore lint/suspicious/noImportCycles: of types only
import type { Notes } from './notes.ts';

/** The agent that reports, fixed for one instance. */
export type AgentIdentity = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string | null;
  readonly runtimeId: string | null;
  readonly attempt: number | null;
  readonly maxAttempts: number | null;
  readonly policy: string | null;
  readonly labels: Readonly<Record<string, string>>;
};

/** What a heartbeat adds to the notes: `intervalMs`: how often heartbeats are sent; `breakers`: their state now. */
export type HeartbeatContext = {
  readonly now: number;
  readonly intervalMs: number;
  readonly breakers: readonly BreakerReport[];
};

export const heartbeat = (
  notes: Notes,
  identity: AgentIdentity,
  { now, intervalMs, breakers }: HeartbeatContext,
): Heartbeat => {
  const { lasting, once } = notes;
  return {
    agent_id: identity.agentId,
    task_id: identity.taskId,
    timestamp: now,
    phase: lasting.phase,
    last_tool_call: lasting.lastCallAt,
    token_count: lasting.tokens,
    error_count: lasting.errors,
    progress_indicator: lasting.progress,
    instance_id: identity.instanceId,
    sequence: notes.sequence + 1,
    reporter: 'agent',
    agent_heartbeat_at: null,
    interval_ms: intervalMs,
    event_driven: false,
    ingress: null,
    policy: identity.policy,
    labels: identity.labels,
    runtime_id: identity.runtimeId,
    attempt: identity.attempt,
    max_attempts: identity.maxAttempts,
    activity: lasting.activity,
    waiting_for: null,
    turn: null,
    parent_agent_id: null,
    client: null,
    tool_calls: once.calls,
    breakers,
    reports_checkpoints: lasting.reportsCheckpoints,
    checkpoint: lasting.checkpoint,
    usage: [],
    cost_usd: null,
    context: lasting.context,
    work: lasting.work,
    output: null,
    steps: lasting.steps === null ? null : { total_steps: lasting.steps, verdicts: once.verdicts },
    errors: once.errors,
    rate_limit: once.rateLimit,
    limits: lasting.limits,
    handoff: once.handoff,
    blockers: once.blockers,
    probe_reply: once.probeReply,
    exit: lasting.exit,
  };
};
