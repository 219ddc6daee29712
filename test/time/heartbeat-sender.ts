import { setTimeout as sleep } from 'node:timers/promises';
import { parseHeartbeat, Topic } from '@vigil/events';
import { type Log, type OutRecord, partitionOf } from '@vigil/stream';
import { type Agent, heartbeats, INTERVAL_MS, nextHeartbeat } from './agents.ts';

export type HeartbeatSender = { readonly stop: () => Promise<void> };

const ROUND_MS = 50;
/** A supervisor's own figures, after which an unanswered request is aborted and retried. */
const PATIENCE_MS = 15_000;
const backOff = (failures: number): number => Math.min(250 * 2 ** (failures - 1), 5000);

const bytesOf = (log: Log, agent: Agent, heartbeat: Record<string, unknown>): Buffer =>
  agent.format === 'json'
    ? Buffer.from(JSON.stringify(heartbeat))
    : log.codec.encode({ topic: Topic.heartbeat, type: 'HEARTBEAT', payload: parseHeartbeat(heartbeat) });

/**
 * Directly to Kafka, one write at a time for each partition. An agent has one partition, so an unavailable leader
 * delays no agent of another one. While the broker is down, heartbeats are lost like those of a busy agent.
 */
export const sendToKafka = async (log: Log, agents: readonly Agent[]): Promise<HeartbeatSender> => {
  const partitions = await log.partitionCount(Topic.heartbeat);
  const start = Date.now();
  const due = new Map(agents.map((agent, i) => [agent, start + (i * INTERVAL_MS) / agents.length]));
  const placed = Map.groupBy(agents, ({ id }) => partitionOf(id, partitions));
  const stopping = new AbortController();
  const dueNow = (own: readonly Agent[], now: number): readonly Agent[] =>
    own.filter((agent) => {
      const at = due.get(agent) ?? now;
      if (at > now) return false;
      due.set(agent, at + INTERVAL_MS * (1 + Math.floor((now - at) / INTERVAL_MS)));
      return heartbeats(agent);
    });
  const run = async (partition: number, own: readonly Agent[]): Promise<void> => {
    while (!stopping.signal.aborted) {
      const now = Date.now();
      const records = dueNow(own, now).map(
        (agent): OutRecord => ({
          topic: Topic.heartbeat,
          partition,
          key: agent.id,
          value: bytesOf(log, agent, nextHeartbeat(agent, now)),
        }),
      );
      if (records.length > 0) await log.write(records).catch(() => undefined);
      await sleep(ROUND_MS);
    }
  };
  return stopper(
    stopping,
    [...placed].map(([partition, own]) => run(partition, own)),
  );
};

/**
 * Through the gateway, like a supervisor: repeats the same heartbeat until it is answered, separately for each agent.
 */
export const sendToGateway = (url: string, token: string, agents: readonly Agent[]): HeartbeatSender => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const stopping = new AbortController();
  const { signal } = stopping;
  const rest = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  const post = (body: string): Promise<boolean> =>
    fetch(`${url}/v1/heartbeats`, {
      method: 'POST',
      headers,
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]),
    }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.ok;
      },
      () => false,
    );
  const deliver = async (agent: Agent, body: string): Promise<void> => {
    for (let failures = 1; heartbeats(agent) && !signal.aborted; failures += 1) {
      if (await post(body)) return;
      await rest(backOff(failures));
    }
  };
  const run = async (agent: Agent, place: number): Promise<void> => {
    await rest((place * INTERVAL_MS) / agents.length);
    while (heartbeats(agent) && !signal.aborted) {
      const now = Date.now();
      await deliver(agent, JSON.stringify(nextHeartbeat(agent, now)));
      await rest(Math.max(0, now + INTERVAL_MS - Date.now()));
    }
  };
  return stopper(stopping, agents.map(run));
};

const stopper = (stopping: AbortController, running: readonly Promise<void>[]): HeartbeatSender => ({
  stop: async () => {
    stopping.abort();
    await Promise.all(running);
  },
});
