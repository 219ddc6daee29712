import { REGISTRY_AUTH_VARIABLES } from '@vigil/events';
import { KAFKA_ACCESS_VARIABLES } from '@vigil/stream';
import type { PortUse } from '../servers/ports.ts';
import type { EmbeddedEnv, ServersEnv } from '../servers/running-servers.ts';

/** In the order of the start: the ingress of the agents opens last, and closes first. */
export const SERVICES = [
  'heartbeat-ingest',
  'health-evaluator',
  'intervention',
  'recovery',
  'alerting',
  'projector',
  'dashboard',
  'gateway',
] as const;
export type ServiceName = (typeof SERVICES)[number];

export type SystemPorts = {
  readonly gateway: number;
  readonly dashboard: number;
  /** /live, /ready and /metrics of each service, in the order of SERVICES */
  readonly probes: readonly number[];
};

/** The ports of `npm start`, which are the defaults of the command line. */
export const START_SYSTEM_PORTS: SystemPorts = {
  gateway: 7410,
  dashboard: 7420,
  probes: SERVICES.map((_, index) => 7431 + index),
};

/** The same, moved by a number. */
export const movedPorts = ({ gateway, dashboard, probes }: SystemPorts, offset: number): SystemPorts => ({
  gateway: gateway + offset,
  dashboard: dashboard + offset,
  probes: probes.map((port) => port + offset),
});

/** What uses each of them. */
export const usesOf = ({ gateway, dashboard, probes }: SystemPorts): readonly PortUse[] => [
  { port: gateway, what: 'the gateway', instead: null },
  { port: dashboard, what: 'the dashboard', instead: null },
  ...probes.map((port, index) => ({ port, what: `the probes of ${SERVICES[index]}`, instead: null })),
];

/** The key of decision links, and the key by which ingest recognises what the gateway has accepted. */
export type SharedKeys = { readonly VIGIL_LINK_KEY: string; readonly VIGIL_PROOF_KEY: string };

/**
 * `secret`: the key with which the gateway signs tokens of one runtime or agent. `keys`: those that two services share
 */
export type Tokens = {
  readonly gateway: string;
  readonly secret: string;
  readonly dashboard: string;
  readonly keys: SharedKeys;
};

/** The variables for clients of the system: agents, runtimes, the command line. */
export const clientEnv = (ports: SystemPorts, tokens: Tokens) => ({
  VIGIL_GATEWAY_URL: `http://127.0.0.1:${ports.gateway}`,
  VIGIL_GATEWAY_TOKEN: tokens.gateway,
  VIGIL_GATEWAY_SECRET: tokens.secret,
  VIGIL_DASHBOARD_URL: `http://127.0.0.1:${ports.dashboard}`,
  VIGIL_DASHBOARD_TOKEN: tokens.dashboard,
});
export type ClientEnv = Readonly<ReturnType<typeof clientEnv>>;

export const probePort = (ports: SystemPorts, name: ServiceName): number => ports.probes[SERVICES.indexOf(name)] ?? 0;

/** Settings outside policies that fit the policy `demo`: of the fleet's governor and of the alerts. */
export const DEMO_PACE = {
  VIGIL_GOVERNOR_SETTLE_S: '1',
  VIGIL_GOVERNOR_SPAWNS_PER_HOUR: '60',
  VIGIL_GOVERNOR_COOLDOWN_S: '5',
  VIGIL_GOVERNOR_BRAKE_MIN_AGE_S: '5',
  VIGIL_ALERT_GROUP_WAIT_MS: '0',
  VIGIL_ALERT_END_WAIT_MS: '0',
} as const;

const paceOf = (policy: string): Readonly<Record<string, string>> => (policy === 'demo' ? DEMO_PACE : {});

const TLS = ['VIGIL_TLS_CERT', 'VIGIL_TLS_KEY', 'VIGIL_TLS_TERMINATED'] as const;
const LOG: readonly string[] = [
  'VIGIL_LOG_FILE',
  'KAFKA_BROKERS',
  'SCHEMA_REGISTRY_URL',
  'VIGIL_PARTITIONS',
  ...KAFKA_ACCESS_VARIABLES,
  ...REGISTRY_AUTH_VARIABLES,
];
const DATABASE = ['DATABASE_URL', 'DATABASE_PASSWORD_FILE'] as const;

/**
 * The variables of each service. A secret reaches only the services that use it. Tests compare docker-compose.yml and
 * deploy/ with this table.
 */
export const VARIABLES_OF: Readonly<Record<ServiceName, readonly string[]>> = {
  'heartbeat-ingest': [...LOG, 'VIGIL_PROOF_KEY', 'VIGIL_PROOF_KEY_PREVIOUS'],
  'health-evaluator': [...LOG, 'VIGIL_AGENTS_PER_PARTITION', 'VIGIL_DEFAULT_POLICY', 'VIGIL_REQUESTABLE_POLICIES'],
  intervention: [
    ...LOG,
    'VIGIL_GOVERNOR_SETTLE_S',
    'VIGIL_GOVERNOR_SPAWNS_PER_HOUR',
    'VIGIL_GOVERNOR_COOLDOWN_S',
    'VIGIL_GOVERNOR_BRAKE_MIN_AGE_S',
  ],
  recovery: LOG,
  alerting: [
    ...LOG,
    'VIGIL_ALERTS_FILE',
    'VIGIL_DASHBOARD_URL',
    'VIGIL_WEBHOOK_SECRET',
    'VIGIL_ALERT_GROUP_WAIT_MS',
    'VIGIL_ALERT_END_WAIT_MS',
    'VIGIL_LINK_KEY',
    'VIGIL_DEADMAN_URL',
    'VIGIL_TRIAGE_MODEL_URL',
    'VIGIL_TRIAGE_MODEL',
    'VIGIL_TRIAGE_MODEL_KEY_FILE',
    'VIGIL_TRIAGE_MODEL_TIMEOUT_MS',
    'VIGIL_PROBES',
  ],
  projector: [...LOG, ...DATABASE, 'VIGIL_HISTORY_DAYS'],
  dashboard: [
    ...LOG,
    ...DATABASE,
    'VIGIL_DASHBOARD_PORT',
    'VIGIL_DASHBOARD_HOSTS',
    'VIGIL_DASHBOARD_TOKEN',
    'VIGIL_PEOPLE_FILE',
    'VIGIL_LINK_KEY',
    'VIGIL_PAGE_FOLDER',
    'VIGIL_PROBES',
    ...TLS,
  ],
  gateway: [
    ...LOG,
    'VIGIL_GATEWAY_PORT',
    'VIGIL_GATEWAY_TOKEN',
    'VIGIL_GATEWAY_SECRET',
    'VIGIL_GATEWAY_SECRET_PREVIOUS',
    'VIGIL_PROOF_KEY',
    'VIGIL_TOKEN_REQUESTS_PER_S',
    'VIGIL_TOKEN_BYTES_PER_S',
    'VIGIL_TOKEN_AGENTS',
    'VIGIL_TOKEN_TASKS',
    'VIGIL_DEFAULT_POLICY',
    ...TLS,
  ],
};

/** All variables of services. A service inherits only those that it uses. */
const ASSIGNED: ReadonlySet<string> = new Set(Object.values(VARIABLES_OF).flat());

/** An environment without the variables of a log: the servers of the start give the log. */
export const withoutLog = <Value>(env: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(env).filter(([variable]) => !LOG.includes(variable)));

/** The part of an environment that a service may have. */
export const permitted = <Value>(
  name: ServiceName,
  env: Readonly<Record<string, Value>>,
): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    Object.entries(env).filter(([variable]) => VARIABLES_OF[name].includes(variable) || !ASSIGNED.has(variable)),
  );

/** In the form of VIGIL_PROBES. */
export const probesOf = (ports: SystemPorts, services: readonly ServiceName[]): string =>
  services.map((each) => `${each}=http://127.0.0.1:${probePort(ports, each)}`).join(',');

/** The environment of a service under `npm start`. */
export const serviceEnv = (
  name: ServiceName,
  ports: SystemPorts,
  client: ClientEnv,
  servers: ServersEnv | EmbeddedEnv,
  policy: string,
  keys: SharedKeys,
  /** those that run: the dashboard reports any other of its probes as away */
  services: readonly ServiceName[],
): Readonly<Record<string, string>> => {
  const all = {
    ...servers,
    ...client,
    ...paceOf(policy),
    VIGIL_GATEWAY_PORT: String(ports.gateway),
    VIGIL_DASHBOARD_PORT: String(ports.dashboard),
    VIGIL_DEFAULT_POLICY: policy,
    ...keys,
    VIGIL_PROBES: probesOf(ports, services),
  };
  return Object.fromEntries(Object.entries(all).filter(([variable]) => VARIABLES_OF[name].includes(variable)));
};

/**
 * The file of addresses and tokens that `npm start` writes. A shell that reads it exports the variables to the programs
 * it starts; the command line reads it with bootstrap/start-env.mjs.
 */
export const startEnvText = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'\n`)
    .join('');
