import { existsSync } from 'node:fs';
import type { RegistryVariables } from '@vigil/events';
import type { KafkaVariables } from '@vigil/stream';
import { CannotProceed, NoAnswer } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type KafkaSettings = KafkaVariables & { readonly KAFKA_BROKERS: readonly string[] };
export type RegistrySettings = RegistryVariables & { readonly SCHEMA_REGISTRY_URL: string };

/** An HTTP API of Vigil: its name, and the variables that set its address and token. */
export type ServerSettings = { readonly server: 'dashboard' | 'gateway'; readonly url: string; readonly token: string };

/** The variables of commands, as docs/configuration.md describes them. Options set some of them too. */
export const COMMAND_VARIABLES = {
  VIGIL_DASHBOARD_URL: {
    values: 'HTTP address',
    default: 'http://127.0.0.1:7420',
    description: 'The dashboard that commands query.',
  },
  VIGIL_DASHBOARD_TOKEN: { values: 'text', isSecret: true, description: "The caller's token of the dashboard." },
  VIGIL_GATEWAY_URL: {
    values: 'HTTP address',
    default: 'http://127.0.0.1:7410',
    description: 'The gateway, for runtimes and `vigil token`.',
  },
  VIGIL_GATEWAY_TOKEN: {
    values: 'text',
    isSecret: true,
    description: "The token of the runtime; `vigil token` requires the operator's.",
  },
  VIGIL_GATEWAY_TOKEN_FILE: {
    values: 'file',
    description: 'Holds the token of the runtime, and gets each renewed token; other users may not read it.',
  },
  VIGIL_STATE_DIR: {
    values: 'folder',
    default: '~/.local/state/vigil',
    description: 'Where the runtime keeps its journal, its locks and unsent reports.',
  },
  VIGIL_LOG_FILE: {
    values: 'file',
    description: 'The log of one machine, for commands that open the log themselves.',
  },
  VIGIL_PARTITIONS: {
    values: 'whole number from 1',
    default: '4',
    description: 'Partitions of the agent and task key spaces.',
  },
  VIGIL_REPLICAS: {
    values: 'whole number from 1',
    default: '3',
    description: 'Replicas of each partition of a new topic; the job `prepare` reads it too.',
  },
  VIGIL_PEOPLE_FILE: {
    values: 'file',
    description: 'The file that the dashboard reads, to which `vigil token create person` writes.',
  },
  VIGIL_PROBES: {
    values: '`service=http://host:port`, with commas between',
    description: 'The services whose readiness `vigil doctor` checks where the dashboard does not answer.',
  },
  VIGIL_POSTGRES: {
    values: '`host:port`',
    description: 'The Postgres that `vigil doctor` checks where `DATABASE_URL` is not set.',
  },
} as const;

/** The launcher names the process of an `npm start` that has not come up. Throws NoAnswer. */
const requireStarted = ({ VIGIL_STARTING: pid }: Environment): void => {
  if (pid)
    throw new NoAnswer(
      `npm start (process ${pid}) is starting Vigil here, or ending it: try again when it prints "watching".`,
    );
};

/** The address of the dashboard, and the token that it requires. Throws CannotProceed. */
export const dashboardSettings = (env: Environment): ServerSettings => {
  const url = env.VIGIL_DASHBOARD_URL || COMMAND_VARIABLES.VIGIL_DASHBOARD_URL.default;
  if (!URL.canParse(url))
    throw new CannotProceed(`VIGIL_DASHBOARD_URL is ${JSON.stringify(url)}: give http://host:port.`);
  const token = env.VIGIL_DASHBOARD_TOKEN;
  if (!token) requireStarted(env);
  if (!token)
    throw new CannotProceed(
      'Vigil does not run here: VIGIL_DASHBOARD_TOKEN is not set. Start it (npm start), or set VIGIL_DASHBOARD_URL and VIGIL_DASHBOARD_TOKEN of one that runs elsewhere.',
    );
  return { server: 'dashboard', url, token };
};

/** The address of the gateway, and the operator's token. Throws CannotProceed. */
export const gatewaySettings = (env: Environment): ServerSettings => {
  const url = env.VIGIL_GATEWAY_URL || COMMAND_VARIABLES.VIGIL_GATEWAY_URL.default;
  if (!URL.canParse(url))
    throw new CannotProceed(`VIGIL_GATEWAY_URL is ${JSON.stringify(url)}: give http://host:port.`);
  const token = env.VIGIL_GATEWAY_TOKEN;
  if (!token) requireStarted(env);
  if (!token)
    throw new CannotProceed(
      "VIGIL_GATEWAY_TOKEN is not set. Start Vigil here (npm start), or give the operator's token of the gateway elsewhere.",
    );
  return { server: 'gateway', url, token };
};

/** The Kafka cluster that a command connects to itself: addresses, and the variables of its TLS and SASL. Throws CannotProceed. */
export const kafkaOf = (env: Environment): KafkaSettings => {
  const { KAFKA_BROKERS: brokers } = env;
  if (!brokers && env.VIGIL_LOG_FILE)
    throw new CannotProceed(`This command is for Kafka, and the log here is the file ${env.VIGIL_LOG_FILE}.`);
  if (!brokers)
    throw new CannotProceed('KAFKA_BROKERS is not set: this command connects to Kafka directly. Give host:port[,…].');
  return { ...env, KAFKA_BROKERS: brokers.split(',').map((broker) => broker.trim()) };
};

/** Throws CannotProceed. */
export const registryOf = (env: Environment): RegistrySettings => {
  const { SCHEMA_REGISTRY_URL: url } = env;
  if (!url) throw new CannotProceed('SCHEMA_REGISTRY_URL is not set: give the address that the services use.');
  return { ...env, SCHEMA_REGISTRY_URL: url };
};

/** The log that a command opens itself: the file of this machine, or Kafka with its registry. */
export type DirectSettings =
  | { readonly kind: 'file'; readonly path: string; readonly partitions: number }
  | { readonly kind: 'kafka'; readonly kafka: KafkaSettings; readonly registry: RegistrySettings };

/** Throws CannotProceed. */
const fileOf = (path: string, env: Environment): DirectSettings => {
  const partitions = Number(env.VIGIL_PARTITIONS || COMMAND_VARIABLES.VIGIL_PARTITIONS.default);
  if (env.KAFKA_BROKERS)
    throw new CannotProceed('VIGIL_LOG_FILE and KAFKA_BROKERS are set: unset one of them, because there is one log.');
  if (!existsSync(path)) throw new CannotProceed(`VIGIL_LOG_FILE names ${path}, which does not exist.`);
  if (!Number.isInteger(partitions) || partitions < 1)
    throw new CannotProceed(`VIGIL_PARTITIONS is ${JSON.stringify(env.VIGIL_PARTITIONS)}: give a whole number from 1.`);
  return { kind: 'file', path, partitions };
};

/** The log that `--direct` and replays open, in bytes that others can read. Throws CannotProceed. */
export const directSettings = (env: Environment): DirectSettings =>
  env.VIGIL_LOG_FILE
    ? fileOf(env.VIGIL_LOG_FILE, env)
    : { kind: 'kafka', kafka: kafkaOf(env), registry: registryOf(env) };

/** The database of the read model. */
export type DatabaseSettings = { readonly DATABASE_URL: string; readonly DATABASE_PASSWORD_FILE?: string | undefined };

/** Throws CannotProceed. */
export const databaseOf = ({ DATABASE_URL: url, DATABASE_PASSWORD_FILE: file }: Environment): DatabaseSettings => {
  if (!url) throw new CannotProceed('DATABASE_URL is not set: give the address of Postgres that the projector has.');
  if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new CannotProceed(
      'DATABASE_URL (a secret, not shown) is not an address of Postgres: give one like postgres://user:password@host:5432/vigil.',
    );
  return { DATABASE_URL: url, DATABASE_PASSWORD_FILE: file };
};

/** VIGIL_HISTORY_DAYS within `least` and `most`, or `usual`. Throws CannotProceed. */
export const historyDaysOf = (
  { VIGIL_HISTORY_DAYS: text }: Environment,
  { least, most, usual }: { readonly least: number; readonly most: number; readonly usual: number },
): number => {
  const days = Number(text || usual);
  if (Number.isInteger(days) && days >= least && days <= most) return days;
  throw new CannotProceed(
    `VIGIL_HISTORY_DAYS is ${JSON.stringify(text)}: give the whole number from ${least} to ${most} that the projector has.`,
  );
};
