import { type EventOf, type Heartbeat, memoryCodec, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import type { Observation } from '@vigil/health';
import { createIngest } from '../../../services/heartbeat-ingest/src/processor.ts';

const ingest = createIngest(null);

const codec = memoryCodec();

const observed = (input: EventOf<typeof Topic.heartbeat | typeof Topic.controlAgent>): Observation => {
  const [draft] = ingest.map(input, input.occurredAt, input.occurredAt);
  if (draft?.topic !== Topic.agentObservation) throw new Error(`heartbeat-ingest passes no ${input.type} on`);
  return { ...input, ...draft } as Observation;
};

/** The observation of a heartbeat, as heartbeat-ingest makes it from the gateway's record. */
export const ingested = (heartbeat: Heartbeat): Observation => {
  const key = heartbeat.agent_id;
  const value = codec.encode({ topic: Topic.heartbeat, type: 'HEARTBEAT', payload: heartbeat });
  const record = {
    topic: Topic.heartbeat,
    partition: 0,
    offset: 0,
    key,
    value,
    timestamp: heartbeat.timestamp,
    headers: {},
  };
  const read = ingest.decode?.[Topic.heartbeat]?.(record, codec);
  if (read === undefined) throw new Error('heartbeat-ingest reads no heartbeats');
  return observed({ ...example(Topic.heartbeat, 'HEARTBEAT'), key, payload: read.payload as Heartbeat });
};

/** The same of the end of an agent, which its runtime reports. */
export const ingestedEnd = (ended: EventOf<typeof Topic.controlAgent>): Observation => observed(ended);
