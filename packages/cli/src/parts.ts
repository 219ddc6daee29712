import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import type { PartFound } from '@vigil/read-model';
import { withCauses } from '@vigil/read-model/knowledge';
import { noAnswerText, notReadyText } from '@vigil/stream/part-answer';
import type { Environment } from './config.ts';

const LIMIT_MS = 2000;

type Clients = {
  readonly stream: typeof import('@vigil/stream');
  readonly readModel: typeof import('@vigil/read-model');
};

/** On a busy machine they take seconds to load, in which no answer is read: they are loaded before the first question. */
const loadClients = async (): Promise<Clients> => {
  const [stream, readModel] = await Promise.all([import('@vigil/stream'), import('@vigil/read-model')]);
  return { stream, readModel };
};

/** The services that a part finds away, each with its beginning, epoch milliseconds. */
type Beginnings = Readonly<Record<string, number>>;

/** A part of Vigil, and how to find out whether it answers. */
type Part = { readonly service: string; readonly ask: () => Promise<Beginnings | undefined> };

/** The part has answered that it cannot do its work now. `since`: epoch milliseconds; null: it has not answered since when. */
class NotReady extends Error {
  override readonly name = 'NotReady';
  readonly since: number | null;
  readonly away: Beginnings;
  constructor(message: string, { since, away }: Ready) {
    super(message);
    this.since = since;
    this.away = away;
  }
}

/** Any answer of a registry shows that it runs. */
const registryAt = (url: string) => async (): Promise<undefined> => {
  const { status } = await fetch(`${url}/subjects`, { signal: AbortSignal.timeout(LIMIT_MS) });
  if (status >= 500) throw new NotReady(notReadyText(status, ''), { since: null, away: {} });
};

/** What the answer of `/ready` has besides. */
type Ready = { readonly since: number | null; readonly away: Beginnings };

const timeIn = (value: unknown): readonly number[] => (Number.isFinite(value) ? [value as number] : []);

const readyIn = (body: string): Ready => {
  try {
    const { since, away } = (JSON.parse(body) ?? {}) as { readonly since?: unknown; readonly away?: unknown };
    const beginnings = Object.entries((away ?? {}) as object).flatMap(([name, at]) =>
      timeIn(at).map((ms) => [name, ms]),
    );
    return { since: timeIn(since)[0] ?? null, away: Object.fromEntries(beginnings) };
  } catch {
    return { since: null, away: {} };
  }
};

/** A service that is not ready answers with its reason. */
const serviceAt = (url: string, limitMs: number) => async (): Promise<Beginnings> => {
  const answer = await fetch(new URL('/ready', url), { signal: AbortSignal.timeout(limitMs) });
  const body = await answer.text();
  const ready = readyIn(body);
  if (answer.status !== 200) throw new NotReady(notReadyText(answer.status, body), ready);
  return ready.away;
};

/** The broker answers for its metadata. A frozen one accepts connections, too. */
const kafka =
  ({ stream }: Clients, address: string, env: Environment) =>
  async (): Promise<undefined> => {
    const { askBrokers, kafkaFrom } = stream;
    await askBrokers(kafkaFrom({ ...env, KAFKA_BROKERS: [address] }), LIMIT_MS);
  };

/** The database answers a query. */
const database =
  ({ readModel }: Clients, url: string, env: Environment) =>
  async (): Promise<undefined> => {
    const { databaseUrlFrom, openDatabase } = readModel;
    const { DATABASE_PASSWORD_FILE } = env;
    await using _ = await openDatabase(
      databaseUrlFrom({ DATABASE_URL: url, DATABASE_PASSWORD_FILE }),
      () => {},
      LIMIT_MS,
    );
  };

/** Postgres's request for TLS: its first answer is one letter, and needs no credentials. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Without credentials: Postgres answers in its protocol. A frozen one accepts connections, too. */
const postgres = (address: string) => async (): Promise<undefined> => {
  const at = address.lastIndexOf(':');
  const socket = connect(Number(address.slice(at + 1)), address.slice(0, at));
  try {
    socket.write(SSL_REQUEST);
    const [answer] = (await once(socket, 'data', { signal: AbortSignal.timeout(LIMIT_MS) })) as [Buffer];
    if (!/^[SNE]/.test(answer.toString('latin1'))) throw new Error('it is not Postgres');
  } finally {
    socket.destroy();
  }
};

const listed = (text: string | undefined): readonly string[] => (text ?? '').split(',').filter(Boolean);

const probesIn = (probes: string | undefined) =>
  listed(probes).map((pair) => {
    const [service = '', url = ''] = pair.split(/=(.*)/s);
    return { service, url };
  });

const partsIn = (clients: Clients, env: Environment): readonly Part[] => {
  const { VIGIL_PROBES: probes, SCHEMA_REGISTRY_URL: registry, KAFKA_BROKERS: brokers } = env;
  const { VIGIL_POSTGRES: address, DATABASE_URL: url } = env;
  const services = probesIn(probes).map(({ service, url }): Part => ({ service, ask: serviceAt(url, LIMIT_MS) }));
  return [
    ...services,
    ...listed(brokers).map((address): Part => ({ service: `broker ${address}`, ask: kafka(clients, address, env) })),
    ...(registry ? [{ service: 'registry', ask: registryAt(registry) }] : []),
    ...(url
      ? [{ service: 'postgres', ask: database(clients, url, env) }]
      : address
        ? [{ service: 'postgres', ask: postgres(address) }]
        : []),
  ];
};

/** `away`: the others that it finds away. `answers`: whether it has answered at all. */
type Found = PartFound & { readonly away: Beginnings; readonly answers: boolean };

const found = async ({ service, ask }: Part): Promise<Found> => {
  try {
    return { service, ready: true, detail: '', since: null, away: (await ask()) ?? {}, answers: true };
  } catch (error) {
    if (error instanceof NotReady)
      return { service, ready: false, detail: error.message, since: error.since, away: error.away, answers: true };
    const detail = noAnswerText(error, LIMIT_MS);
    return { service, ready: false, detail, since: null, away: {}, answers: false };
  }
};

/**
 * When the log in a file was last written, epoch milliseconds: the one process of all services writes it each second while
 * it lives. null: the log is not a file of this machine.
 */
const lastWrite = ({ VIGIL_LOG_FILE: file }: Environment): number | null => {
  if (!file) return null;
  const times = [file, `${file}-wal`].flatMap((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? []);
  return times.length === 0 ? null : Math.max(...times);
};

/** The beginnings of services on the log in a file, where none of them answers: their process stands still, or is gone. */
const ofOneProcess = (parts: readonly Found[], env: Environment): Beginnings => {
  const services = probesIn(env.VIGIL_PROBES).map(({ service }) => service);
  const at = lastWrite(env);
  const areGone = parts.every(({ service, answers }) => !answers || !services.includes(service));
  return at === null || !areGone ? {} : Object.fromEntries(services.map((service) => [service, at]));
};

/** A part that does not answer itself has its beginning from those that watch it, else from the last sign of its process. */
const withBeginnings = (parts: readonly Found[], env: Environment): readonly PartFound[] => {
  const beginnings: Beginnings = Object.assign(ofOneProcess(parts, env), ...parts.map(({ away }) => away));
  return parts.map(({ away: _, answers: __, ...part }) =>
    part.ready ? part : { ...part, since: part.since ?? beginnings[part.service] ?? null },
  );
};

/** Asks each part at the address that the environment names, without the dashboard. */
export const askParts = async (env: Environment): Promise<readonly PartFound[]> =>
  withCauses(withBeginnings(await Promise.all(partsIn(await loadClients(), env).map(found)), env));

/**
 * Since when a service is away, epoch milliseconds: as alerting finds it, or by the last sign of the process of both. null:
 * neither has it.
 */
export const awaySince = async (service: string, env: Environment, limitMs: number): Promise<number | null> => {
  const watcher = probesIn(env.VIGIL_PROBES).find((one) => one.service === 'alerting');
  if (watcher === undefined) return null;
  const ask = serviceAt(watcher.url, limitMs);
  const away = await ask().catch((error: unknown) => (error instanceof NotReady ? error.away : null));
  return away === null ? lastWrite(env) : (away[service] ?? null);
};
