import { type Heartbeat, Topic } from '@vigil/events';
import { partitionOf } from '@vigil/stream';
import type { TestSystem } from '../system.ts';

/** The ingresses for heartbeats. */
export const ingressesOf = (on: TestSystem, partitions: number) => ({
  kafka: (heartbeats: readonly Heartbeat[]): Promise<unknown> =>
    on.log.write(
      heartbeats.map((heartbeat) => ({
        topic: Topic.heartbeat,
        partition: partitionOf(heartbeat.agent_id, partitions),
        key: heartbeat.agent_id,
        value: Buffer.from(JSON.stringify(heartbeat)),
      })),
    ),
  http: async (heartbeats: readonly Heartbeat[]): Promise<void> => {
    const answer = await fetch(new URL('/v1/heartbeats', on.system.env.VIGIL_GATEWAY_URL), {
      method: 'POST',
      headers: { authorization: `Bearer ${on.system.env.VIGIL_GATEWAY_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(heartbeats),
      signal: AbortSignal.timeout(5000),
    });
    if (!answer.ok) throw new Error(`the gateway answers ${answer.status}`);
  },
});
