import { setTimeout as sleep } from 'node:timers/promises';
import zlib from 'node:zlib';
import kafkajs, { type Kafka, type KafkaConfig, type logCreator } from 'kafkajs';
import type { Logger } from '../logger.ts';
import { within } from '../runner/within.ts';
import type { KafkaAccess, Sasl } from './access.ts';

/**
 * Most batches are small, and allocating a buffer of this size for each costs more than the decompression. For 160 KB
 * it takes 0.2 ms instead of 0.8 ms (measured).
 */
const LARGEST = 1 << 18;
const SMALLEST = 1 << 10;

const fitting = (bytes: number) => ({ chunkSize: Math.min(LARGEST, Math.max(SMALLEST, bytes)) });
const level = { [zlib.constants.ZSTD_c_compressionLevel]: 1 };
/** The approximate compression ratio of a batch. */
const RATIO = 8;

/**
 * The codec that the client lacks. It compresses synchronously, because a thread costs more than the compression
 * (measured).
 */
export const zstd = () => ({
  compress: async ({ buffer }: { readonly buffer: Buffer }): Promise<Buffer> =>
    zlib.zstdCompressSync(buffer, { params: level, ...fitting(buffer.length) }),
  decompress: async (buffer: Buffer): Promise<Buffer> =>
    zlib.zstdDecompressSync(buffer, fitting(RATIO * buffer.length)),
});

const { CompressionCodecs, CompressionTypes, logLevel, Partitioners } = kafkajs;
CompressionCodecs[CompressionTypes.ZSTD] = zstd;

/** The client's own class, AssignerProtocol, events and numbers of ACLs. No other file imports the client. */
export const {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  AssignerProtocol,
  Kafka: Client,
  ResourcePatternTypes,
} = kafkajs;
export const ZSTD = CompressionTypes.ZSTD;
/** Every record names its partition; naming a partitioner keeps the client from warning about it. */
export const createPartitioner = Partitioners.DefaultPartitioner;

/** Each client reacts differently when a broker is unreachable. */
export type Clients = {
  /** patient: a consumer waits as long as it takes */
  readonly consumers: Kafka;
  /** bounded: then the task is thrown away, or the send fails */
  readonly producers: Kafka;
  /** fails fast: the caller repeats its own requests */
  readonly admins: Kafka;
};

const securityOf = ({ tls, sasl }: KafkaAccess): Pick<KafkaConfig, 'ssl' | 'sasl'> => ({
  ssl: tls === null ? false : tls.ca === null ? true : { ca: [tls.ca] },
  ...(sasl === null ? {} : { sasl: identityOf(sasl) }),
});

const identityOf = (sasl: Sasl): NonNullable<KafkaConfig['sasl']> => {
  switch (sasl.mechanism) {
    case 'scram-sha-512':
      return { mechanism: sasl.mechanism, username: sasl.username, password: sasl.password };
    case 'oauthbearer':
      return { mechanism: sasl.mechanism, oauthBearerProvider: async () => ({ value: sasl.token() }) };
  }
};

/**
 * Asks the brokers at these addresses for the metadata of their topics. Throws the reason where none answers within the
 * limit: one that only accepts connections is frozen.
 */
export const askBrokers = async (kafka: KafkaAccess, limitMs: number): Promise<void> => {
  const admin = new Client({
    clientId: 'vigil-doctor',
    brokers: [...kafka.brokers],
    ...securityOf(kafka),
    logLevel: logLevel.NOTHING,
    connectionTimeout: limitMs,
    authenticationTimeout: limitMs,
    requestTimeout: limitMs,
    retry: { retries: 0 },
  }).admin();
  const asked = async (): Promise<void> => {
    await admin.connect();
    await admin.listTopics();
  };
  try {
    await within(limitMs, asked(), 'its metadata');
  } finally {
    // It waits for the answers of a broker that gives none.
    void admin.disconnect().catch(() => {});
  }
};

/** The client's text of CONCURRENT_TRANSACTIONS: the previous transaction is still being ended, and the client asks again. */
export const REPEATED =
  'The producer attempted to update a transaction while another concurrent operation on the same transaction was ongoing';

export const openClients = (kafka: KafkaAccess, clientId: string, logger: Logger): Clients => {
  const logCreator: logCreator =
    () =>
    ({ namespace, log: { message, error } }) => {
      const method = error === REPEATED ? 'debug' : 'warn';
      logger[method]({ client: namespace, error }, message);
    };
  const common = {
    clientId,
    brokers: [...kafka.brokers],
    ...securityOf(kafka),
    logLevel: logLevel.ERROR,
    logCreator,
  };
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

/** A broker refuses requests briefly after a topic is created, while a leader moves, and while the coordinator of a group loads. */
const MOMENTARY: ReadonlySet<string> = new Set([
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
]);

export const isMomentary = (error: unknown): boolean => MOMENTARY.has(typeOf(error));

/** A cluster reassigns the partitions of a dead broker after 9 s. */
const MOMENT_MS = 10_000;
/** Each retry waits this much longer than the previous one. */
const STEP_MS = 200;

/** Retries a request for up to 10 s while brokers refuse it temporarily. Throws the last error. */
export const pastMoment = async <T>(request: () => Promise<T>): Promise<T> => {
  const end = performance.now() + MOMENT_MS;
  for (let tries = 1; ; tries++)
    try {
      return await request();
    } catch (error) {
      if (performance.now() > end || !isMomentary(error)) throw error;
      await sleep(tries * STEP_MS);
    }
};
