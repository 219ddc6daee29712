import type { RegistryVariables } from '@vigil/events';
import type { KafkaVariables } from '@vigil/stream';
import type { Broker } from './kafka/broker.ts';
import type { BrokerAt } from './kafka/nodes.ts';

type CredentialName = keyof KafkaVariables | keyof RegistryVariables | 'DATABASE_PASSWORD_FILE';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Addresses and credentials of the servers. */
export type ServersEnv = { readonly [name in CredentialName]?: string } & {
  /** host:port, several with commas */
  readonly KAFKA_BROKERS: string;
  /** root of the Confluent-compatible API */
  readonly SCHEMA_REGISTRY_URL: string;
  readonly DATABASE_URL: string;
  /** of the agent and task key spaces */
  readonly VIGIL_PARTITIONS: string;
  /** of each partition of a new topic */
  readonly VIGIL_REPLICAS: string;
};

/** The log in a file of this machine, and Postgres. */
export type EmbeddedEnv = {
  readonly VIGIL_LOG_FILE: string;
  readonly VIGIL_PARTITIONS: string;
  readonly DATABASE_URL: string;
  readonly DATABASE_PASSWORD_FILE?: string;
};

export type EmbeddedServers = Pick<Servers, 'identityOf' | 'stop'> & { readonly env: EmbeddedEnv };

export const isEmbedded = (env: ServersEnv | EmbeddedEnv): env is EmbeddedEnv => 'VIGIL_LOG_FILE' in env;

/** `one` broker, three in a `cluster`, or one that is `secured` by TLS, SCRAM and ACLs */
export type BrokerForm = 'one' | 'cluster' | 'secured';

export type Servers = {
  /** for the preparation of the servers, and for tests */
  readonly env: ServersEnv;
  /** further variables of a service: its own principal, if the brokers require one */
  readonly identityOf: (service: string) => Readonly<Record<string, string>>;
  /** empty if the environment gives the servers' addresses; then Vigil does not end them */
  readonly brokers: readonly Broker[];
  /** the location of each broker, for other processes */
  readonly brokersAt: readonly BrokerAt[];
  readonly stop: () => Promise<void>;
};
