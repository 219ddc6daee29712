import { type Heartbeat, parseHeartbeat, Topic } from '@vigil/events';
import type { Observation } from '../evaluator/health.ts';
import type { Report } from './reports.ts';
import type { RecordedRun } from './run.ts';

/** The agent of these heartbeats: a run's id is not the name of an agent, and some names are never judged. */
export const AGENT = 'recorded';

/** The heartbeat that the agent itself would have sent with this report. `shift`: added to its times. */
export function heartbeatOf(run: RecordedRun, { at, call, tokens }: Report, shift: number): Observation {
  const moved = (ms: number | null) => (ms === null ? null : ms + shift);
  const { started_at, ended_at, deadline_at } = call;
  const times = { started_at: moved(started_at), ended_at: moved(ended_at), deadline_at: moved(deadline_at) };
  return observed(run.run_id, {
    instance_id: run.run_id,
    task_id: run.task ?? run.run_id,
    timestamp: at + shift,
    last_tool_call: at + shift,
    token_count: tokens,
    tool_calls: [{ ...call, ...times }],
  });
}

/** A heartbeat with these fields; all others are unknown. `eventId`: its unique id. */
export function observed(eventId: string, fields: Partial<Heartbeat> & { readonly timestamp: number }): Observation {
  const payload = { ...SILENT, ...fields };
  return {
    topic: Topic.agentObservation,
    type: 'AGENT_HEARTBEAT',
    key: payload.agent_id,
    payload,
    eventId,
    stateKey: null,
    version: null,
    epoch: null,
    occurredAt: payload.timestamp,
    correlationId: eventId,
    causationId: null,
    policy: null,
  };
}

/** A heartbeat without any fields of its own; the agent and the moment are set for each. */
const SILENT = parseHeartbeat({
  agent_id: AGENT,
  task_id: null,
  timestamp: 0,
  phase: '',
  last_tool_call: null,
  token_count: null,
  error_count: 0,
  progress_indicator: '',
});
