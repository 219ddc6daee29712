import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Behind } from '../answers.ts';
import type { Holder } from '../tokens.ts';
import { acceptTelemetry } from './accept.ts';
import { decompressed } from './decompress.ts';
import type { Signal } from './messages.ts';

const SIGNALS: readonly Signal[] = ['logs', 'metrics', 'traces'];
const PROTOBUF = 'application/x-protobuf';

/**
 * OpenTelemetry's protocol over HTTP, protobuf and JSON: set OTEL_EXPORTER_OTLP_ENDPOINT to <gateway>/otlp. A request larger than any
 * other that the gateway takes is refused, as its exporter expects, with 413.
 */
export const routeTelemetry = (
  app: FastifyInstance,
  behind: Behind,
  holderOf: (request: FastifyRequest) => Holder,
): void => {
  app.addContentTypeParser(PROTOBUF, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body);
  for (const signal of SIGNALS)
    app.post(`/otlp/v1/${signal}`, { preParsing: decompressed }, async (request, reply) => {
      const { ignored } = await acceptTelemetry(behind, holderOf(request), signal, request.body);
      if (request.headers['content-type']?.startsWith(PROTOBUF)) return reply.type(PROTOBUF).send(Buffer.alloc(0));
      return reply.send(ignored === null ? {} : { partialSuccess: { errorMessage: ignored } });
    });
};
