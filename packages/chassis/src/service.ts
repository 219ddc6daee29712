import { setTimeout as after } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { z } from 'zod';
import { chassisSettings, type Environment, readConfig } from './config.ts';
import { endWhenFrozen, FROZEN_AFTER_MS } from './event-loop.ts';
import type { Count } from './metrics/definitions.ts';
import { createCount, showPartitions } from './metrics/instruments.ts';
import { dated, openProbes, type Part, readinessOf } from './probes.ts';
import { logReadiness } from './readiness-log.ts';
import { openTelemetry, type Telemetry } from './telemetry.ts';

/** How long a process may take to stop, milliseconds; beyond it, it ends with code 1. Kubernetes allows 30 s. */
const STOP_LIMIT_MS = 10_000;

const chassisConfig = z.object(chassisSettings);
type ChassisConfig = z.output<typeof chassisConfig>;

/** The argument of `start`. `use` keeps an opened resource, and closes them in reverse order on the way out. */
export type Running<Config> = {
  readonly config: Config;
  /** the variables of the process, for settings that another file names */
  readonly env: Environment;
  readonly logger: Logger;
  readonly count: Count;
  /** aborted when the process is to stop, before anything is closed */
  readonly signal: AbortSignal;
  readonly use: <Opened extends AsyncDisposable | Disposable>(opened: Opened | Promise<Opened>) => Promise<Opened>;
};

type Parts = Readonly<Record<string, Part>>;

/** A service of Vigil: opens its resources in order, and names the parts that run. */
export type Service<Schema extends z.ZodType = z.ZodType> = {
  readonly name: string;
  /** its variables; those of every process are read besides */
  readonly config: Schema;
  /** A method, so that services with different variables fit one list. */
  start(running: Running<z.output<Schema>>): Promise<Parts>;
};

/** Types the argument of `start` by the variables. */
export const defineService = <Schema extends z.ZodType>(service: Service<Schema>): Service<Schema> => service;

/** A service, and the variables with which it runs. */
export type AssignedService = { readonly service: Service; readonly env: Environment };

/** Runs one service as runServices does. */
export const runService = <Schema extends z.ZodType>(env: Environment, service: Service<Schema>): Promise<never> =>
  runServices(service.name, [{ service, env }]);

/**
 * Runs services in this process until SIGTERM, SIGINT or the failure of one, then closes their resources in reverse
 * order and ends the process. Each answers probes at its own VIGIL_PROBE_PORT; the metrics there are of the whole
 * process. Exit codes: 0 stopped by a signal, 1 failed or did not stop within 10 s (start again), 2 refused (follow the
 * message first).
 */
export const runServices = async (name: string, services: readonly AssignedService[]): Promise<never> => {
  const stop = new AbortController();
  try {
    const configured = services.map(configure);
    obeySignals(name, stop);
    await live(name, configured, stop);
    return process.exit(0);
  } catch (error) {
    return die(name, error);
  }
};

/** A failure of one of the services of a process. */
class ServiceFailed extends Error {
  override readonly name = 'ServiceFailed';
  readonly service: string;

  constructor(service: string, cause: unknown) {
    super(`${service} failed`, { cause });
    this.service = service;
  }
}

type Configured = AssignedService & { readonly config: ChassisConfig; readonly logger: Logger };

const configure = ({ service, env }: AssignedService): Configured => {
  try {
    const config = readConfig(z.intersection(chassisConfig, service.config), env) as ChassisConfig;
    return { service, env, config, logger: openLogger(service.name, config.VIGIL_LOG_LEVEL) };
  } catch (error) {
    throw new ServiceFailed(service.name, error);
  }
};

/** What all services of a process share. */
type Shared = {
  readonly opened: AsyncDisposableStack;
  readonly telemetry: Telemetry;
  readonly count: Count;
  readonly stop: AbortController;
};

const live = async (name: string, services: readonly Configured[], stop: AbortController): Promise<void> => {
  await using opened = new AsyncDisposableStack();
  opened.use(endWhenFrozen(name, FROZEN_AFTER_MS));
  const endpoint = services.map(({ config }) => config.OTEL_EXPORTER_OTLP_ENDPOINT).find((url) => url !== undefined);
  const telemetry = opened.use(await openTelemetry(name, endpoint));
  const shared: Shared = { opened, telemetry, count: createCount(), stop };
  const running: Parts[] = [];
  try {
    for (const each of services) {
      const started = await Promise.race([startOne(each, shared), aborted(stop.signal)]);
      // Also while a service waits for its servers.
      if (started === undefined) return;
      running.push(started);
    }
    showPartitions(running.flatMap((parts) => Object.values(parts)));
    await Promise.race([
      aborted(stop.signal),
      ...services.flatMap(({ service }, index) => Object.entries(running[index] ?? {}).flatMap(ending(service.name))),
    ]);
  } finally {
    stop.abort();
    // Before the words of a refusal, a service that has not started logs nothing.
    for (const { logger } of services.slice(0, running.length)) logger.info('stopping');
  }
};

const startOne = async (
  { service, env, config, logger }: Configured,
  { opened, telemetry, count, stop }: Shared,
): Promise<Parts> => {
  let parts: Parts | undefined;
  const readiness = dated(() => readinessOf(parts, stop.signal.aborted), Date.now);
  const sources = { readiness, metrics: telemetry.scrape };
  try {
    const probes = opened.use(await openProbes(config.VIGIL_PROBE_HOST, config.VIGIL_PROBE_PORT, sources));
    const use: Running<unknown>['use'] = async (it) => opened.use(await it);
    parts = await service.start({ config, env, logger, count, signal: stop.signal, use });
    opened.use(logReadiness(logger, readiness, parts));
    logger.info({ probes: probes.url, parts: Object.keys(parts) }, 'started');
    return parts;
  } catch (error) {
    throw new ServiceFailed(service.name, error);
  }
};

/** A part that ends by itself is a failure, also without an error. */
const ending =
  (service: string) =>
  ([name, { finished }]: [string, Part]): Promise<never>[] =>
    finished === undefined
      ? []
      : [
          finished.then(
            () => {
              const why = `${name} ended by itself; the process ends so that it is started again.`;
              throw new ServiceFailed(service, new Error(why));
            },
            (error: unknown) => {
              throw new ServiceFailed(service, error);
            },
          ),
        ];

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const obeySignals = (name: string, stop: AbortController): void => {
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGINT', () => stop.abort());
  process.on('uncaughtException', (error) => die(name, error));
  stop.signal.addEventListener('abort', () => void limit(name), { once: true });
};

const limit = async (name: string): Promise<void> => {
  await after(STOP_LIMIT_MS, undefined, { ref: false });
  openLogger(name, 'fatal').fatal(`did not stop within ${STOP_LIMIT_MS / 1000} s; the process ends as it is`);
  process.exit(1);
};

/** 2 where a person must act first, else 1: restart with back-off. */
const exitCodeOf = (error: unknown): 1 | 2 =>
  error instanceof Error && 'exitCode' in error && error.exitCode === 2 ? 2 : 1;

/** A refusal is for people: plain words on standard error. Anything else is a line of the log with its stack. */
const die = (name: string, raised: unknown): never => {
  const first = raised instanceof SuppressedError ? raised.suppressed : raised;
  const [service, error] = first instanceof ServiceFailed ? [first.service, first.cause] : [name, first];
  const code = exitCodeOf(error);
  if (code === 2) process.stderr.write(`${service}: ${(error as Error).message}\n`);
  else openLogger(service, 'fatal').fatal({ err: error }, 'failed');
  return process.exit(code);
};

export type { Logger };

/** Structured lines of JSON on standard output, written at once so that none is lost when the process ends. */
export const openLogger = (service: string, level: string): Logger =>
  pino({ level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 1, sync: true }));
