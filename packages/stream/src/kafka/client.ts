import kafkajs, { type Kafka, type logCreator } from 'kafkajs';
import type { Logger } from '../logger.ts';
import { zstd } from './zstd.ts';

const { CompressionCodecs, CompressionTypes, logLevel, Partitioners } = kafkajs;
CompressionCodecs[CompressionTypes.ZSTD] = zstd;

/** The client's own class, AssignerProtocol and events. No other file imports the client. */
export const { AssignerProtocol, Kafka: Client } = kafkajs;
export const ZSTD = CompressionTypes.ZSTD;
/** Every record names its partition; naming a partitioner keeps the client from warning about it. */
export const createPartitioner = Partitioners.DefaultPartitioner;

/** Clients differ by what they do when a broker is away. */
export type Clients = {
  /** patient: a consumer waits as long as it takes */
  readonly consumers: Kafka;
  /** bounded: then the task is thrown away, or the send fails */
  readonly producers: Kafka;
  /** fails fast: the caller repeats its own requests */
  readonly admins: Kafka;
};

export const openClients = (brokers: readonly string[], clientId: string, logger: Logger): Clients => {
  const logCreator: logCreator =
    () =>
    ({ namespace, log: { message, error } }) =>
      logger.warn({ client: namespace, error }, message);
  const common = { clientId, brokers: [...brokers], logLevel: logLevel.ERROR, logCreator };
  return {
    consumers: new Client({ ...common, retry: { initialRetryTime: 50, maxRetryTime: 1000, retries: 1_000_000 } }),
    producers: new Client({
      ...common,
      retry: { initialRetryTime: 20, multiplier: 1.5, maxRetryTime: 1000, retries: 20 },
    }),
    admins: new Client({ ...common, retry: { initialRetryTime: 50, maxRetryTime: 500, retries: 5 } }),
  };
};

/** The broker's own error type, such as INVALID_PRODUCER_EPOCH. The client wraps it. */
export const typeOf = (error: unknown): string => {
  const { type, cause } = (error ?? {}) as { readonly type?: unknown; readonly cause?: unknown };
  if (typeof type === 'string') return type;
  return cause === undefined ? '' : typeOf(cause);
};
