import type { Fetcher, KafkaMessage } from 'kafkajs';

export const message = (offset: number): KafkaMessage => ({
  offset: String(offset),
  key: Buffer.from('k'),
  value: null,
  timestamp: '0',
  attributes: 0,
  headers: {},
});

type Broker = {
  readonly records: () => readonly KafkaMessage[];
  /** behind the control records at its end; default: behind the last record */
  readonly end?: number;
  readonly earliest?: number;
  readonly leaderOf?: (partition: number) => string;
  /** What a request waits for; it throws where the broker refuses. */
  readonly answers?: (offset: number, partition: number) => Promise<null> | null;
  readonly onFetch?: (position: { readonly offset: string; readonly maxBytes: number }) => void;
  readonly onRefresh?: () => void;
  readonly onCall?: (name: string) => Promise<void>;
};

/** A fetcher of a broker in memory, whose partitions all have the same records. */
export const fakeFetcher = (broker: Broker): Fetcher => {
  const call = broker.onCall ?? (async () => {});
  const answerOf = async ({ topic, partition, offset, maxBytes }: Parameters<Fetcher['fetch']>[1][number]) => {
    broker.onFetch?.({ offset, maxBytes });
    await broker.answers?.(Number(offset), partition);
    const messages = broker.records().filter((record) => Number(record.offset) >= Number(offset));
    const end = broker.end ?? Number(broker.records().at(-1)?.offset ?? -1) + 1;
    // An answer without records comes after the wait of the request.
    if (messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    return { topic, partition, messages, nextOffset: String(Math.max(end, Number(offset))) };
  };
  return {
    connect: () => call('connect'),
    leaders: async (partitions) => {
      await call('leaders');
      return Map.groupBy(partitions, ({ partition }) => broker.leaderOf?.(partition) ?? '1');
    },
    fetch: async (_node, positions) => {
      await call('fetch');
      return Promise.all(positions.map(answerOf));
    },
    earliestOffset: async () => String(broker.earliest ?? 0),
    refreshMetadata: async () => broker.onRefresh?.(),
    disconnect: () => call('disconnect'),
  };
};
