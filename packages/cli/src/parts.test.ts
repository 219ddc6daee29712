import { once } from 'node:events';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { askParts, awaySince } from './parts.ts';

const servers: ReturnType<typeof createTcpServer>[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
const serving = async (answer: RequestListener): Promise<string> => {
  const server = createServer(answer);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Takes each connection. */
const listening = async (take: (socket: Socket) => void): Promise<string> => {
  const server = createTcpServer(take);
  servers.push(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Nothing listens there. */
const closed = async (): Promise<string> => {
  const address = await serving(() => {});
  const server = servers.pop();
  await new Promise((resolve) => server?.close(resolve));
  return address;
};

test('each part is asked by itself, one that is down is named with the reason, and the others wait for the broker', async () => {
  const well = await serving((_, response) => response.writeHead(200).end());
  const starting = await serving((_, response) => response.writeHead(503).end('restoring'));
  const down = await closed();
  const parts = await askParts({
    VIGIL_PROBES: `gateway=http://${well},recovery=http://${starting},alerting=http://${down}`,
    KAFKA_BROKERS: down,
    SCHEMA_REGISTRY_URL: `http://${well}/apis/ccompat/v7`,
    VIGIL_POSTGRES: down,
  });
  expect(parts.map(({ service, ready }) => `${service} ${ready}`)).toEqual([
    'gateway false',
    'recovery false',
    'alerting false',
    `broker ${down} false`,
    'registry true',
    'postgres false',
  ]);
  for (const n of [0, 1]) expect(parts[n]?.detail).toBe('not ready: it cannot work while broker is away');
  const [alone] = await askParts({ VIGIL_PROBES: `recovery=http://${starting}` });
  expect(alone?.detail).toBe('not ready: status 503: restoring');
  for (const n of [2, 5]) expect(parts[n]?.detail).toBe('does not answer (ECONNREFUSED): is it running?');
});

/** The address of a service whose `/ready` answers so. */
const readyAs = async (status: number, body: object) =>
  `http://${await serving((_, response) => response.writeHead(status).end(JSON.stringify(body)))}`;

test('a part that is not ready answers since when, and one that does not answer has its beginning from alerting', async () => {
  const down = await closed();
  const starting = await readyAs(503, { ready: false, because: 'starting', since: 7000 });
  const watching = await readyAs(200, { ready: true, parts: {}, away: { dashboard: 5000, recovery: 9000 } });
  const env = {
    VIGIL_PROBES: `dashboard=http://${down},recovery=${starting},gateway=http://${down},alerting=${watching}`,
  };
  expect((await askParts(env)).map(({ service, since }) => [service, since])).toEqual([
    ['dashboard', 5000],
    ['recovery', 7000],
    ['gateway', null],
    ['alerting', null],
  ]);
  expect(await awaySince('dashboard', env, 2000)).toBe(5000);
  expect(await awaySince('gateway', env, 2000)).toBeNull();
  expect(await awaySince('dashboard', { VIGIL_PROBES: `alerting=http://${down}` }, 2000)).toBeNull();
  expect(await awaySince('dashboard', {}, 2000)).toBeNull();
});

test('on the log in a file, services that all give no answer are away since its last write; one that answers shows that their process lives', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'vigil-parts-'));
  const VIGIL_LOG_FILE = join(dir, 'log.db');
  for (const [file, seconds] of [
    [VIGIL_LOG_FILE, 4],
    [`${VIGIL_LOG_FILE}-wal`, 5],
  ] as const) {
    writeFileSync(file, '');
    utimesSync(file, seconds, seconds);
  }
  const down = await closed();
  const env = {
    VIGIL_LOG_FILE,
    VIGIL_PROBES: `dashboard=http://${down},alerting=http://${down}`,
    VIGIL_POSTGRES: down,
  };
  const sinceOf = async (of: Parameters<typeof askParts>[0]) => (await askParts(of)).map(({ since }) => since);
  expect(await sinceOf(env)).toEqual([5000, 5000, null]);
  expect(await awaySince('dashboard', env, 2000)).toBe(5000);
  const answering = {
    ...env,
    VIGIL_PROBES: `dashboard=http://${down},alerting=${await readyAs(200, { ready: true })}`,
  };
  expect(await sinceOf(answering)).toEqual([null, null, null]);
  expect(await awaySince('dashboard', answering, 2000)).toBeNull();
  rmSync(dir, { recursive: true });
});

test('what alerting finds is also read while it is not ready itself, and an answer of another form has no beginning', async () => {
  const away = { dashboard: 5000 };
  const unready = await readyAs(503, { ready: false, parts: {}, since: 8000, away });
  expect(await awaySince('dashboard', { VIGIL_PROBES: `alerting=${unready}` }, 2000)).toBe(5000);
  const odd = await readyAs(200, { ready: true, away: { dashboard: 'yesterday' } });
  expect(await awaySince('dashboard', { VIGIL_PROBES: `alerting=${odd}` }, 2000)).toBeNull();
});

test('a service that cannot work without the broker has its own beginning, where that of the broker is unknown', async () => {
  const waiting = await readyAs(503, { ready: false, parts: { log: false }, since: 7000 });
  const [recovery] = await askParts({ VIGIL_PROBES: `recovery=${waiting}`, KAFKA_BROKERS: await closed() });
  expect(recovery).toMatchObject({ detail: 'not ready: it cannot work while broker is away', since: 7000 });
});

test('a registry that demands credentials runs, and one that fails does not', async () => {
  const ofStatus = (status: number) => serving((_, response) => response.writeHead(status).end());
  const registry = async (status: number) =>
    (await askParts({ SCHEMA_REGISTRY_URL: `http://${await ofStatus(status)}` })).map(({ ready }) => ready);
  expect([await registry(401), await registry(500)]).toEqual([[true], [false]]);
});

test('without an address nothing is asked', async () => expect(await askParts({})).toEqual([]));

test('a part that accepts connections and answers nothing does not answer', async () => {
  const sockets: Socket[] = [];
  const frozen = await listening((socket) => void sockets.push(socket));
  const env = {
    VIGIL_PROBES: `gateway=http://${frozen}`,
    KAFKA_BROKERS: frozen,
    SCHEMA_REGISTRY_URL: `http://${frozen}/apis/ccompat/v7`,
  };
  const byAddress = await askParts({ ...env, VIGIL_POSTGRES: frozen });
  const byQuery = await askParts({ DATABASE_URL: `postgres://vigil:secret@${frozen}/vigil` });
  const parts = [...byAddress, ...byQuery];
  expect(parts.map(({ service }) => service)).toEqual([
    ...['gateway', `broker ${frozen}`, 'registry', 'postgres'],
    'postgres',
  ]);
  for (const { service, ready, detail } of parts) {
    expect(ready, service).toBe(false);
    expect(detail, service).toMatch(/^does not answer/);
    expect(detail, service).not.toContain('(23)');
    expect(detail, service).not.toContain('secret');
  }
  for (const socket of sockets) socket.destroy();
});

test('Postgres answers without credentials, and another program at its address is not Postgres', async () => {
  const answering = (text: string) => listening((socket) => void socket.once('data', () => socket.write(text)));
  const ready = async (text: string) => (await askParts({ VIGIL_POSTGRES: await answering(text) }))[0]?.ready;
  expect([await ready('N'), await ready('S'), await ready('HTTP/1.1 400')]).toEqual([true, true, false]);
});
