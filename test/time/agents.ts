/**
 * How an agent reports itself, and the error of its clock. `runtime`: its runtime sends heartbeats for it, and
 * continues when it hangs.
 */
export type Agent = {
  readonly id: string;
  readonly ingress: 'kafka' | 'gateway';
  readonly format: 'json' | 'avro';
  readonly reporter: 'agent' | 'runtime';
  readonly skewMs: number;
  sequence: number;
  /** epoch milliseconds of its own latest sign */
  signAt: number;
  /** the fault during which it hung; null if it continues to work */
  hungIn: number | null;
};

export const INTERVAL_MS = 1000;
const TEN_MINUTES = 600_000;
const SKEWS: readonly number[] = [0, TEN_MINUTES, -TEN_MINUTES];

const agent = (ingress: Agent['ingress'], i: number): Agent => ({
  id: `${ingress}-${i}`,
  ingress,
  format: i % 2 === 0 ? 'json' : 'avro',
  reporter: i % 3 === 0 ? 'runtime' : 'agent',
  skewMs: SKEWS[Math.floor(i / 6) % SKEWS.length] ?? 0,
  sequence: 0,
  signAt: 0,
  hungIn: null,
});

/** A number of agents for each ingress, with all ways of reporting and all clocks. */
export const agentsOf = (kafka: number, gateway: number): Agent[] => [
  ...Array.from({ length: kafka }, (_, i) => agent('kafka', i)),
  ...Array.from({ length: gateway }, (_, i) => agent('gateway', i)),
];

/** Whether heartbeats are still sent for it. An agent that reports itself sends none once it hangs. */
export const heartbeats = ({ reporter, hungIn }: Agent): boolean => hungIn === null || reporter === 'runtime';

/** Its next heartbeat, as JSON, by its own wrong clock. */
export const nextHeartbeat = (agent: Agent, now: number): Record<string, unknown> => {
  agent.sequence += 1;
  if (agent.hungIn === null) agent.signAt = now;
  return {
    agent_id: agent.id,
    task_id: `T-${agent.id}`,
    timestamp: now + agent.skewMs,
    phase: 'work',
    last_tool_call: null,
    token_count: agent.sequence,
    error_count: 0,
    progress_indicator: String(agent.sequence),
    instance_id: `${agent.id}.1`,
    sequence: agent.sequence,
    reporter: agent.reporter,
    agent_heartbeat_at: agent.reporter === 'runtime' ? agent.signAt + agent.skewMs : null,
    interval_ms: INTERVAL_MS,
    activity: 'working',
  };
};
