import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** What is wrong with a request that Node cannot read. `kind`: for programs; `detail`: for people. */
export type Unreadable = { readonly status: number; readonly kind: string; readonly detail: string };

const unreadable = (code: string): Unreadable => {
  if (code === 'HPE_HEADER_OVERFLOW')
    return {
      status: 431,
      kind: 'headers_too_large',
      detail: 'The address and the headers of a request have at most 16 KB together.',
    };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { status: 408, kind: 'request_too_slow', detail: 'The request did not arrive in time: send it again.' };
  return { status: 400, kind: 'bad_request', detail: `The request is not HTTP (${code}).` };
};

/** The `clientErrorHandler` of a server: answers a request that never becomes one, and closes its connection. `bodyOf`: its problem as RFC 9457 defines it. */
export const answerUnreadable =
  (bodyOf: (problem: Unreadable) => object) =>
  ({ code }: Error & { readonly code: string }, socket: Socket): void => {
    if (code === 'ECONNRESET' || socket.destroyed) return;
    const problem = unreadable(code);
    const body = JSON.stringify(bodyOf(problem));
    const head = [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      'Content-Type: application/problem+json',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    socket.destroySoon();
  };
