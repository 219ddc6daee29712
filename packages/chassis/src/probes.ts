import type { IncomingMessage, ServerResponse } from 'node:http';
import type { PartitionStatus } from '@vigil/stream';
import { Refused } from '@vigil/stream/errors';
import { fastify } from 'fastify';

/**
 * A part runs until it is stopped. `ready`: whether it does its work now (caught up, assigned, connected), read at
 * every probe.
 * `finished`: settles when it ends by itself, which ends the process. `status`: its partitions, shown by `/metrics`.
 * `away`: other services that it finds away, each with its beginning, epoch milliseconds.
 */
export type Part = {
  readonly ready: () => boolean;
  readonly finished?: Promise<unknown>;
  readonly status?: () => readonly PartitionStatus[];
  readonly away?: () => Readonly<Record<string, number>>;
};

/** The answer of `/ready`: `starting`, `stopping`, or the report of each part, and the other services that they find away. */
export type Readiness =
  | { readonly ready: false; readonly because: 'starting' | 'stopping' }
  | {
      readonly ready: boolean;
      readonly parts: Readonly<Record<string, boolean>>;
      readonly away?: Readonly<Record<string, number>>;
    };

/** Ready is every part being ready; a process that is starting or stopping is not. */
export const readinessOf = (parts: Readonly<Record<string, Part>> | undefined, stopping: boolean): Readiness => {
  if (stopping) return { ready: false, because: 'stopping' };
  if (parts === undefined) return { ready: false, because: 'starting' };
  const answers = Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.ready()]));
  const away = Object.assign({}, ...Object.values(parts).map((part) => part.away?.() ?? {}));
  const others = Object.keys(away).length === 0 ? {} : { away };
  return { ready: Object.values(answers).every(Boolean), parts: answers, ...others };
};

/** `since`: since when it is not ready, epoch milliseconds. Absent: it is ready. */
type DatedReadiness = Readiness & { readonly since?: number };

/** Adds since when a process is not ready, as far as it was asked. It has not been ready since its start. */
export const dated = (readiness: () => Readiness, now: () => number): (() => DatedReadiness) => {
  let since: number | null = now();
  return () => {
    const found = readiness();
    since = found.ready ? null : (since ?? now());
    return since === null ? found : { ...found, since };
  };
};

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
