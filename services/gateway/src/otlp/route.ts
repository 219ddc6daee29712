import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../http/answers.ts';
import type { Principal } from '../http/tokens.ts';
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
  context: GatewayContext,
  principalOf: (request: FastifyRequest) => Principal,
): void => {
  app.addContentTypeParser(PROTOBUF, { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body);
  for (const signal of SIGNALS)
    app.post(`/otlp/v1/${signal}`, { preParsing: decompressed }, async (request, reply) => {
      const { ignored } = await acceptTelemetry(context, principalOf(request), signal, request.body);
      if (request.headers['content-type']?.startsWith(PROTOBUF)) return reply.type(PROTOBUF).send(Buffer.alloc(0));
      return reply.send(ignored === null ? {} : { partialSuccess: { errorMessage: ignored } });
    });
};
