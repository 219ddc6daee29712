import { createHash } from 'node:crypto';
import type { Attributes, TelemetryRecord } from '@vigil/adapters/telemetry';
import { z } from 'zod';
import type { Signal } from './messages.ts';

const value = z
  .object({
    stringValue: z.string(),
    boolValue: z.boolean(),
    intValue: z.union([z.string(), z.number()]).transform(Number),
    doubleValue: z.number(),
  })
  .partial()
  .transform(
    ({ stringValue, boolValue, intValue, doubleValue }) => stringValue ?? boolValue ?? intValue ?? doubleValue ?? null,
  );

const attributes = z
  .array(z.object({ key: z.string(), value: value.nullish() }))
  .default([])
  .transform((pairs): Attributes => Object.fromEntries(pairs.map((one) => [one.key, one.value ?? null])));

const resource = z
  .object({ attributes })
  .nullish()
  .transform((one): Attributes => one?.attributes ?? {});

/** The largest time of ECMAScript, epoch milliseconds. */
const LATEST = 8.64e15;

/** Nanoseconds since the epoch as milliseconds; 0: not given, or not a time. */
const time = z
  .union([z.string(), z.number()])
  .default(0)
  .transform((nanoseconds) => Math.floor(Number(nanoseconds) / 1e6))
  .transform((milliseconds) => (milliseconds >= 0 && milliseconds <= LATEST ? milliseconds : 0));

const logs = z.object({
  resourceLogs: z
    .array(
      z.object({
        resource,
        scopeLogs: z
          .array(
            z.object({
              logRecords: z
                .array(
                  z.object({
                    timeUnixNano: time,
                    observedTimeUnixNano: time,
                    eventName: z.string().default(''),
                    body: value.nullish(),
                    attributes,
                  }),
                )
                .default([]),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});

const points = z
  .object({
    aggregationTemporality: z.union([z.number(), z.string()]).nullish(),
    dataPoints: z
      .array(
        z.object({
          startTimeUnixNano: time,
          timeUnixNano: time,
          asDouble: z.number().nullish(),
          asInt: z.union([z.string(), z.number()]).nullish(),
          sum: z.number().nullish(),
          attributes,
        }),
      )
      .default([]),
  })
  .nullish();

/** Gauges are left out: counts are sums or histograms. */
const metric = z.object({
  name: z.string().default(''),
  sum: points,
  histogram: points,
  exponentialHistogram: points,
});

const metrics = z.object({
  resourceMetrics: z
    .array(
      z.object({
        resource,
        scopeMetrics: z
          .array(
            z.object({
              scope: z.object({ name: z.string().default('') }).nullish(),
              metrics: z.array(metric).default([]),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});

const traces = z.object({
  resourceSpans: z
    .array(
      z.object({
        resource,
        scopeSpans: z
          .array(
            z.object({
              spans: z
                .array(
                  z.object({
                    traceId: z.string().default(''),
                    spanId: z.string().default(''),
                    parentSpanId: z.string().default(''),
                    name: z.string().default(''),
                    startTimeUnixNano: time,
                    endTimeUnixNano: time,
                    status: z.object({ code: z.union([z.number(), z.string()]).default(0) }).nullish(),
                    attributes,
                  }),
                )
                .default([]),
            }),
          )
          .default([]),
      }),
    )
    .default([]),
});

/** An exporter repeats an unacknowledged export: the same record has the same id. */
const idOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);

const DELTA: ReadonlySet<unknown> = new Set([1, 'AGGREGATION_TEMPORALITY_DELTA']);
const ERROR: ReadonlySet<unknown> = new Set([2, 'STATUS_CODE_ERROR']);

type LogRecord = z.output<typeof logs>['resourceLogs'][number]['scopeLogs'][number]['logRecords'][number];

/** Clients name an event in the record, in the body or in an attribute; the longest of them has the client's prefix. */
const nameOf = ({ eventName, body, attributes: given }: LogRecord): string =>
  [eventName, body, given['event.name']]
    .filter((one): one is string => typeof one === 'string' && /^[a-z_.]+$/.test(one))
    .reduce((longest, one) => (one.length > longest.length ? one : longest), '');

const fromLogs = (body: unknown): readonly TelemetryRecord[] =>
  logs.parse(body).resourceLogs.flatMap(({ resource: of, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((log): TelemetryRecord => {
        const at = log.timeUnixNano || log.observedTimeUnixNano;
        const name = nameOf(log);
        const id = idOf(name, log.timeUnixNano, log.observedTimeUnixNano, log.attributes);
        return {
          source: 'log',
          name,
          at,
          startedAt: null,
          value: null,
          isCumulative: false,
          id,
          series: id,
          parentId: null,
          hasFailed: false,
          attributes: { ...of, ...log.attributes },
          resource: of,
        };
      }),
    ),
  );

type Metric = z.output<typeof metric>;
type Point = NonNullable<Metric['sum']>['dataPoints'][number];

/** Null: nothing that can be counted. A value that no heartbeat can carry must not reach what the session has counted so far. */
const valueIn = ({ asDouble, asInt, sum }: Point): number | null => {
  const value = asDouble ?? (asInt == null ? (sum ?? null) : Number(asInt));
  return value !== null && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
};

const pointsOf = (of: Attributes, scope: string, { name, ...given }: Metric): readonly TelemetryRecord[] => {
  const counted = given.sum ?? given.histogram ?? given.exponentialHistogram;
  return (counted?.dataPoints ?? []).map((point): TelemetryRecord => {
    const series = idOf(name, scope, point.attributes, of);
    return {
      source: 'metric',
      name,
      at: point.timeUnixNano,
      startedAt: point.startTimeUnixNano || null,
      value: valueIn(point),
      isCumulative: !DELTA.has(counted?.aggregationTemporality),
      id: idOf(series, point.timeUnixNano),
      series,
      parentId: null,
      hasFailed: false,
      attributes: { ...of, ...point.attributes },
      resource: of,
    };
  });
};

const fromMetrics = (body: unknown): readonly TelemetryRecord[] =>
  metrics
    .parse(body)
    .resourceMetrics.flatMap(({ resource: of, scopeMetrics }) =>
      scopeMetrics.flatMap(({ scope, metrics: some }) => some.flatMap((one) => pointsOf(of, scope?.name ?? '', one))),
    );

const fromTraces = (body: unknown): readonly TelemetryRecord[] =>
  traces.parse(body).resourceSpans.flatMap(({ resource: of, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span): TelemetryRecord => {
        const id = idOf(span.traceId, span.spanId);
        return {
          source: 'span',
          name: span.name,
          at: span.endTimeUnixNano,
          startedAt: span.startTimeUnixNano || null,
          value: null,
          isCumulative: false,
          id,
          series: id,
          parentId: span.parentSpanId === '' ? null : idOf(span.traceId, span.parentSpanId),
          hasFailed: ERROR.has(span.status?.code),
          attributes: { ...of, ...span.attributes },
          resource: of,
        };
      }),
  );

const READERS: Readonly<Record<Signal, (body: unknown) => readonly TelemetryRecord[]>> = {
  logs: fromLogs,
  metrics: fromMetrics,
  traces: fromTraces,
};

/**
 * The records of an export request, the oldest first. Throws ZodError where the request has another form.
 */
export const recordsIn = (signal: Signal, body: unknown): readonly TelemetryRecord[] =>
  [...READERS[signal](body)].sort((one, other) => one.at - other.at);
