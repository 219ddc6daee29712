import { type EventOf, type Topic, Undecodable } from '@vigil/events';
import { isEvent, type Log, type LogRecord, readEvent } from '@vigil/stream';

/** An alert's event; null: another record, or one that cannot be decoded. */
export const eventIn = async (log: Log, record: LogRecord): Promise<EventOf<typeof Topic.alert> | null> => {
  if (!isEvent(record)) return null;
  try {
    return (await readEvent(log.codec, record)) as EventOf<typeof Topic.alert>;
  } catch (error) {
    if (error instanceof Undecodable) return null;
    throw error;
  }
};
