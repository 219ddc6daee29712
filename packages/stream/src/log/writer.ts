import { randomUUID } from 'node:crypto';
import type { Draft } from '@vigil/events';
import type { Headers, Log } from './log.ts';
import { partitionOf } from './partitioner.ts';

/** What an event from outside may state about its origin; without it the event begins a new chain. */
export type EventOrigin = { readonly occurredAt?: number; readonly causationId?: string; readonly headers?: Headers };

export type Writer = {
  /** Acknowledged when it resolves. Each draft gets an envelope with a random id. Returns the event ids, in order. */
  readonly write: (drafts: readonly Draft[], outside?: EventOrigin) => Promise<readonly string[]>;
  /** Bytes under a key, where it belongs. */
  readonly writeRaw: (topic: string, key: string, value: Buffer | null, headers?: Headers) => Promise<void>;
};

/** Writes events from outside the log: at least once, in the order of the calls. */
export const writer = (log: Log): Writer => ({
  write: async (drafts, { occurredAt = Date.now(), causationId, headers = {} } = {}) => {
    const ids = drafts.map(() => randomUUID());
    const records = drafts.map(async (draft, place) => {
      const id = ids[place] as string;
      const value = log.codec.encode({
        ...draft,
        eventId: id,
        stateKey: null,
        version: null,
        epoch: null,
        occurredAt,
        correlationId: draft.correlationId ?? id,
        causationId: causationId ?? null,
        policy: draft.policy ?? null,
      });
      const partition = partitionOf(draft.key, await log.partitionCount(draft.topic));
      return { topic: draft.topic, partition, key: draft.key, value, timestamp: occurredAt, headers };
    });
    await log.write(await Promise.all(records));
    return ids;
  },
  writeRaw: async (topic, key, value, headers = {}) => {
    const partition = partitionOf(key, await log.partitionCount(topic));
    await log.write([{ topic, partition, key, value, headers }]);
  },
});
