import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP's JSON has it. */
export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly { readonly traceId: string }[];
};

type Exported = {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: CollectedSpan[] }[] }[];
};

/** A collector of OpenTelemetry on the loopback interface: it keeps the spans that are sent to it. */
export const openCollector = async () => {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await request.reduce((text: string, chunk: Buffer) => text + chunk.toString(), '');
    const { resourceSpans } = JSON.parse(body) as Exported;
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { spans, url: `http://127.0.0.1:${port}`, [Symbol.dispose]: () => void server.close() };
};

/** The names of the spans from the first of a trace to this one. */
export const pathTo = (spans: readonly CollectedSpan[], name: string): readonly string[] => {
  const last = spans.findLast((span) => span.name === name);
  const path: string[] = [];
  for (let at = last; at !== undefined; at = spans.find(({ spanId }) => spanId === at?.parentSpanId))
    path.unshift(at.name);
  return path;
};
