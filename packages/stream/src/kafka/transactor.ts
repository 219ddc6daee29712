import type { Kafka, Producer } from 'kafkajs';
import { Retry } from '../errors.ts';
import type { OutRecord, Transactor } from '../log/log.ts';
import { within } from '../runner/within.ts';
import { createPartitioner, typeOf, ZSTD } from './client.ts';
import { chunked, toClient } from './records.ts';

/** Must exceed the longest pause that a task must survive. */
export const TRANSACTION_MS = 10_000;
/** A fence waits for the finished transactions of the previous owner. */
const FENCE_MS = 60_000;

/** Another process uses this transactional id now, or the coordinator has ended our transaction. */
const FENCED: ReadonlySet<string> = new Set([
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
  'INVALID_TXN_STATE',
  'INVALID_PRODUCER_ID_MAPPING',
]);

const orRetry = (transactionalId: string, error: unknown): never => {
  if (FENCED.has(typeOf(error))) throw new Retry(`${transactionalId} was fenced: ${typeOf(error)}`, { cause: error });
  throw error;
};

export const fence = async (kafka: Kafka, transactionalId: string): Promise<Transactor> => {
  const producer = kafka.producer({
    transactionalId,
    transactionTimeout: TRANSACTION_MS,
    maxInFlightRequests: 1,
    createPartitioner,
  });
  const begin = async () => {
    await producer.connect();
    await (await producer.transaction()).abort();
  };
  try {
    await within(FENCE_MS, begin(), `fencing ${transactionalId}`);
  } catch (error) {
    void producer.disconnect().catch(() => {});
    return orRetry(transactionalId, error);
  }
  return {
    commit: (records) => commit(producer, records).catch((error: unknown) => orRetry(transactionalId, error)),
    close: () => producer.disconnect(),
  };
};

/**
 * A broker refuses a timestamp an hour ahead of its own clock. The time of a partition can be that far ahead after a
 * broker's clock was wrong. Then records are stamped this much ahead at most, milliseconds.
 */
const FURTHEST_AHEAD_MS = 1_800_000;

/** Limits a timestamp to what a broker accepts. `now`: epoch milliseconds */
export const notAhead = (records: readonly OutRecord[], now: number): readonly OutRecord[] => {
  const latest = now + FURTHEST_AHEAD_MS;
  const isAhead = ({ timestamp = 0 }: OutRecord) => timestamp > latest;
  return records.some(isAhead) ? records.map((one) => (isAhead(one) ? { ...one, timestamp: latest } : one)) : records;
};

/** Several sends are still one transaction. A send is one message to the broker, and its size has a limit. */
const commit = async (producer: Producer, records: readonly OutRecord[]): Promise<void> => {
  const transaction = await producer.transaction();
  for (const chunk of chunked(notAhead(records, Date.now())))
    await transaction.sendBatch({ acks: -1, compression: ZSTD, topicMessages: toClient(chunk) });
  await transaction.commit();
};
