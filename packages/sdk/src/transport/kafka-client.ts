import {
  type Codec,
  connectCodec,
  type Heartbeat,
  memoryCodec,
  type RegistryVariables,
  registryFrom,
} from '@vigil/events';
import { connectLog, type KafkaVariables, kafkaFrom, silentLogger, writer } from '@vigil/stream';

const TOPIC = 'onex.cmd.heartbeat-ingest.heartbeat.v1';

export type KafkaClientSettings = {
  readonly brokers: readonly string[];
  readonly registryUrl?: string | undefined;
  readonly env?: (KafkaVariables & RegistryVariables) | undefined;
};

/** Writes heartbeats under the agent's key, with the time of each write, in epoch milliseconds. */
export type KafkaClient = {
  readonly write: (agentId: string, heartbeat: Heartbeat, now: () => number) => Promise<void>;
  readonly close: () => Promise<void>;
};

const encoding = (codec: Codec | null): ((heartbeat: Heartbeat) => Buffer) =>
  codec === null
    ? (heartbeat) => Buffer.from(JSON.stringify(heartbeat))
    : (payload) => codec.encode({ topic: TOPIC, type: 'HEARTBEAT', payload });

export const openKafkaClient = async (
  { brokers, registryUrl, env = {} }: KafkaClientSettings,
  clientId: string,
): Promise<KafkaClient> => {
  const codec =
    registryUrl === undefined
      ? null
      : await connectCodec(registryFrom({ ...env, SCHEMA_REGISTRY_URL: registryUrl }), [TOPIC]);
  const kafka = kafkaFrom({ ...env, KAFKA_BROKERS: brokers });
  const log = await connectLog({ kafka, clientId, codec: codec ?? memoryCodec(), logger: silentLogger });
  const encode = encoding(codec);
  return {
    write: async (agentId, heartbeat, now) => {
      await writer(log, now).writeRaw(TOPIC, agentId, encode(heartbeat));
    },
    close: async () => {
      await log[Symbol.asyncDispose]();
    },
  };
};
