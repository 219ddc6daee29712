import type { Draft, HealthEvent } from '@vigil/events';
import { Fatal } from '../errors.ts';
import { eventId } from '../log/ids.ts';
import type { Log, LogRecord } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';

/** An outcome could not be written: the broker's trouble makes no dead letter. */
class Unwritten extends Fatal {}

/** Of the broker's: the process ends, and the event is read again. */
export const isTrouble = (error: unknown): boolean => error instanceof Unwritten;

/**
 * Records the outcome of a reaction. The ids are the same each time, so that an effect that is tried twice is recorded
 * as one.
 */
export const writeOutcomes = async (
  log: Log,
  group: string,
  { topic, partition, offset }: LogRecord,
  input: HealthEvent,
  drafts: readonly Draft[],
): Promise<void> => {
  if (drafts.length === 0) return;
  const encoded = drafts.map(async (draft, ordinal) => {
    const value = log.codec.encode({
      ...draft,
      eventId: eventId(group, topic, partition, offset, draft.key, ordinal),
      stateKey: null,
      version: null,
      epoch: null,
      occurredAt: Date.now(),
      correlationId: draft.correlationId ?? input.correlationId,
      causationId: input.eventId,
      policy: draft.policy ?? null,
    });
    const to = partitionOf(draft.key, await log.partitionCount(draft.topic));
    return { topic: draft.topic, partition: to, key: draft.key, value };
  });
  const records = await Promise.all(encoded);
  await log.write(records).catch((error: Error) => {
    throw new Unwritten(`${group}: an outcome was not written: ${error.message}`, { cause: error });
  });
};
