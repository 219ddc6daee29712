import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { root } from '../paths.ts';
import { endProcess, livingNames } from '../servers/pid-file.ts';
import { freePorts } from '../servers/ports.ts';
import type { ServersEnv } from '../servers/servers.ts';
import { type ProcessEvent, type Supervised, supervise } from '../supervise.ts';
import { prepareServers } from './prepare-servers.ts';
import { untilReady } from './ready.ts';
import {
  type ClientEnv,
  clientEnv,
  probePort,
  SERVICES,
  type ServiceName,
  type SystemPorts,
  serviceEnv,
  type Tokens,
} from './services.ts';

export type SystemOptions = {
  readonly servers: { readonly env: ServersEnv };
  /** logs and pid files */
  readonly dir: string;
  /** name of the policy that agents get which ask for none */
  readonly policy: string;
  /** default: free ones */
  readonly ports?: SystemPorts;
  /** default: fresh ones */
  readonly tokens?: Tokens;
  /** default: all */
  readonly services?: readonly ServiceName[];
  readonly onLine: (line: string) => void;
  /** gives up starting; what runs by then is stopped */
  readonly signal?: AbortSignal;
};

export type System = {
  /** for agents, runtimes and the command line */
  readonly env: ClientEnv;
  readonly ports: SystemPorts;
  readonly service: (name: ServiceName) => Supervised;
  /** stops the doors first, then what stands behind them */
  readonly stop: () => Promise<void>;
};

const DOORS: readonly ServiceName[] = ['gateway', 'dashboard'];

const freeSystemPorts = async (): Promise<SystemPorts> => {
  const [gateway = 0, dashboard = 0, ...probes] = await freePorts(2 + SERVICES.length);
  return { gateway, dashboard, probes };
};

export const freshTokens = (): Tokens => {
  const token = (): string => randomBytes(24).toString('base64url');
  return { gateway: token(), dashboard: token() };
};

const describe = (name: string, event: ProcessEvent): string | null => {
  switch (event.kind) {
    case 'started':
      return null;
    case 'ended':
      return `${name} ended with ${event.how}; started again in ${event.restartInMs / 1000} s`;
    case 'refused':
      return `${name} refuses to run:\n${event.lastWords}`;
  }
};

/** Ends the services that an earlier run left behind. */
export const endLeftServices = async (dir: string): Promise<void> => {
  const left = livingNames(dir).filter((name) => (SERVICES as readonly string[]).includes(name));
  await Promise.all(left.map((name) => endProcess(dir, name, 'SIGTERM')));
};

const stopAll = async (services: ReadonlyMap<ServiceName, Supervised>): Promise<void> => {
  const stop = (wanted: (name: ServiceName) => boolean): Promise<unknown> =>
    Promise.all([...services].filter(([name]) => wanted(name)).map(([, service]) => service.stop()));
  await stop((name) => DOORS.includes(name));
  await stop((name) => !DOORS.includes(name));
};

type Plan = Required<Omit<SystemOptions, 'services' | 'tokens' | 'signal'>> & { readonly env: ClientEnv };

const run = (name: ServiceName, { servers, dir, policy, ports, env, onLine }: Plan): Supervised => {
  const own = serviceEnv(name, ports, env, servers.env, policy);
  const spec = {
    name,
    dir,
    command: process.execPath,
    args: [path.join(root, 'services', name, 'src/main.ts')],
    cwd: root,
    env: { ...process.env, ...own },
  };
  return supervise(spec, (event) => {
    const line = describe(name, event);
    if (line !== null) onLine(line);
  });
};

const allReady = (
  services: ReadonlyMap<ServiceName, Supervised>,
  { dir, ports }: Plan,
  signal: AbortSignal,
): Promise<unknown> =>
  Promise.all(
    [...services].map(([name, service]) => untilReady(service, probePort(ports, name), path.join(dir, 'logs'), signal)),
  );

/**
 * Prepares the servers, starts the services under supervision and waits until all of them are ready. All or none.
 * @throws Refusal naming the service that refuses or does not get ready, and its log
 */
export const startSystem = async (options: SystemOptions): Promise<System> => {
  const { servers, policy, onLine, ports = await freeSystemPorts(), tokens = freshTokens() } = options;
  const env = clientEnv(ports, tokens);
  const plan: Plan = { servers, dir: path.resolve(options.dir), policy, ports, env, onLine };
  await endLeftServices(plan.dir);
  await prepareServers(servers.env, onLine);
  const services = new Map(
    SERVICES.filter((name) => options.services?.includes(name) ?? true).map((name) => [name, run(name, plan)]),
  );
  const stop = (): Promise<void> => stopAll(services);
  try {
    await allReady(services, plan, options.signal ?? new AbortController().signal);
  } catch (error) {
    await stop();
    throw error;
  }
  const service = (name: ServiceName): Supervised => {
    const found = services.get(name);
    if (found === undefined) throw new Error(`${name} does not run here: ${[...services.keys()].join(', ')}`);
    return found;
  };
  return { env, ports, service, stop };
};
