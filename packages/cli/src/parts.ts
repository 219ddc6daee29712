import { once } from 'node:events';
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

/** A part of Vigil, and how to find out whether it answers. */
type Part = { readonly service: string; readonly ask: () => Promise<void> };

/** The part has answered that it cannot do its work now. */
class NotReady extends Error {
  override readonly name = 'NotReady';
}

/** Any answer of a registry shows that it runs; a service that is not ready answers with its reason. */
const http = (url: string, isWell: (status: number) => boolean) => async (): Promise<void> => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(LIMIT_MS) });
  if (!isWell(answer.status)) throw new NotReady(notReadyText(answer.status, await answer.text()));
};

/** The broker answers for its metadata. A frozen one accepts connections, too. */
const kafka =
  ({ stream }: Clients, address: string, env: Environment) =>
  async (): Promise<void> => {
    const { askBrokers, kafkaFrom } = stream;
    await askBrokers(kafkaFrom({ ...env, KAFKA_BROKERS: [address] }), LIMIT_MS);
  };

/** The database answers a query. */
const database =
  ({ readModel }: Clients, url: string, env: Environment) =>
  async (): Promise<void> => {
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
const postgres = (address: string) => async (): Promise<void> => {
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

const partsIn = (clients: Clients, env: Environment): readonly Part[] => {
  const { VIGIL_PROBES: probes, SCHEMA_REGISTRY_URL: registry, KAFKA_BROKERS: brokers } = env;
  const { VIGIL_POSTGRES: address, DATABASE_URL: url } = env;
  const services = listed(probes).map((pair): Part => {
    const [service = '', url = ''] = pair.split(/=(.*)/s);
    return { service, ask: http(new URL('/ready', url).href, (status) => status === 200) };
  });
  return [
    ...services,
    ...listed(brokers).map((address): Part => ({ service: `broker ${address}`, ask: kafka(clients, address, env) })),
    ...(registry ? [{ service: 'registry', ask: http(`${registry}/subjects`, (status) => status < 500) }] : []),
    ...(url
      ? [{ service: 'postgres', ask: database(clients, url, env) }]
      : address
        ? [{ service: 'postgres', ask: postgres(address) }]
        : []),
  ];
};

const found = async ({ service, ask }: Part): Promise<PartFound> => {
  try {
    await ask();
    return { service, ready: true, detail: '', since: null };
  } catch (error) {
    const detail = error instanceof NotReady ? error.message : noAnswerText(error, LIMIT_MS);
    return { service, ready: false, detail, since: null };
  }
};

/** Asks each part at the address that the environment names, without the dashboard. */
export const askParts = async (env: Environment): Promise<readonly PartFound[]> =>
  withCauses(await Promise.all(partsIn(await loadClients(), env).map(found)));
