import { applyAcls, kafkaFrom } from '@vigil/stream';
import { endProcess, livingNames } from '../processes/pid-file.ts';
import type { RunDaemon } from '../processes/supervise-daemon.ts';
import { endWithUs, SERVERS } from '../processes/survivors.ts';
import { kafkaJars, registryFolder } from './artifacts.ts';
import { TOPICS_OF_ONE_BROKER, TOPICS_OF_THREE_BROKERS } from './kafka/broker-settings.ts';
import { addressesOf, stopNodes, threeNodes } from './kafka/cluster.ts';
import { type ProcessAt, startNodes } from './kafka/nodes.ts';
import { adminIdentity, identityOf } from './kafka/secured.ts';
import { keepFilesPrivate, makePrivateFolder } from './kept-secret.ts';
import { orPortInUse, type Ports, type PortUse, requireAllFree } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { type Registry, startRegistry } from './registry.ts';
import { requireDisk, requireJava } from './requirements.ts';
import type { BrokerForm, Environment, Servers } from './running-servers.ts';

const DISK_BYTES = 2e9;
const INSTEAD = 'KAFKA_BROKERS, SCHEMA_REGISTRY_URL and DATABASE_URL of servers of your own';

/** Ends the servers of `dir` that an earlier run left running, and returns their names. */
export const endLeftServers = async (dir: string): Promise<readonly string[]> => {
  const living = livingNames(dir);
  const left = [...SERVERS].filter(([name]) => living.includes(name));
  for (const [name, signal] of left) await endProcess(dir, name, signal);
  return left.map(([name]) => name);
};

const requireAll = async (dir: string, ports: Ports): Promise<void> => {
  requireDisk(dir, DISK_BYTES);
  requireJava();
  await requireAllFree(usesOf(ports));
};

const usesOf = (ports: Ports): readonly PortUse[] => [
  { port: ports.kafka, what: 'Kafka', instead: INSTEAD },
  { port: ports.controller, what: "Kafka's controller", instead: INSTEAD },
  { port: ports.registry, what: 'the schema registry', instead: INSTEAD },
  { port: ports.postgres, what: 'Postgres', instead: INSTEAD },
];

export type LocalOptions = {
  readonly dir: string;
  readonly ports: Ports;
  readonly form: BrokerForm;
  /** what the registry inherits */
  readonly env: Environment;
  /** the address of a registry that is used instead of one of its own */
  readonly sharedRegistry: string | null;
  readonly run: RunDaemon;
  readonly report: (line: string) => void;
};

/**
 * Kafka, registry and Postgres as processes of this machine, on the loopback, data in `dir`. If one fails, the others
 * are ended.
 * `form`: one broker; three, on free ports; or one with TLS, SCRAM and the ACLs of the topology
 */
export const startLocal = async (options: LocalOptions): Promise<Servers> => {
  const { dir, ports, form, report } = options;
  keepFilesPrivate();
  makePrivateFolder(dir);
  const left = await endLeftServers(dir);
  if (left.length > 0) report(`ended what an earlier run left: ${left.join(', ')}`);
  await requireAll(dir, ports);
  // One after the other, because concurrent Mavens share a repository without a lock.
  await kafkaJars(report);
  await registryFolder(report);
  report('starting Postgres, Kafka and the schema registry …');
  for (const name of SERVERS.keys()) endWithUs(dir, name);
  const lone: ProcessAt = {
    kind: 'process',
    dir,
    name: 'kafka',
    port: ports.kafka,
    controllerPort: ports.controller,
    isSecured: form === 'secured',
  };
  const nodes = form === 'cluster' ? await threeNodes(dir) : [lone];
  return orPortInUse(startAll(options, nodes), usesOf(ports), () => endLeftServers(dir));
};

const startAll = async (
  { dir, ports, env: inherited, sharedRegistry, run }: LocalOptions,
  nodes: readonly ProcessAt[],
): Promise<Servers> => {
  const quiet = (): undefined => undefined;
  const database = startPostgres({ dir, port: ports.postgres, run });
  const schemas = database.then(({ password }): Registry | Promise<Registry> => {
    if (sharedRegistry !== null) return { url: sharedRegistry, stop: async () => undefined };
    const at = { dir, port: ports.registry, postgresPort: ports.postgres, postgresPassword: password };
    return startRegistry({ ...at, env: inherited, run }, quiet);
  });
  const started = startNodes(nodes, run, quiet);
  // A failure is rethrown only after all attempts have ended, so that none is still starting while the others are ended.
  await Promise.allSettled([database, schemas, started]);
  const [postgres, registry, brokers] = await Promise.all([database, schemas, started]);
  const isSecured = nodes.every((node) => node.isSecured);
  const env = {
    ...(nodes.length === 1 ? TOPICS_OF_ONE_BROKER : TOPICS_OF_THREE_BROKERS),
    KAFKA_BROKERS: addressesOf(nodes),
    SCHEMA_REGISTRY_URL: registry.url,
    DATABASE_URL: postgres.url,
    ...(isSecured ? adminIdentity(dir) : {}),
  };
  if (isSecured) await applyAcls(kafkaFrom({ ...env, KAFKA_BROKERS: env.KAFKA_BROKERS.split(',') }));
  const identity = (service: string) => (isSecured ? identityOf(dir, service) : {});
  const stop = async (): Promise<void> => {
    await Promise.all([stopNodes(brokers), registry.stop()]);
    await postgres.stop();
  };
  return { env, identityOf: identity, brokers, brokersAt: nodes, stop };
};
