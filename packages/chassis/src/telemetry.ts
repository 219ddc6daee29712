import type { IncomingMessage, ServerResponse } from 'node:http';
import { metrics as api, trace } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import type { NodeSDK } from '@opentelemetry/sdk-node';

/** Open telemetry; `scrape` answers `/metrics`. Disposing it sends the rest. */
export type Telemetry = AsyncDisposable & {
  readonly scrape: (request: IncomingMessage, response: ServerResponse) => void;
};

/**
 * Sets OpenTelemetry up: metrics always, read by the probe server; traces over OTLP only where an endpoint is given.
 * Metrics use a part of the SDK: the whole of it costs each of eight processes 200 ms and 15 MB more (measured).
 * Its loader hook costs as much again, for spans of a Kafka client that Vigil writes itself.
 */
export const openTelemetry = async (service: string, tracesTo: string | undefined): Promise<Telemetry> => {
  const resource = resourceFromAttributes({ 'service.name': service });
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const meters = new MeterProvider({ resource, readers: [exporter] });
  api.setGlobalMeterProvider(meters);
  const traces = tracesTo === undefined ? undefined : await openTraces(resource, tracesTo);
  return {
    scrape: (request, response) => exporter.getMetricsRequestHandler(request, response),
    [Symbol.asyncDispose]: async () => {
      await traces?.shutdown();
      await meters.shutdown();
      trace.disable();
      api.disable();
    },
  };
};

/** Spans go in batches to `endpoint`/v1/traces. The libraries are loaded only here: they cost a process 200 ms and 15 MB. */
const openTraces = async (resource: Resource, endpoint: string): Promise<NodeSDK> => {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const traceExporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const sdk = new NodeSDK({
    resource,
    traceExporter,
    autoDetectResources: false,
    metricReaders: [],
    instrumentations: [],
  });
  sdk.start();
  return sdk;
};
