import { setTimeout as after } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { z } from 'zod';
import { chassisSettings, readConfig } from './config.ts';
import { endWhenFrozen, FROZEN_AFTER_MS } from './event-loop.ts';
import type { Count } from './metrics/definitions.ts';
import { createCount, showPartitions } from './metrics/instruments.ts';
import { openProbes, type Part, readinessOf } from './probes.ts';
import { logReadiness } from './readiness-log.ts';
import { openTelemetry } from './telemetry.ts';

/** How long a process may take to stop, milliseconds; beyond it, it ends with code 1. Kubernetes allows 30 s. */
const STOP_LIMIT_MS = 10_000;

const chassisConfig = z.object(chassisSettings);
type ChassisConfig = z.output<typeof chassisConfig>;

/** The argument of `start`. `use` keeps an opened resource, and closes them in reverse order on the way out. */
export type Running<Config> = {
  readonly config: Config;
  readonly logger: Logger;
  readonly count: Count;
  /** aborted when the process is to stop, before anything is closed */
  readonly signal: AbortSignal;
  readonly use: <Opened extends AsyncDisposable | Disposable>(opened: Opened | Promise<Opened>) => Promise<Opened>;
};

/** A process of Vigil: opens its resources in order, and names the parts that run. */
export type Service<Schema extends z.ZodType> = {
  readonly name: string;
  /** its variables; those of every process are read besides */
  readonly config: Schema;
  readonly start: (running: Running<z.output<Schema>>) => Promise<Readonly<Record<string, Part>>>;
};

/**
 * Runs a service with these variables until SIGTERM, SIGINT or a failure, then closes its resources in reverse order
 * and ends the process. Exit codes: 0 stopped by a signal, 1 failed or did not stop within 10 s (start again),
 * 2 refused (follow the message first).
 */
export const runService = async <Schema extends z.ZodType>(
  env: NodeJS.ProcessEnv,
  service: Service<Schema>,
): Promise<never> => {
  const stop = new AbortController();
  try {
    const config = readConfig(z.intersection(chassisConfig, service.config), env);
    const logger = openLogger(service.name, config.VIGIL_LOG_LEVEL);
    obeySignals(service.name, logger, stop);
    await live(service, config, logger, stop);
    return process.exit(0);
  } catch (error) {
    return die(service.name, error);
  }
};

const live = async <Schema extends z.ZodType>(
  service: Service<Schema>,
  config: ChassisConfig & z.output<Schema>,
  logger: Logger,
  stop: AbortController,
): Promise<void> => {
  await using opened = new AsyncDisposableStack();
  let parts: Readonly<Record<string, Part>> | undefined;
  opened.use(endWhenFrozen(service.name, FROZEN_AFTER_MS));
  const telemetry = opened.use(await openTelemetry(service.name, config.OTEL_EXPORTER_OTLP_ENDPOINT));
  const readiness = () => readinessOf(parts, stop.signal.aborted);
  const sources = { readiness, metrics: telemetry.scrape };
  const probes = opened.use(await openProbes(config.VIGIL_PROBE_HOST, config.VIGIL_PROBE_PORT, sources));
  try {
    const use: Running<unknown>['use'] = async (it) => opened.use(await it);
    parts = await service.start({ config, logger, count: createCount(), signal: stop.signal, use });
    showPartitions(parts);
    opened.use(logReadiness(logger, readiness, parts));
    logger.info({ probes: probes.url, parts: Object.keys(parts) }, 'started');
    await Promise.race([aborted(stop.signal), ...Object.entries(parts).flatMap(ending)]);
  } finally {
    stop.abort();
    logger.info('stopping');
  }
};

/** A part that ends by itself is a failure, also without an error. */
const ending = ([name, { finished }]: [string, Part]): Promise<never>[] =>
  finished === undefined
    ? []
    : [
        finished.then(() => {
          throw new Error(`${name} ended by itself; the process ends so that it is started again.`);
        }),
      ];

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

const obeySignals = (name: string, logger: Logger, stop: AbortController): void => {
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGINT', () => stop.abort());
  process.on('uncaughtException', (error) => die(name, error));
  stop.signal.addEventListener('abort', () => void limit(logger), { once: true });
};

const limit = async (logger: Logger): Promise<void> => {
  await after(STOP_LIMIT_MS, undefined, { ref: false });
  logger.fatal(`did not stop within ${STOP_LIMIT_MS / 1000} s; the process ends as it is`);
  process.exit(1);
};

/** 2 where a person must act first, else 1: restart with back-off. */
const exitCodeOf = (error: unknown): 1 | 2 =>
  error instanceof Error && 'exitCode' in error && error.exitCode === 2 ? 2 : 1;

/** A refusal is for people: plain words on standard error. Anything else is a line of the log with its stack. */
const die = (name: string, raised: unknown): never => {
  const error = raised instanceof SuppressedError ? raised.suppressed : raised;
  const code = exitCodeOf(error);
  if (code === 2) process.stderr.write(`${name}: ${(error as Error).message}\n`);
  else openLogger(name, 'fatal').fatal({ err: error }, 'failed');
  return process.exit(code);
};

export type { Logger };

/** Structured lines of JSON on standard output, written at once so that none is lost when the process ends. */
export const openLogger = (service: string, level: string): Logger =>
  pino({ level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 1, sync: true }));
