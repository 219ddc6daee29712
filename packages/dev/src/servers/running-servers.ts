import type { RegistryVariables } from '@vigil/events';
import type { KafkaVariables } from '@vigil/stream';
import type { Broker } from './kafka/broker.ts';
import type { BrokerAt } from './kafka/nodes.ts';

type CredentialName = keyof KafkaVariables | keyof RegistryVariables | 'DATABASE_PASSWORD_FILE';

/** Addresses, and what authenticates with them. */
export type ServersEnv = { readonly [name in CredentialName]?: string } & {
  /** host:port, several with commas */
  readonly KAFKA_BROKERS: string;
  /** root of the Confluent-compatible API */
  readonly SCHEMA_REGISTRY_URL: string;
  readonly DATABASE_URL: string;
  /** of the agent and task key spaces */
  readonly VIGIL_PARTITIONS: string;
  /** of each partition of a topic that is made */
  readonly VIGIL_REPLICAS: string;
};

/** `one` broker, three in a `cluster`, or one that is `secured` by TLS, SCRAM and ACLs */
export type BrokerForm = 'one' | 'cluster' | 'secured';

export type Servers = {
  /** for the one that prepares the servers, and for tests */
  readonly env: ServersEnv;
  /** variables of a service besides: its own principal, where the brokers ask for one */
  readonly identityOf: (service: string) => Readonly<Record<string, string>>;
  /** none when the servers were given by their addresses: then Vigil does not end them */
  readonly brokers: readonly Broker[];
  /** where each broker is found again by another process */
  readonly brokersAt: readonly BrokerAt[];
  readonly stop: () => Promise<void>;
};
