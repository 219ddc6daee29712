import { spawn } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { presetNames } from '@vigil/policy';
import { peopleText } from '@vigil/read-model/people';
import { startFleet, supervisorsDir } from './fleet/fleet.ts';
import { bundleOf, stateDir as cloneDir, root } from './paths.ts';
import { interruption } from './processes/interrupt.ts';
import { forgetPid, livingPid, writePid } from './processes/pid-file.ts';
import { superviseDaemon } from './processes/supervise-daemon.ts';
import { endChildWithUs } from './processes/survivors.ts';
import { endWith, Refusal } from './refusal.ts';
import { startEmbeddedServers } from './servers/embedded.ts';
import { keepFilesPrivate, makePrivateFolder } from './servers/kept-secret.ts';
import { portOffsetOf, requireAllFree } from './servers/ports.ts';
import { hasContainerEngine, hasJavaAndMaven } from './servers/requirements.ts';
import { type EmbeddedServers, type Environment, isEmbedded, type Servers } from './servers/running-servers.ts';
import { givenServers, startPortsOf, startServers } from './servers/servers.ts';
import {
  chooseLog,
  chosenLine,
  type LogKind,
  START_HELP,
  type StartRequest,
  startRequestOf,
} from './system/choose-log.ts';
import { answersAt, endFrozen, pauseUntil } from './system/end-frozen.ts';
import {
  type ClientEnv,
  DEMO_PACE,
  movedPorts,
  probePort,
  probesOf,
  SERVICES,
  START_SYSTEM_PORTS,
  startEnvText,
  usesOf,
} from './system/services.ts';
import { endLeftServices, keptTokens, type System, startSystem } from './system/start-system.ts';

/** Data, logs and pid files. A test has a folder of its own, so that it leaves those of this clone alone. */
const stateDir = path.resolve(process.env.VIGIL_START_DIR ?? cloneDir);

const OWNER = 'npm-start';
/** Addresses and tokens of the running system: `npx vigil` takes them from here. */
const envFile = path.join(stateDir, 'start.env');

/** Data of the log in a file; Kafka's are beside it, so that each keeps its own read model. */
const embeddedDir = path.join(stateDir, 'embedded');

const fleetDir = path.join(stateDir, 'fleet');

/** The people file of `vigil token create person`. */
const peopleFile = path.join(stateDir, 'people.json');

const since = performance.now();
const report = (line: string): void =>
  console.error(`[start ${((performance.now() - since) / 1000).toFixed(1).padStart(5)} s] ${line}`);

/** Throws Refusal while another start runs here. This one runs until its process is gone: then its watcher ends what it has left. */
const requireOnlyOne = (): void => {
  makePrivateFolder(stateDir);
  const other = livingPid(stateDir, OWNER);
  if (other !== null)
    throw new Refusal(
      `npm start is running here already as process ${other}: use it, or end it (kill ${other}) and try again`,
    );
  writePid(stateDir, OWNER, process.pid);
  // That of a start that was killed. Without it, `npx vigil` reports that this one has not come up.
  rmSync(envFile, { force: true });
  process.once('exit', () => forgetPid(stateDir, OWNER));
};

const publish = (env: Readonly<Record<string, string>>): Disposable => {
  writeFileSync(envFile, startEnvText(env), { mode: 0o600 });
  return { [Symbol.dispose]: () => rmSync(envFile, { force: true }) };
};

/** The policy of the demonstration's own agents, which request it. Any other agent has the policy vigil unless it requests another. */
const DEMO = 'demo';

const requestableIn = ({ VIGIL_REQUESTABLE_POLICIES: given }: Environment, hasDemo: boolean): string => {
  if (given === undefined) return presetNames().join(',');
  return hasDemo && given !== 'any' ? `${given},${DEMO}` : given;
};

const showFleet = async (
  { VIGIL_GATEWAY_URL, VIGIL_GATEWAY_TOKEN }: ClientEnv,
  env: Environment,
): Promise<AsyncDisposable> => {
  const fleet = await startFleet({
    dir: fleetDir,
    gatewayUrl: VIGIL_GATEWAY_URL,
    token: VIGIL_GATEWAY_TOKEN,
    env,
    policy: DEMO,
    run: `-${new Date().toISOString().slice(11, 19).replaceAll(':', '')}`,
    onEvent: (name, { kind }) => {
      if (kind === 'refused') report(`${name} of the demonstration fleet refuses to run: see ${stateDir}/fleet/logs`);
    },
  });
  return { [Symbol.asyncDispose]: fleet.stop };
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    // An event listener alone does not keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    signal.addEventListener('abort', () => clearInterval(alive), { once: true });
  });

/** The address of the page, with a login that works once. */
const loginUrl = async ({ VIGIL_DASHBOARD_URL, VIGIL_DASHBOARD_TOKEN }: ClientEnv): Promise<string> => {
  const answer = await fetch(`${VIGIL_DASHBOARD_URL}/v1/login-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${VIGIL_DASHBOARD_TOKEN}` },
  });
  if (!answer.ok) throw new Refusal(`the dashboard answers ${answer.status} to a login: see ${stateDir}/logs`);
  const { path } = (await answer.json()) as { readonly path: string };
  return `${VIGIL_DASHBOARD_URL}${path}`;
};

/** Shows the view in the terminal until Ctrl-C. Without a view, or after its end, the system continues without it. */
const watch = async (env: Environment, signal: AbortSignal): Promise<void> => {
  if (!signal.aborted) {
    const view = spawn(process.execPath, [bundleOf('vigil'), 'health', '--watch'], {
      cwd: root,
      env,
      stdio: 'inherit',
    });
    endChildWithUs(stateDir, 'view', view);
    const ended = new Promise((resolve) => view.once('exit', resolve));
    signal.addEventListener('abort', () => view.kill('SIGTERM'), { once: true });
    await ended;
  }
  if (!signal.aborted) report('running; Ctrl-C stops everything');
  await aborted(signal);
};

/** The servers of the log that is asked for, or that this machine can run. */
const openServers = async (env: Environment, wanted: LogKind | null): Promise<Servers | EmbeddedServers> => {
  const machine = {
    hasServers: () => givenServers({ ...env, DATABASE_URL: env.KAFKA_BROKERS ? env.DATABASE_URL : undefined }) !== null,
    hasContainerEngine,
    hasJava: hasJavaAndMaven,
  };
  const chosen = chooseLog(wanted, machine);
  report(chosenLine(chosen));
  if (chosen.kind === 'embedded')
    return startEmbeddedServers({
      dir: embeddedDir,
      port: startPortsOf(env).postgres,
      env,
      run: superviseDaemon(report),
      report,
    });
  return startServers({
    purpose: 'start',
    dir: stateDir,
    env,
    given: givenServers(env),
    sharedRegistry: null,
    onProgress: report,
  });
};

/** Variables of `npx vigil`: the addresses that it uses without the dashboard. */
const serversForClients = ({ DATABASE_URL: database, ...log }: (Servers | EmbeddedServers)['env'], probes: string) => ({
  ...log,
  VIGIL_PROBES: probes,
  VIGIL_POSTGRES: new URL(database).host,
});

/** A demonstration is quick, and many agents that fall silent at once are still one alert. */
const GROUP_WAIT_MS = '5000';

/** The governor's and the alerts' settings of the caller come before those that fit the demonstration. */
const paceIn = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && /^VIGIL_(GOVERNOR|ALERT)_/.test(name) ? [[name, value]] : [],
    ),
  );

/** In one process, the answer of one service shows that all run. */
const watchFrozen = (system: System, servers: Servers | EmbeddedServers, signal: AbortSignal): void => {
  const frozen = { onLine: report, pause: pauseUntil(signal), signal };
  for (const name of isEmbedded(servers.env) ? SERVICES.slice(0, 1) : SERVICES)
    void endFrozen({ service: system.service(name), answers: answersAt(probePort(system.ports, name)) }, frozen);
};

const run = async (env: Environment, signal: AbortSignal, { log, hasDemo }: StartRequest): Promise<void> => {
  await using open = new AsyncDisposableStack();
  requireOnlyOne();
  const ports = movedPorts(START_SYSTEM_PORTS, portOffsetOf(env));
  await endLeftServices(path.resolve(stateDir));
  await requireAllFree(usesOf(ports));
  const servers = await openServers(env, log);
  open.defer(servers.stop);
  signal.throwIfAborted();
  report('servers are ready; starting the services');
  const people = path.resolve(env.VIGIL_PEOPLE_FILE ?? peopleFile);
  if (!existsSync(people)) writeFileSync(people, peopleText([]), { mode: 0o600 });
  const system = await startSystem({
    servers,
    dir: stateDir,
    policy: 'vigil',
    ports,
    tokens: keptTokens(stateDir),
    inherited: env,
    env: {
      VIGIL_REQUESTABLE_POLICIES: requestableIn(env, hasDemo),
      VIGIL_PEOPLE_FILE: people,
      ...(hasDemo && { ...DEMO_PACE, VIGIL_ALERT_GROUP_WAIT_MS: GROUP_WAIT_MS }),
      ...paceIn(env),
    },
    onLine: report,
    signal,
  });
  open.defer(system.stop);
  watchFrozen(system, servers, signal);
  open.use(
    publish({
      ...system.env,
      ...serversForClients(servers.env, probesOf(ports, SERVICES)),
      VIGIL_PEOPLE_FILE: people,
      VIGIL_FLEET_STATE_DIR: supervisorsDir(fleetDir),
    }),
  );
  const { VIGIL_GATEWAY_URL, VIGIL_DASHBOARD_URL } = system.env;
  report(`watching: gateway ${VIGIL_GATEWAY_URL}, dashboard ${VIGIL_DASHBOARD_URL}, logs in ${stateDir}/logs`);
  report(`page: ${await loginUrl(system.env)} (works once, within five minutes; \`npx vigil login\` prints another)`);
  if (hasDemo) open.use(await showFleet(system.env, env));
  await watch({ ...env, ...system.env }, signal);
  report('stopping …');
};

const main = async (signal: AbortSignal): Promise<void> =>
  run(process.env, signal, startRequestOf(process.argv.slice(2), process.env));

if (process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')) {
  process.stdout.write(`${START_HELP}\n`);
  process.exit();
}

keepFilesPrivate();
const { signal, code } = interruption(process.env);
await main(signal).then(
  () => report('stopped'),
  (error: unknown) => {
    // A start that Ctrl-C interrupted is not a failure.
    if (!signal.aborted) return endWith(error);
    report('stopped before everything was up');
    process.exitCode = code() ?? 1;
  },
);
