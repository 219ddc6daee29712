import { Topic } from '@vigil/events';
import { type MapperProcessor, throughPartition } from '@vigil/stream';
import { readHeartbeat } from './heartbeat.ts';
import { observe } from './observe.ts';

type In = typeof Topic.heartbeat | typeof Topic.controlAgent;
type Out = typeof Topic.agentObservation | typeof Topic.taskCheckpoint;

/** The sequencer of the agent key space: all that judgement reads, in one order; and where time begins. */
export const ingest: MapperProcessor<In, Out> = {
  processor: 'heartbeat-ingest',
  service: 'heartbeat-ingest',
  reads: [Topic.heartbeat, Topic.controlAgent],
  foreign: [Topic.heartbeat],
  writes: [Topic.agentObservation, Topic.taskCheckpoint],
  time: { topic: Topic.heartbeat, sources: 'own' },
  writesTicks: Topic.heartbeat,
  ticks: [{ topic: Topic.agentObservation, everyMs: 1000, to: 'same' }],
  decode: {
    [Topic.heartbeat]: ({ key, value, headers }, codec) => {
      const heartbeat = readHeartbeat(codec, key, value ?? Buffer.alloc(0));
      const payload = { ...heartbeat, ingress: heartbeat.ingress ?? throughPartition(headers) };
      return { topic: Topic.heartbeat, type: 'HEARTBEAT', payload };
    },
  },
  map: observe,
};
