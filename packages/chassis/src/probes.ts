import type { IncomingMessage, ServerResponse } from 'node:http';
import { fastify } from 'fastify';
import type { Readiness } from './readiness.ts';
import { Refused } from './refused.ts';

type Sources = {
  readonly readiness: () => Readiness;
  readonly metrics: (request: IncomingMessage, response: ServerResponse) => void;
};

/**
 * `/live` (200 while the process answers at all), `/ready` (200 or 503, with each part's answer), `/metrics`
 * (Prometheus text). `url` is where it listens. Throws Refused where the port is taken.
 */
export const openProbes = async (
  host: string,
  port: number,
  { readiness, metrics }: Sources,
): Promise<AsyncDisposable & { readonly url: string }> => {
  const app = fastify({ requestTimeout: 30_000, forceCloseConnections: true });
  app.get('/live', () => ({ live: true }));
  app.get('/ready', (_request, reply) => {
    const answer = readiness();
    return reply.code(answer.ready ? 200 : 503).send(answer);
  });
  app.get('/metrics', (request, reply) => {
    reply.hijack();
    metrics(request.raw, reply.raw);
  });
  const url = await listen(app, host, port, 'VIGIL_PROBE_PORT');
  return { url, [Symbol.asyncDispose]: () => app.close() };
};

/** Listens, or throws with the variable to change. Shared by every HTTP server of Vigil. */
export const listen = async (
  app: { listen: (where: { host: string; port: number }) => Promise<string> },
  host: string,
  port: number,
  variable: string,
): Promise<string> => {
  try {
    return await app.listen({ host, port });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new Refused(
      `Cannot listen on ${host}:${port} (${String(error.code)}): free it, or set ${variable} to another port.`,
    );
  }
};
