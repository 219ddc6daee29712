import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundleOf, root } from '../paths.ts';
import { endProcess, livingNames } from '../processes/pid-file.ts';
import { type ProcessEvent, type Supervised, supervise } from '../processes/supervise.ts';
import { Refusal } from '../refusal.ts';
import { freshSecret, keptSecret } from '../servers/kept-secret.ts';
import { freePorts } from '../servers/ports.ts';
import { type EmbeddedServers, type Environment, isEmbedded, type Servers } from '../servers/running-servers.ts';
import { prepareServers } from './prepare-servers.ts';
import {
  type ClientEnv,
  clientEnv,
  permitted,
  probePort,
  SERVICES,
  type ServiceName,
  type SharedKeys,
  type SystemPorts,
  serviceEnv,
  type Tokens,
  withoutLog,
} from './services.ts';

export type SystemOptions = {
  readonly servers: Pick<Servers | EmbeddedServers, 'env' | 'identityOf'>;
  /** logs and pid files */
  readonly dir: string;
  /** name of the policy for agents that request none */
  readonly policy: string;
  /** default: free ones */
  readonly ports?: SystemPorts;
  /** default: fresh ones */
  readonly tokens?: Tokens;
  /** default: all */
  readonly services?: readonly ServiceName[];
  /** the environment of the services; each inherits what it may have of it */
  readonly inherited: Environment;
  /** further variables of the services, such as limits of the governor */
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine: (line: string) => void;
  /** aborts the start and stops the services that already run */
  readonly signal?: AbortSignal;
};

export type System = {
  /** for agents, runtimes and the command line */
  readonly env: ClientEnv;
  readonly ports: SystemPorts;
  readonly service: (name: ServiceName) => Supervised;
  /** starts another instance of a service other than an ingress; resolves when it is ready */
  readonly another: (name: ServiceName) => Promise<Supervised>;
  /** stops the ingresses first, then the other services */
  readonly stop: () => Promise<void>;
};

/** The name of the process of all services. */
const TOGETHER = 'vigil';

const INGRESS_SERVICES: readonly ServiceName[] = ['gateway', 'dashboard'];

const freeSystemPorts = async (): Promise<SystemPorts> => {
  const [gateway = 0, dashboard = 0, ...probes] = await freePorts(2 + SERVICES.length);
  return { gateway, dashboard, probes };
};

const tokensOf = (secretOf: (name: string) => string): Tokens => ({
  gateway: secretOf('gateway-token'),
  secret: secretOf('gateway-secret'),
  dashboard: secretOf('dashboard-token'),
  keys: { VIGIL_LINK_KEY: secretOf('link-key'), VIGIL_PROOF_KEY: secretOf('proof-key') },
});

export const freshTokens = (): Tokens => tokensOf(freshSecret);

/** The tokens of a folder, so that a token that the gateway signed in an earlier run stays valid. */
export const keptTokens = (dir: string): Tokens => tokensOf((name) => keptSecret(dir, name));

const describe = (name: string, event: ProcessEvent): string | null => {
  switch (event.kind) {
    case 'started':
      return null;
    case 'ended':
      return `${name} ended with ${event.how}; started again in ${event.restartInMs / 1000} s`;
    case 'refused':
      return `${name} refuses to run${event.again ? ', and is started again until it does' : ''}:\n${event.lastError}`;
  }
};

const READY_LIMIT_MS = 180_000;

const answersReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(1_000) }).then(
    (response) => response.ok,
    () => false,
  );

/** Resolves when the service is ready. @throws Refusal if it refuses to run, or is not ready within three minutes */
export const untilReady = async (
  service: Supervised,
  probePort: number,
  logs: string,
  signal: AbortSignal,
): Promise<void> => {
  for (
    const late = AbortSignal.timeout(READY_LIMIT_MS);
    !(await answersReady(probePort));
    await sleep(100, undefined, { signal })
  ) {
    if (service.isRefused()) throw new Refusal(`${service.name} refuses to run: see ${logs}/${service.name}.log`);
    if (late.aborted)
      throw new Refusal(
        `${service.name} is not ready after ${READY_LIMIT_MS / 1000} s: see ${logs}/${service.name}.log`,
      );
  }
};

/** Ends the services that an earlier run left running. */
export const endLeftServices = async (dir: string): Promise<void> => {
  const left = livingNames(dir).filter((name) => [...SERVICES, TOGETHER].some((service) => name.startsWith(service)));
  await Promise.all(left.map((name) => endProcess(dir, name, 'SIGTERM')));
};

const stopAll = async (services: ReadonlyMap<ServiceName, Supervised>): Promise<void> => {
  const stop = (isSelected: (name: ServiceName) => boolean): Promise<unknown> =>
    Promise.all([...services].filter(([name]) => isSelected(name)).map(([, service]) => service.stop()));
  await stop((name) => INGRESS_SERVICES.includes(name));
  await stop((name) => !INGRESS_SERVICES.includes(name));
};

type Plan = Required<Omit<SystemOptions, 'services' | 'tokens' | 'signal'>> & {
  readonly client: ClientEnv;
  readonly keys: SharedKeys;
  readonly services: readonly ServiceName[];
};

/** All services in one process, on the log in a file. */
const runTogether = (plan: Plan): Supervised => {
  const { servers, dir, policy, ports, client, keys, services, inherited, env, onLine } = plan;
  const own = services.map((name) => serviceEnv(name, ports, client, servers.env, policy, keys, services));
  const spec = {
    name: TOGETHER,
    dir,
    command: process.execPath,
    args: [bundleOf('embedded')],
    cwd: root,
    env: { ...inherited, ...Object.assign({}, ...own), ...env },
  };
  return supervise(spec, (event) => {
    const line = describe(TOGETHER, event);
    if (line !== null) onLine(line);
  });
};

const runAll = (plan: Plan): ReadonlyMap<ServiceName, Supervised> => {
  if (!isEmbedded(plan.servers.env)) return new Map(plan.services.map((name) => [name, run(name, plan)]));
  const together = runTogether(plan);
  return new Map(plan.services.map((name) => [name, together]));
};

/** `as`: the instance's own name, for its log and pid file. */
const run = (name: ServiceName, plan: Plan, as: string = name, probe = probePort(plan.ports, name)): Supervised => {
  const { servers, dir, policy, ports, client, keys, services, inherited, env, onLine } = plan;
  const own = serviceEnv(name, ports, client, servers.env, policy, keys, services);
  const spec = {
    name: as,
    dir,
    command: process.execPath,
    args: [bundleOf(name)],
    cwd: root,
    env: {
      ...permitted(name, inherited),
      ...own,
      ...servers.identityOf(name),
      ...env,
      VIGIL_PROBE_PORT: String(probe),
    },
  };
  return supervise(spec, (event) => {
    const line = describe(as, event);
    if (line !== null) onLine(line);
  });
};

/**
 * Starts another instance of a service and waits until it is ready. An ingress has one port, so only one instance here.
 */
const runAnother = async (name: ServiceName, plan: Plan, as: string): Promise<Supervised> => {
  const [probe = 0] = await freePorts(1);
  const service = run(name, plan, as, probe);
  await untilReady(service, probe, path.join(plan.dir, 'logs'), new AbortController().signal);
  return service;
};

/** The first that fails ends the wait for the others: they would keep this process alive. */
const allReady = async (
  services: ReadonlyMap<ServiceName, Supervised>,
  { dir, ports }: Plan,
  signal: AbortSignal,
): Promise<void> => {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const waits = [...services].map(([name, service]) =>
    untilReady(service, probePort(ports, name), path.join(dir, 'logs'), either),
  );
  try {
    await Promise.all(waits);
  } finally {
    failed.abort();
    await Promise.allSettled(waits);
  }
};

/**
 * Prepares the servers, starts the services under supervision and waits until all are ready. If one fails, all are
 * stopped.
 * @throws Refusal with the service that refuses or is not ready, and its log
 */
export const startSystem = async (options: SystemOptions): Promise<System> => {
  const {
    servers,
    policy,
    inherited,
    onLine,
    env = {},
    ports = await freeSystemPorts(),
    tokens = freshTokens(),
  } = options;
  const plan: Plan = {
    servers,
    dir: path.resolve(options.dir),
    policy,
    ports,
    inherited: withoutLog(inherited),
    env,
    onLine,
    client: clientEnv(ports, tokens),
    keys: tokens.keys,
    services: SERVICES.filter((name) => options.services?.includes(name) ?? true),
  };
  await endLeftServices(plan.dir);
  await prepareServers(servers.env, onLine);
  const services = runAll(plan);
  const others: Supervised[] = [];
  const stop = async (): Promise<void> => {
    // One that waits for its next start must not start while the others stop.
    for (const service of services.values()) service.endRestarts();
    await Promise.all(others.map((service) => service.stop()));
    await stopAll(services);
  };
  try {
    await allReady(services, plan, options.signal ?? new AbortController().signal);
  } catch (error) {
    await stop();
    throw error;
  }
  const service = (name: ServiceName): Supervised => {
    const found = services.get(name);
    if (found === undefined) throw new Error(`${name} was not started: it is not among the services asked for`);
    return found;
  };
  const another = async (name: ServiceName): Promise<Supervised> => {
    const started = await runAnother(name, plan, `${name}-${others.length + 2}`);
    others.push(started);
    return started;
  };
  return { env: plan.client, ports, service, another, stop };
};
