import { type Heartbeat, Topic } from '@vigil/events';
import type { Observation } from '@vigil/health';

/** The observation that ingest writes for a heartbeat. */
export const observed = (payload: Heartbeat, id: string): Observation => ({
  topic: Topic.agentObservation,
  type: 'AGENT_HEARTBEAT',
  key: payload.agent_id,
  payload,
  eventId: id,
  stateKey: null,
  version: null,
  epoch: null,
  occurredAt: payload.timestamp,
  correlationId: id,
  causationId: null,
  policy: null,
});
