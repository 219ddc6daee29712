import type { Kafka, RecordMetadata } from 'kafkajs';
import { createPartitioner, ZSTD } from './client.ts';
import { toClient } from './records.ts';
import { Refusal, type Sender } from './serialized-producer.ts';

type ClientError = Error & { readonly retriable?: boolean };

/** The client marks an error as final when it has used up its retries. The caller here retries it. */
const isFinal = ({ name, retriable }: ClientError): boolean =>
  retriable === false && name !== 'KafkaJSNumberOfRetriesExceeded';

/** -1: the writer has stamped it. */
const stampOf = (written: readonly RecordMetadata[]): number | null => {
  const newest = Math.max(...written.map(({ logAppendTime }) => Number(logAppendTime ?? -1)));
  return newest > 0 ? newest : null;
};

/** An idempotent producer. `kafka` sets how often the client retries by itself. */
export const openSender = (kafka: Kafka): Sender => {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, createPartitioner });
  let connecting: Promise<void> | undefined;
  const open = (): Promise<void> => {
    connecting ??= producer.connect().finally(() => {
      connecting = undefined;
    });
    return connecting;
  };
  return {
    open,
    send: async (records) => {
      try {
        await open();
        const topicMessages = toClient(records);
        return stampOf(await producer.sendBatch({ acks: -1, compression: ZSTD, topicMessages }));
      } catch (error) {
        const { message } = error as ClientError;
        throw isFinal(error as ClientError) ? new Refusal(message, { cause: error }) : error;
      }
    },
    close: () => producer.disconnect(),
  };
};
