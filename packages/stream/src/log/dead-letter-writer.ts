import type { Codec } from '@vigil/events';
import type { Count } from '../metrics.ts';
import { deadLetterOf, deadLetterTopic } from './dead-letters.ts';
import type { Log, LogRecord } from './log.ts';
import { partitionOf } from './partitioner.ts';

/** Who writes a dead letter: the service whose topic it goes to, and the group that counts it. */
type DeadLetterSource = { readonly service: string; readonly group: string; readonly count: Count };

/** Writes and counts the dead letter of a record, outside transactions: for runners whose effects lie outside the log. */
export const writeLetter = async (
  log: Log,
  { service, group, count }: DeadLetterSource,
  record: LogRecord,
  error: unknown,
  otherwise: string,
): Promise<void> => {
  const topic = deadLetterTopic(service);
  const payload = deadLetterOf(record, error, otherwise, record.timestamp);
  const value = log.codec.encode({ topic, type: 'DEAD_LETTER', payload } as Parameters<Codec['encode']>[0]);
  const { key } = payload.original_message;
  const partition = partitionOf(key ?? '', await log.partitionCount(topic));
  await log.write([{ topic, partition, key, value }]);
  count('dead_letters', 1, group);
};
