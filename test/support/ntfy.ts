import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

/** A button of a notification, as a subscriber receives it. */
export type Button = {
  readonly action: string;
  readonly label: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly clear: boolean;
};

/** A notification, as a subscriber of its topic receives it. */
export type Notification = {
  readonly event: string;
  readonly topic: string;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly click: string;
  readonly sequence_id?: string;
  readonly actions?: readonly Button[];
};

/** A server of ntfy on loopback. `token`: of a user who may write to each topic and read it. */
export type NtfyServer = AsyncDisposable & { readonly url: string; readonly token: string };

/** `requests`: how many a client may send at once; null: without a limit. */
type Limits = { readonly requests: number | null };

/** The program of a real server; undefined: a server of the documented protocol is used. */
const PROGRAM = process.env.VIGIL_NTFY;

/** The real server that VIGIL_NTFY names, or one that has the documented protocol (docs.ntfy.sh/publish). */
export const openNtfy = (limits: Limits = { requests: null }): Promise<NtfyServer> =>
  PROGRAM === undefined ? documented(limits) : real(PROGRAM, limits);

/** Subscribes to a topic, and calls back with each notification until the signal ends it. */
export const subscribe = async (
  { url, token }: NtfyServer,
  topic: string,
  onNotification: (one: Notification) => void,
  signal: AbortSignal,
): Promise<void> => {
  const response = await fetch(`${url}/${topic}/json`, { headers: { authorization: `Bearer ${token}` }, signal });
  if (!response.ok || response.body === null) throw new Error(`the subscription was answered ${response.status}`);
  const lines = createInterface({ input: Readable.fromWeb(response.body as never) });
  const opened = once(lines, 'line');
  lines.on('line', (line) => {
    const one = JSON.parse(line) as Notification;
    if (one.event === 'message') onNotification(one);
  });
  lines.on('error', () => {});
  await opened;
};

const freePort = async (): Promise<number> => {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

const configOf = (dir: string, port: number, { requests }: Limits): string => {
  const lines = [
    `listen-http: "127.0.0.1:${port}"`,
    `base-url: "http://127.0.0.1:${port}"`,
    `auth-file: "${path.join(dir, 'users.db')}"`,
    'auth-default-access: "deny-all"',
    requests === null
      ? 'visitor-request-limit-exempt-hosts: "127.0.0.1"'
      : `visitor-request-limit-burst: ${requests}\nvisitor-request-limit-replenish: "1h"`,
  ];
  return `${lines.join('\n')}\n`;
};

const real = async (program: string, limits: Limits): Promise<NtfyServer> => {
  const dir = mkdtempSync(path.join(tmpdir(), 'vigil-ntfy-'));
  const port = await freePort();
  const config = path.join(dir, 'server.yml');
  writeFileSync(config, configOf(dir, port, limits));
  const server = spawn(program, ['serve', '--config', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  const url = `http://127.0.0.1:${port}`;
  await listening(url, server.stderr);
  const env = { ...process.env, NTFY_PASSWORD: randomBytes(16).toString('hex') };
  const ran = (...words: readonly string[]) => promisify(execFile)(program, words, { env });
  await ran('user', '--config', config, 'add', '--role=admin', 'vigil');
  const { stdout, stderr } = await ran('token', '--config', config, 'add', 'vigil');
  const [token] = /tk_[a-z0-9]+/.exec(`${stdout}${stderr}`) ?? [];
  if (token === undefined) throw new Error(`${program} token add printed no token: ${stdout}${stderr}`);
  const stop = async (): Promise<void> => {
    const ended = once(server, 'exit');
    if (server.exitCode === null && server.kill('SIGTERM')) await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  return { url, token, [Symbol.asyncDispose]: stop };
};

/** Waits until the server answers, and fails with what it printed when it does not. */
const listening = async (url: string, output: Readable): Promise<void> => {
  let printed = '';
  output.on('data', (chunk) => {
    printed = `${printed}${chunk}`.slice(-2000);
  });
  for (const end = Date.now() + 20_000; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const isUp = await fetch(`${url}/v1/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    if (Date.now() > end) throw new Error(`ntfy does not answer at ${url}: ${printed}`);
  }
};

const MOST_BUTTONS = 3;
const LONGEST_MESSAGE = 4096;

const refuse = (response: ServerResponse, code: number, error: string): void => {
  const http = Math.trunc(code / 100);
  response.writeHead(http, { 'content-type': 'application/json' }).end(JSON.stringify({ code, http, error }));
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** What is wrong with a message; null: nothing. */
const mistakeIn = ({ topic, message, priority, actions = [] }: Notification): readonly [number, string] | null => {
  if (!/^[-_A-Za-z0-9]{1,64}$/.test(topic)) return [40009, 'invalid request: topic invalid'];
  if (!(priority >= 1 && priority <= 5)) return [40007, 'invalid priority parameter'];
  if (actions.length > MOST_BUTTONS) return [40018, `invalid request: actions invalid; only ${MOST_BUTTONS} actions`];
  if (actions.some(({ label, url }) => !label || !url)) return [40018, 'invalid request: actions invalid'];
  if (Buffer.byteLength(message) > LONGEST_MESSAGE) return [40014, 'invalid request: attachments not allowed'];
  return null;
};

const documented = async ({ requests }: Limits): Promise<NtfyServer> => {
  const token = `tk_${randomBytes(15).toString('hex').slice(0, 29)}`;
  const readers = new Map<string, Set<ServerResponse>>();
  let received = 0;
  const publish = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const given = JSON.parse(await textOf(request)) as Notification;
    const mistake = mistakeIn(given);
    if (mistake !== null) return refuse(response, ...mistake);
    const heading = { id: randomBytes(6).toString('hex'), time: Math.trunc(Date.now() / 1000), event: 'message' };
    const actions = given.actions?.map((one) => ({ id: randomBytes(5).toString('hex'), ...one }));
    const line = JSON.stringify({ ...heading, ...given, ...(actions && { actions }) });
    for (const reader of readers.get(given.topic) ?? []) reader.write(`${line}\n`);
    response.writeHead(200, { 'content-type': 'application/json' }).end(`${line}\n`);
  };
  const stream = (topic: string, response: ServerResponse): void => {
    const all = readers.get(topic) ?? new Set();
    readers.set(topic, all.add(response));
    response.on('close', () => all.delete(response));
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write(`${JSON.stringify({ id: 'open', time: 0, event: 'open', topic })}\n`);
  };
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    received += 1;
    if (requests !== null && received > requests) return refuse(response, 42901, 'limit reached: too many requests');
    if (authorization === undefined) return refuse(response, 40301, 'forbidden');
    if (authorization !== `Bearer ${token}`) return refuse(response, 40101, 'unauthorized');
    if (request.method === 'GET') return stream(request.url?.split('/')[1] ?? '', response);
    void publish(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, token, [Symbol.asyncDispose]: stop };
};
