import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Signal } from '@vigil/adapters/otlp';
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import type { GatewayContext } from '../http/answers.ts';
import { Problem } from '../http/problem.ts';
import type { Principal } from '../http/tokens.ts';
import { acceptTelemetry } from './accept.ts';

const SIGNALS: readonly Signal[] = ['logs', 'metrics', 'traces'];
const PROTOBUF = 'application/x-protobuf';

const unzipped = (compressed: Readable): RequestPayload => {
  const plain: RequestPayload = createGunzip();
  plain.receivedEncodedLength = 0;
  compressed.on('data', (chunk: Buffer) => {
    plain.receivedEncodedLength = (plain.receivedEncodedLength ?? 0) + chunk.length;
  });
  compressed.on('error', (error) => plain.destroy(error));
  // A request that is refused before its body is read has no other listener, and an error without one ends the process.
  plain.on('error', () => {});
  return compressed.pipe(plain as ReturnType<typeof createGunzip>);
};

/**
 * The body of an export as it was before it was compressed. OpenTelemetry asks every receiver to take gzip; its collector sends it. The
 * limit of a request is a limit of what comes out, too.
 */
const decompressed = async (
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  payload: RequestPayload,
): Promise<RequestPayload> => {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return payload;
  if (encoding === 'gzip') return unzipped(payload);
  throw new Problem(415, 'bad_encoding', `content-encoding ${encoding.slice(0, 40)} is not taken: send gzip, or none`);
};

type Requests = {
  readonly principalOf: (request: FastifyRequest) => Principal;
  /** counts the bytes of a body as it was before it was compressed; throws TooMany */
  readonly countBody: (request: FastifyRequest, body: Buffer) => void;
};

/**
 * OpenTelemetry's protocol over HTTP, protobuf and JSON: set OTEL_EXPORTER_OTLP_ENDPOINT to <gateway>/otlp. A request larger than any
 * other that the gateway takes is refused, as its exporter expects, with 413.
 */
export const routeTelemetry = (
  app: FastifyInstance,
  context: GatewayContext,
  { principalOf, countBody }: Requests,
): void => {
  app.addContentTypeParser(PROTOBUF, { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    countBody(request, body);
    return body;
  });
  for (const signal of SIGNALS)
    app.post(`/otlp/v1/${signal}`, { preParsing: decompressed }, async (request, reply) => {
      const { ignored } = await acceptTelemetry(context, principalOf(request), signal, request.body);
      if (request.headers['content-type']?.startsWith(PROTOBUF)) return reply.type(PROTOBUF).send(Buffer.alloc(0));
      return reply.send(ignored === null ? {} : { partialSuccess: { errorMessage: ignored } });
    });
};
