import { connectCodec, type RegistryVariables, registryFrom, type TopicName } from '@vigil/events';
import { connectLog, type KafkaVariables, kafkaFrom, type Log, type Logger, openFileLog } from '@vigil/stream';
import { Refused } from '@vigil/stream/errors';

/** The variables of logSettings, as far as they locate the log. */
type LogConfig = KafkaVariables &
  Omit<RegistryVariables, 'SCHEMA_REGISTRY_URL'> & {
    readonly VIGIL_LOG_FILE?: string | undefined;
    readonly KAFKA_BROKERS?: readonly string[] | undefined;
    readonly SCHEMA_REGISTRY_URL?: string | undefined;
    readonly VIGIL_PARTITIONS: number;
  };

/** `writes`: the topics that this process writes; their schemas are registered. `now`: epoch milliseconds */
export type OpenLogOptions = {
  readonly clientId: string;
  readonly writes: readonly TopicName[];
  readonly logger: Logger;
  readonly now: () => number;
};

/** The variables of Kafka and its registry. Throws Refused if the log is a file. */
export const kafkaIn = <Config extends LogConfig>(config: Config) => {
  const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = config;
  if (KAFKA_BROKERS === undefined || SCHEMA_REGISTRY_URL === undefined)
    throw new Refused('set KAFKA_BROKERS and SCHEMA_REGISTRY_URL');
  return { ...config, KAFKA_BROKERS, SCHEMA_REGISTRY_URL };
};

/** Opens the log of logSettings: the file of this machine, or Kafka. Throws Refused, Fatal, or an error of the codec. */
export const openLog = async (config: LogConfig, { clientId, writes, logger, now }: OpenLogOptions): Promise<Log> => {
  const { VIGIL_LOG_FILE: path, VIGIL_PARTITIONS: partitions } = config;
  if (path !== undefined) return openFileLog({ path, partitions, writes, now });
  const kafka = kafkaIn(config);
  const codec = await connectCodec(registryFrom(kafka), writes);
  return connectLog({ kafka: kafkaFrom(kafka), clientId, codec, logger });
};
