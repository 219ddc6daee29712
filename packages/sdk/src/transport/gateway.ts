import { type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as secure } from 'node:https';
import { type Envelope, Orders } from '../orders.ts';
import { renewingToken, type TokenDeps, type TokenSource } from './token.ts';
import { type Answer, Busy, type OpenTransport, Refused, type TransportDeps } from './transport.ts';

/** The gateway's address, and the token that it accepts. */
export type Gateway = { readonly url: string; readonly token: string };

/** A gateway with a token, or with the file of one. A token that expires is renewed while it is used. */
export type GatewayWay = Gateway | { readonly url: string; readonly tokenFile: string };

/** Bytes of an answer. The gateway never sends more. */
const LARGEST_ANSWER = 1 << 22;

const bodyOf = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    chunks.push(part as Buffer);
    size += (part as Buffer).length;
    if (size > LARGEST_ANSWER)
      throw new Error(`an answer of more than ${LARGEST_ANSWER} bytes does not come from a gateway`);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** This socket never keeps the agent's process alive. */
const request = (url: URL, options: RequestOptions, body: string | null): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const outgoing = (url.protocol === 'https:' ? secure : plain)(url, options, resolve);
    outgoing.on('socket', (socket) => socket.unref());
    outgoing.on('error', reject);
    outgoing.end(body ?? undefined);
  });

/** Longer is not waited for: the gateway may accept the heartbeat sooner. Milliseconds. */
const LONGEST_RETRY_MS = 300_000;

/** The time in the header Retry-After, milliseconds; 0: the answer names none. */
const retryAfterMsOf = ({ headers }: IncomingMessage): number => {
  const seconds = Number(headers['retry-after'] ?? 0);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds * 1000, LONGEST_RETRY_MS) : 0;
};

/** An operator may correct a token while the agent works, so a 401 is worth another try. */
const isFinal = (status: number): boolean =>
  status >= 400 && status < 500 && ![401, 403, 404, 408, 425, 429].includes(status);

/**
 * One request and its JSON. Throws Refused if it will never be accepted. Uses Node's own client, because `fetch`
 * cannot unref its sockets.
 */
export const call = async (gateway: Gateway, path: string, signal: AbortSignal, body?: unknown): Promise<unknown> => {
  const url = new URL(path, gateway.url);
  const text = body === undefined ? null : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${gateway.token}`,
    ...(text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  const response = await request(url, { method: text === null ? 'GET' : 'POST', headers, signal }, text);
  const answer = await bodyOf(response);
  const status = response.statusCode ?? 0;
  if (isFinal(status)) throw new Refused(`${url.pathname} refused: ${status} ${answer.slice(0, 300)}`);
  if (status < 200 || status > 299)
    throw new Busy(`${url.pathname} answered ${status} ${answer.slice(0, 300)}`, retryAfterMsOf(response));
  return JSON.parse(answer);
};

type Offer = Partial<Answer> & {
  readonly orders?: readonly Envelope[];
  /** how long the request waited at the gateway */
  readonly waitedMs?: number;
};

/** A gateway that accepts no receipts delays no heartbeat. */
const RECEIPTS_MS = 10_000;

/** What the gateway has for one agent. */
export type OrderInbox = {
  /** Makes the request, delivers the orders in the answer, and reports their receipts. */
  readonly collect: (request: () => Promise<unknown>) => Promise<Answer>;
  readonly policy: (name: string, signal: AbortSignal) => Promise<unknown>;
};

export const openInbox = (gateway: Gateway, deps: TransportDeps): OrderInbox => {
  const orders = new Orders(deps);

  const report = async (receipts: readonly { readonly orderId: string }[]): Promise<void> => {
    if (receipts.length === 0) return;
    const records = receipts.map((payload) => ({ type: 'ORDER_RECEIPT', payload }));
    // Unaccepted receipts are sent again: the gateway offers the orders until then.
    await call(gateway, '/v1/receipts', AbortSignal.timeout(RECEIPTS_MS), records).catch((error: Error) =>
      deps.onProblem(`receipts wait for the gateway: ${error.message}`),
    );
  };

  return {
    collect: async (request) => {
      const began = deps.system.monotonic();
      const answer = ((await request()) ?? {}) as Offer;
      const { orders: offered = [], waitedMs, intervalMs = null, policy = null, warnings = [] } = answer;
      const lateMs = waitedMs === undefined ? 0 : Math.max(0, deps.system.monotonic() - began - waitedMs);
      void report(orders.handle(offered.map((one) => ({ ...one, expiresInMs: one.expiresInMs - lateMs }))));
      return { intervalMs, policy, warnings };
    },
    policy: async (name, signal) => {
      const served = await call(gateway, `/v1/policies/${encodeURIComponent(name)}`, signal);
      return (served as { readonly document?: unknown }).document ?? null;
    },
  };
};

/** How long a request for a new token may take, milliseconds. */
const RENEWAL_MS = 10_000;

/** The gateway at an address, with a token that renews itself. */
export const openGateway = (way: GatewayWay, deps: Omit<TokenDeps, 'renew'>): Gateway => {
  const { url } = way;
  const source: TokenSource =
    'tokenFile' in way ? { kind: 'file', path: way.tokenFile } : { kind: 'text', token: way.token };
  const renew = async (token: string): Promise<string> => {
    const answer = await call({ url, token }, '/v1/token', AbortSignal.timeout(RENEWAL_MS), {});
    return (answer as { readonly token: string }).token;
  };
  const own = renewingToken(source, { ...deps, renew });
  return {
    url,
    get token() {
      return own.token;
    },
  };
};

/** Heartbeats by HTTP to the gateway; orders come back with its answers. */
export const overGateway =
  (way: GatewayWay): OpenTransport =>
  (deps) => {
    const gateway = openGateway(way, { now: deps.system.now, onProblem: deps.onProblem });
    const inbox = openInbox(gateway, deps);
    return {
      local: false,
      send: (heartbeat, signal) => inbox.collect(() => call(gateway, '/v1/heartbeats', signal, heartbeat)),
      policy: inbox.policy,
      close: async () => {},
    };
  };
