import path from 'node:path';
import { REGISTRY_AUTH_VARIABLES } from '@vigil/events';
import { KAFKA_ACCESS_VARIABLES } from '@vigil/stream';
import { runOnce, superviseDaemon } from '../processes/supervise-daemon.ts';
import { Refusal } from '../refusal.ts';
import type { Broker } from './kafka/broker.ts';
import { type BrokerAt, brokerAt } from './kafka/nodes.ts';
import { startLocal } from './local.ts';
import { freePorts, type Ports, portOffsetOf } from './ports.ts';
import { hasContainerEngine } from './requirements.ts';
import type { BrokerForm, Environment, Servers, ServersEnv } from './running-servers.ts';

/**
 * The same ports as in docker-compose.yml, so that a second terminal finds them. They are above the usual ones, which
 * may be in use.
 */
export const START_PORTS: Ports = { kafka: 19092, controller: 19093, registry: 18081, postgres: 15432 };

export type StartServersOptions = {
  /**
   * `start`: fixed ports, data kept between runs, and processes of this machine are restarted when they end; `test`: free ports, a separate
   * folder that the caller removes
   */
  readonly purpose: 'start' | 'test';
  /** the folder of data, logs and pid files of local processes */
  readonly dir: string;
  readonly onProgress: (line: string) => void;
  /** of the processes that it starts */
  readonly env: Environment;
  /** servers that exist already and are used; null: starts its own */
  readonly given: ServersEnv | null;
  /** `cluster` has production settings; all forms but `one` are processes of this machine */
  readonly form?: BrokerForm;
  /** the address of a registry that processes of this machine share; null: a registry of its own */
  readonly sharedRegistry: string | null;
};

const NAMES = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'DATABASE_URL'] as const;

const count = (env: Environment, name: string, usual: string): string => {
  const given = env[name] || usual;
  if (!/^[1-9]\d{0,3}$/.test(given))
    throw new Refusal(`${name} is ${JSON.stringify(given)}: give a whole number from 1`);
  return given;
};

const CREDENTIALS = [...KAFKA_ACCESS_VARIABLES, ...REGISTRY_AUTH_VARIABLES, 'DATABASE_PASSWORD_FILE'];

const credentials = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    CREDENTIALS.flatMap((name) => {
      const value = env[name];
      return value ? [[name, value]] : [];
    }),
  );

/**
 * The addresses in an environment, and the settings of new topics there. Null without any address; throws Refusal if
 * some are missing.
 */
export const givenServers = (env: Environment): ServersEnv | null => {
  const missing = NAMES.filter((name) => !env[name]);
  const { KAFKA_BROKERS = '', SCHEMA_REGISTRY_URL = '', DATABASE_URL = '' } = env;
  const topics = {
    VIGIL_PARTITIONS: count(env, 'VIGIL_PARTITIONS', '4'),
    VIGIL_REPLICAS: count(env, 'VIGIL_REPLICAS', '3'),
  };
  if (missing.length === 0) return { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DATABASE_URL, ...topics, ...credentials(env) };
  if (missing.length === NAMES.length) return null;
  const given = NAMES.filter((name) => env[name]);
  throw new Refusal(`${given.join(' and ')} given without ${missing.join(' and ')}: give all three, or none`);
};

/** The ports of the servers of `npm start`, moved by VIGIL_PORT_OFFSET. */
export const startPortsOf = (env: Environment): Ports => {
  const offset = portOffsetOf(env);
  const { kafka, controller, registry, postgres } = START_PORTS;
  return {
    kafka: kafka + offset,
    controller: controller + offset,
    registry: registry + offset,
    postgres: postgres + offset,
  };
};

const portsFor = async (purpose: 'start' | 'test', env: Environment): Promise<Ports> => {
  if (purpose === 'start') return startPortsOf(env);
  const [kafka = 0, controller = 0, registry = 0, postgres = 0] = await freePorts(4);
  return { kafka, controller, registry, postgres };
};

/**
 * Starts Kafka, the schema registry and Postgres: uses the given ones, else containers, else processes of this
 * machine.
 * @throws Refusal with the missing part and the remedy; then nothing is left running
 */
export const startServers = async ({
  purpose,
  dir,
  onProgress,
  env,
  given,
  form = 'one',
  sharedRegistry,
}: StartServersOptions): Promise<Servers> => {
  if (given !== null) {
    onProgress(`using the servers of the environment: ${given.KAFKA_BROKERS}, ${given.SCHEMA_REGISTRY_URL}`);
    return { env: given, identityOf: () => ({}), brokers: [], brokersAt: [], stop: async () => undefined };
  }
  const ports = await portsFor(purpose, env);
  const run = purpose === 'start' ? superviseDaemon(onProgress) : runOnce;
  if (form !== 'one' || !hasContainerEngine())
    return startLocal({ dir: path.resolve(dir), ports, form, env, sharedRegistry, run, report: onProgress });
  // Loaded on demand, because it is slow to load and not installed in the image.
  const { startCompose, startContainers } = await import('./containers.ts');
  return purpose === 'start'
    ? startCompose(path.resolve(dir), ports, env, onProgress)
    : startContainers(ports, onProgress);
};

/** The servers of `npm test` as fault tests need them. */
export type TestServers = { readonly env: ServersEnv; readonly brokers: readonly Broker[] };

/**
 * The servers of this test run, by its environment. A test may kill, freeze and restart the brokers, which must serve
 * again when it ends.
 * @throws Refusal outside `npm test`, or if Vigil has not started the servers
 */
export const testServers = async (env: Environment): Promise<TestServers> => {
  const given = givenServers(env);
  const handed = env.VIGIL_TEST_SERVERS;
  if (given === null || handed === undefined)
    throw new Refusal('there is no broker of this test run: start the test by npm test, without KAFKA_BROKERS');
  const places: readonly BrokerAt[] = JSON.parse(handed);
  return { env: given, brokers: await Promise.all(places.map(brokerAt)) };
};
