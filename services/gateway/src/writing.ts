import { type Heartbeat, Topic, type TopicName } from '@vigil/events';
import { type Log, type OutRecord, partitionOf } from '@vigil/stream';
import { v5 } from 'uuid';
import { Problem } from './problem.ts';
import type { Told } from './receipts.ts';

/** What a runtime or an agent says, as records of the log. */
export type Writing = {
  /** Throws Problem where it is larger than a record may be. */
  readonly heartbeat: (heartbeat: Heartbeat) => OutRecord;
  /** `correlationId`: what the order it answers began; `now`: epoch milliseconds */
  readonly told: (told: Told, correlationId: string | null, now: number) => OutRecord;
};

export const WRITTEN = [
  Topic.heartbeat,
  Topic.orderReceipt,
  Topic.spawnReceipt,
  Topic.controlAgent,
  Topic.runtimePresence,
] as const;

/** A record with its batch around it must fit the topic's 512 KiB. */
const LARGEST_RECORD = 500_000;

/** Of the ids of what the gateway writes; random, once. */
const NAMESPACE = '8f0d6c1e-6a54-4f0b-9b57-2f6c3f1f7a11';

/** `ingress`: the way in that heartbeats are marked with; what a sender says of it itself counts for nothing. */
export const openWriting = async (log: Log, ingress: string): Promise<Writing> => {
  const counts = new Map<TopicName, number>();
  for (const topic of WRITTEN) counts.set(topic, await log.partitionCount(topic));

  const record = (topic: (typeof WRITTEN)[number], key: string, value: Buffer): OutRecord => {
    if (value.length > LARGEST_RECORD)
      throw new Problem(
        413,
        'too_large',
        `what ${key} reports has ${value.length} bytes: at most ${LARGEST_RECORD} are taken`,
      );
    return { topic, partition: partitionOf(key, counts.get(topic) ?? 1), key, value };
  };

  return {
    heartbeat: (payload) =>
      record(
        Topic.heartbeat,
        payload.agent_id,
        log.codec.encode({ topic: Topic.heartbeat, type: 'HEARTBEAT', payload: { ...payload, ingress: ingress } }),
      ),
    told: (told, correlationId, now) => {
      const identity = identityOf(told, now);
      const envelope = {
        eventId: v5([told.type, ...identity].join('/'), NAMESPACE),
        stateKey: null,
        version: null,
        epoch: null,
        occurredAt: now,
        correlationId: correlationId ?? identity[0],
        causationId: null,
        policy: null,
      };
      return record(told.topic, told.key, log.codec.encode({ ...told, ...envelope }));
    },
  };
};

/** What makes it the same when it is told again: a runtime repeats what it has no answer to. */
const identityOf = (told: Told, now: number): readonly [string, ...string[]] => {
  switch (told.type) {
    case 'ORDER_RECEIPT':
    case 'SPAWN_RECEIPT':
      return [told.payload.orderId, told.payload.outcome];
    case 'RUNTIME_ANNOUNCED':
      return [told.payload.runtimeId, String(now)];
    case 'AGENT_EXITED':
      return [told.payload.instanceId, told.payload.agentId];
  }
};
