import type { AgentHeartbeatPayload, Topic } from '@vigil/events';
import { register, type Statement } from '@vigil/read-model';
import type { Placed } from './handlers.ts';

type Call = AgentHeartbeatPayload['tool_calls'][number];

const DAY_MS = 86_400_000;
/** Characters of an id that an index can hold. */
const LONGEST_ID = 300;

const isInFlight = ({ outcome, ended_at }: Call): boolean =>
  ended_at === null && (outcome === 'running' || outcome === 'UNKNOWN');

/**
 * The calls of a heartbeat: it reports those that are new or have changed. Their times are moved from the clock of the
 * agent onto that of the broker. The report of a call in flight keeps its begin, because the report of its end may lack it.
 */
export const calls = (event: Placed<typeof Topic.agentObservation, 'AGENT_HEARTBEAT'>): readonly Statement[] => {
  const { payload, occurredAt } = event;
  const drift = occurredAt - payload.timestamp;
  const moved = (at: number | null) => (at === null ? null : Math.min(at + drift, occurredAt));
  // Of a call that is reported twice, the last report counts.
  const newest = new Map(payload.tool_calls.map((call) => [call.call_id, call]));
  return [...newest.values()].flatMap((call) => {
    const key = {
      agentId: payload.agent_id,
      instanceId: (payload.instance_id ?? '').slice(0, LONGEST_ID),
      callId: call.call_id.slice(0, LONGEST_ID),
      dayAt: occurredAt - (occurredAt % DAY_MS),
    };
    const values = {
      ...{ taskId: payload.task_id, kind: call.kind, tool: call.tool, outcome: call.outcome },
      ...{ errorClass: call.error_class, startedAt: moved(call.started_at) },
      endedAt: isInFlight(call) ? null : (moved(call.ended_at) ?? occurredAt),
    };
    const reported = register(event, 'calls', 'call', { ...key, ...values });
    if (!isInFlight(call)) return [reported];
    return [reported, register(event, 'calls', 'begun', { ...key, begunAt: values.startedAt ?? occurredAt })];
  });
};
