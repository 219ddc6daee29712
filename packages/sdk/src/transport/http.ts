import { type IncomingMessage, request as plain, type RequestOptions } from 'node:http';
import { request as secure } from 'node:https';
import { Refused } from './transport.ts';

/** The gateway's address, and the secret that it accepts. */
export type Gateway = { readonly url: string; readonly token: string };

/** Bytes of an answer. The gateway never sends more. */
const LARGEST_ANSWER = 1 << 22;

const bodyOf = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const part of response) {
    chunks.push(part as Buffer);
    size += (part as Buffer).length;
    if (size > LARGEST_ANSWER) throw new Error(`an answer of more than ${LARGEST_ANSWER} bytes is no gateway's`);
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
  if (status < 200 || status > 299) throw new Error(`${url.pathname} answered ${status} ${answer.slice(0, 300)}`);
  return JSON.parse(answer);
};
