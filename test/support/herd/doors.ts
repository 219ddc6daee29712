import { type Heartbeat, Topic } from '@vigil/events';
import { partitionOf } from '@vigil/stream';
import type { TestSystem } from '../system.ts';

/** The ways in for heartbeats. */
export const doorsOf = (on: TestSystem, partitions: number) => ({
  kafka: (beats: readonly Heartbeat[]): Promise<unknown> =>
    on.log.write(
      beats.map((beat) => ({
        topic: Topic.heartbeat,
        partition: partitionOf(beat.agent_id, partitions),
        key: beat.agent_id,
        value: Buffer.from(JSON.stringify(beat)),
      })),
    ),
  http: async (beats: readonly Heartbeat[]): Promise<void> => {
    const answer = await fetch(new URL('/v1/heartbeats', on.system.env.VIGIL_GATEWAY_URL), {
      method: 'POST',
      headers: { authorization: `Bearer ${on.system.env.VIGIL_GATEWAY_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(beats),
      signal: AbortSignal.timeout(5000),
    });
    if (!answer.ok) throw new Error(`the gateway answers ${answer.status}`);
  },
});
