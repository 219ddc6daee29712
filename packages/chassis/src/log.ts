import { connectCodec, type RegistryVariables, registryFrom, type TopicName } from '@vigil/events';
import {
  connectLog,
  type KafkaVariables,
  kafkaFrom,
  type Log,
  type Logger,
  openFileLog,
  reachBrokers,
} from '@vigil/stream';
import { Refused } from '@vigil/stream/errors';
import { waitAtStart } from './wait-at-start.ts';

/** The variables of logSettings, as far as they locate the log. */
type LogConfig = KafkaVariables &
  Omit<RegistryVariables, 'SCHEMA_REGISTRY_URL'> & {
    readonly VIGIL_LOG_FILE?: string | undefined;
    readonly KAFKA_BROKERS?: readonly string[] | undefined;
    readonly SCHEMA_REGISTRY_URL?: string | undefined;
    readonly VIGIL_PARTITIONS: number;
  };

/**
 * `writes`: the topics that this process writes; their schemas are registered. `signal`: aborted when the process is to
 * stop. `now`: epoch milliseconds
 */
export type OpenLogOptions = {
  readonly clientId: string;
  readonly writes: readonly TopicName[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
  readonly now: () => number;
};

/** The variables of Kafka and its registry. Throws Refused if the log is a file. */
export const kafkaIn = <Config extends LogConfig>(config: Config) => {
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = config;
  if (KAFKA_BROKERS === undefined || SCHEMA_REGISTRY_URL === undefined)
    throw new Refused('set KAFKA_BROKERS and SCHEMA_REGISTRY_URL');
  return { ...config, KAFKA_BROKERS, SCHEMA_REGISTRY_URL };
};

/**
 * Opens the log of logSettings: the file of this machine, or Kafka. Waits for brokers and registry that are away. Throws
 * Refused, Fatal, or an error of the codec.
 */
export const openLog = async (config: LogConfig, options: OpenLogOptions): Promise<Log> => {
  const { clientId, writes, logger, now } = options;
  const { VIGIL_LOG_FILE: path, VIGIL_PARTITIONS: partitions } = config;
  if (path !== undefined) return openFileLog({ path, partitions, writes, now });
  const kafka = kafkaIn(config);
  const access = kafkaFrom(kafka);
  const registry = registryFrom(kafka);
  await waitAtStart('Kafka', () => reachBrokers(access), options);
  const codec = await waitAtStart('the schema registry', () => connectCodec(registry, writes), options);
  return connectLog({ kafka: access, clientId, codec, logger });
};
