import { randomBytes, randomUUID } from 'node:crypto';
import { createRefusalLog, type Logger, listen, type Part, tlsFor } from '@vigil/chassis';
import { type Database, databaseUrlFrom, followChanges, openDatabase, readModel } from '@vigil/read-model';
import { type Log, writer } from '@vigil/stream';
import { openPeople } from './access/people.ts';
import { openSessions } from './access/sessions.ts';
import { openApp } from './app.ts';
import { openCommandWriter, WRITE_LIMIT_MS } from './commands/command-writer.ts';
import type { Config } from './config.ts';
import { openFeed } from './feed.ts';
import {
  examine,
  PROBE_LIMIT_MS,
  REGISTRY,
  readiness,
  registryAnswers,
  watchTransactions,
} from './own-health/doctor.ts';
import { BROKER } from './own-health/knowledge.ts';
import { failingWhileAway, lookOut, type Probe } from './own-health/look-out.ts';
import { DASHBOARD, ownEvents } from './own-health/own-events.ts';
import { speedsFrom } from './own-health/speed.ts';
import { exportFor, replayFor } from './replays/child.ts';
import { openExports } from './replays/export.ts';
import { openReplays, RUN_LIMIT_MS } from './replays/replays.ts';
import { signalsFrom } from './signals.ts';

/** `signal` ends the streams of events; `now`: epoch milliseconds. */
type DashboardDeps = { readonly logger: Logger; readonly signal: AbortSignal; readonly now: () => number };

const isReady = async (answer: ReturnType<typeof readiness>): Promise<void> => {
  const { ready, detail } = await answer;
  if (!ready) throw new Error(detail);
};

const connects = async (config: Config): Promise<void> => {
  await using _ = await openDatabase(databaseUrlFrom(config), () => {}, PROBE_LIMIT_MS);
};

/** The HTTP API, listening at `url`. `finished` rejects when it can no longer follow the log. */
export const openDashboard = async (
  log: Log,
  database: Database,
  config: Config,
  { logger, signal, now }: DashboardDeps,
): Promise<AsyncDisposable & Part & { readonly url: string }> => {
  const tls = tlsFor(config.VIGIL_DASHBOARD_HOST, 'VIGIL_DASHBOARD_HOST', config);
  const own = readModel(database);
  const out = writer(log, now);
  const onFailure = (err: unknown) => logger.error({ err }, 'a request failed');
  const instant = () => ({ now: now(), monotonic: performance.now() });
  const { VIGIL_PROBES: probes, SCHEMA_REGISTRY_URL: registry = null } = config;
  const feed = await openFeed(log, signal, onFailure);
  const events = ownEvents(feed.ready, () => performance.now());
  const looked = new Map<string, Probe>([
    ...probes.map(
      ([service, url]) => [service, service === DASHBOARD ? events : () => isReady(readiness(service, url))] as const,
    ),
    ...(registry === null ? [] : [[REGISTRY, () => isReady(registryAnswers(registry))] as const]),
    [BROKER, async () => void (await log.clusterId())],
  ]);
  const knowledge = lookOut({ model: own, connect: () => connects(config), probes: looked, instant, signal });
  const model = readModel(failingWhileAway(database, () => knowledge().away));
  const isBrokerAway = () => knowledge().away.some(({ part }) => part === BROKER);
  const hanging = watchTransactions(log, signal, logger);
  const onTrouble = (err: Error) => logger.warn({ err }, 'changes cannot be followed now');
  const changes = followChanges(databaseUrlFrom(config), onTrouble, signal);
  const app = openApp({
    tls,
    people: openPeople({
      token: config.VIGIL_DASHBOARD_TOKEN,
      file: config.VIGIL_PEOPLE_FILE ?? null,
      now,
      onFailure,
    }),
    sessions: openSessions({ random: () => randomBytes(32).toString('base64url'), now }),
    isSecure: tls !== null || config.VIGIL_TLS_TERMINATED === '1',
    pageFolder: config.VIGIL_PAGE_FOLDER,
    model,
    feed,
    log,
    changes,
    write: (draft) => out.write([draft]),
    commands: openCommandWriter({
      log,
      writer: out,
      limitMs: WRITE_LIMIT_MS,
      newEventId: randomUUID,
      onFailure,
    }),
    replays: openReplays({
      ...{ run: replayFor(config), limitMs: RUN_LIMIT_MS, newId: randomUUID, now, onFailure, signal },
    }),
    exports: openExports({ run: exportFor(config), limitMs: RUN_LIMIT_MS, signal }),
    linkKey: config.VIGIL_LINK_KEY ?? null,
    newId: randomUUID,
    doctor: () =>
      examine({
        ...{ log, model: own, probes, registry, hanging, now },
        connect: () => connects(config),
        away: () => knowledge().away,
      }),
    speeds: speedsFrom(probes),
    knowledge,
    signalsOf: signalsFrom(log, model, isBrokerAway, onFailure),
    now,
    refusals: createRefusalLog(logger),
    hosts: config.VIGIL_DASHBOARD_HOSTS,
    onFailure,
    onTerminal: (shown) => logger.info(shown, 'a person sees the terminal of an agent'),
    signal,
  });
  const url = await listen(app, config.VIGIL_DASHBOARD_HOST, config.VIGIL_DASHBOARD_PORT, 'VIGIL_DASHBOARD_PORT');
  return { url, ready: feed.ready, finished: feed.finished, [Symbol.asyncDispose]: () => app.close() };
};
