import { spawnSync } from 'node:child_process';
import { GenericContainer, Wait } from 'testcontainers';
import { root } from '../paths.ts';
import { Refusal } from '../refusal.ts';
import { KAFKA_VERSION, REGISTRY_VERSION } from './artifacts.ts';
import { type ContainerAt, containerBroker } from './kafka/broker.ts';
import { asEnvironment, brokerSettings, TOPICS_OF_ONE_BROKER } from './kafka/broker-settings.ts';
import { freshSecret, keptSecret } from './kept-secret.ts';
import type { Ports } from './ports.ts';
import { COMPATIBILITY, declareCompatibility } from './registry.ts';
import type { Environment, Servers, ServersEnv } from './running-servers.ts';

const envOf = (ports: Ports, password: string): ServersEnv => ({
  ...TOPICS_OF_ONE_BROKER,
  KAFKA_BROKERS: `127.0.0.1:${ports.kafka}`,
  SCHEMA_REGISTRY_URL: `http://127.0.0.1:${ports.registry}/apis/ccompat/v7`,
  DATABASE_URL: `postgres://vigil:${password}@127.0.0.1:${ports.postgres}/vigil`,
});

const compose = (env: NodeJS.ProcessEnv, ...args: readonly string[]): void => {
  const { status } = spawnSync('docker', ['compose', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) throw new Refusal(`docker compose ${args.join(' ')} ended with ${status}: see its output above`);
};

/** The three servers of docker-compose.yml, on its ports, with its volumes. */
export const startCompose = async (
  dir: string,
  ports: Ports,
  outer: Environment,
  report: (line: string) => void,
): Promise<Servers> => {
  const password = keptSecret(dir, 'postgres');
  const variables = { ...outer, VIGIL_POSTGRES_PASSWORD: password };
  report('starting Kafka, the schema registry and Postgres by docker compose …');
  compose(variables, 'up', '--detach', '--wait', 'kafka', 'registry', 'postgres');
  const env = envOf(ports, password);
  await declareCompatibility(env.SCHEMA_REGISTRY_URL);
  return {
    env,
    identityOf: () => ({}),
    brokers: [],
    brokersAt: [],
    stop: async () => compose(variables, 'stop', 'kafka', 'registry', 'postgres'),
  };
};

const kafkaIn = (ports: Ports): GenericContainer =>
  new GenericContainer(`apache/kafka:${KAFKA_VERSION}`)
    .withExposedPorts({ container: ports.kafka, host: ports.kafka })
    .withEnvironment({
      ...asEnvironment(brokerSettings),
      KAFKA_CONTROLLER_QUORUM_VOTERS: `1@127.0.0.1:${ports.controller}`,
      KAFKA_LISTENERS: `PLAINTEXT://0.0.0.0:${ports.kafka},CONTROLLER://127.0.0.1:${ports.controller}`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${ports.kafka}`,
    })
    .withWaitStrategy(Wait.forLogMessage('Kafka Server started'));

const postgresIn = (ports: Ports, password: string): GenericContainer =>
  new GenericContainer('postgres:18')
    .withExposedPorts({ container: 5432, host: ports.postgres })
    .withEnvironment({ POSTGRES_USER: 'vigil', POSTGRES_PASSWORD: password, POSTGRES_DB: 'vigil' })
    // The image prints it once while it prepares its data, and once when it is ready.
    .withWaitStrategy(Wait.forLogMessage('database system is ready to accept connections', 2));

/** Its data is in memory, because it runs only as long as the tests. */
const registryIn = (ports: Ports): GenericContainer =>
  new GenericContainer(`apicurio/apicurio-registry:${REGISTRY_VERSION}`)
    .withExposedPorts({ container: 8080, host: ports.registry })
    .withEnvironment({
      APICURIO_CCOMPAT_USE_CANONICAL_HASH: 'true',
      APICURIO_RULES_GLOBAL_COMPATIBILITY: COMPATIBILITY,
    })
    .withWaitStrategy(Wait.forHttp('/apis/ccompat/v7/subjects', 8080));

/** Starts the three servers in containers that end with this process. */
export const startContainers = async (ports: Ports, report: (line: string) => void): Promise<Servers> => {
  report('starting Kafka, the schema registry and Postgres in containers …');
  const password = freshSecret();
  const started = await Promise.all([
    kafkaIn(ports).start(),
    registryIn(ports).start(),
    postgresIn(ports, password).start(),
  ]);
  const env = envOf(ports, password);
  await declareCompatibility(env.SCHEMA_REGISTRY_URL);
  const broker: ContainerAt = { kind: 'container', id: started[0].getId(), port: ports.kafka };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((container) => container.stop()));
  };
  return { env, identityOf: () => ({}), brokers: [containerBroker(broker)], brokersAt: [broker], stop };
};
