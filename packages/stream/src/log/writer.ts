import { randomUUID } from 'node:crypto';
import type { Draft, Envelope } from '@vigil/events';
import type { Headers, Log, OutRecord } from './log.ts';
import { partitionOf } from './partitioner.ts';

/** The origin of an event from outside; without it the event begins a new chain. */
export type EventOrigin = { readonly causationId?: string; readonly headers?: Headers };

/** An event whose id its writer chooses, so that a repetition of it can be recognised. */
export type NamedDraft = { readonly eventId: string; readonly draft: Draft };

export type Writer = {
  /**
   * Resolves when the broker has acknowledged all events. Each draft gets an envelope with a random id. Returns the
   * event ids, in order.
   */
  readonly write: (drafts: readonly Draft[], outside?: EventOrigin) => Promise<readonly string[]>;
  /** Resolves when the broker has acknowledged all events, each under the id that the caller gives it. */
  readonly writeNamed: (events: readonly NamedDraft[]) => Promise<void>;
  /** Writes bytes under a key, to the key's partition. */
  readonly writeRaw: (topic: string, key: string, value: Buffer | null, headers?: Headers) => Promise<void>;
};

/**
 * The record of an event without a decider's version, in the partition of its key. It continues the chain of
 * `correlationId` unless the draft names another.
 */
export const recordOf = async (
  log: Log,
  draft: Draft,
  origin: Pick<Envelope, 'eventId' | 'occurredAt' | 'correlationId' | 'causationId'>,
): Promise<OutRecord> => {
  const { topic, key, correlationId = origin.correlationId, policy = null } = draft;
  const numbers = { stateKey: null, version: null, epoch: null };
  const value = log.codec.encode({ ...draft, ...origin, ...numbers, correlationId, policy });
  return { topic, partition: partitionOf(key, await log.partitionCount(topic)), key, value };
};

/**
 * Writes events from outside the log: at least once, in the order of the calls. `now`: when they occur, epoch
 * milliseconds.
 */
export const writer = (log: Log, now: () => number): Writer => {
  const writeNamed = async (events: readonly NamedDraft[], { causationId, headers = {} }: EventOrigin) => {
    const occurredAt = now();
    const records = events.map(async ({ eventId, draft }) => {
      const origin = { eventId, occurredAt, correlationId: eventId, causationId: causationId ?? null };
      return { ...(await recordOf(log, draft, origin)), timestamp: occurredAt, headers };
    });
    await log.write(await Promise.all(records));
  };
  return {
    write: async (drafts, outside = {}) => {
      const events = drafts.map((draft) => ({ eventId: randomUUID(), draft }));
      await writeNamed(events, outside);
      return events.map(({ eventId }) => eventId);
    },
    writeNamed: (events) => writeNamed(events, {}),
    writeRaw: async (topic, key, value, headers = {}) => {
      const partition = partitionOf(key, await log.partitionCount(topic));
      await log.write([{ topic, partition, key, value, headers }]);
    },
  };
};
