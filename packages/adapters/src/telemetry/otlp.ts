import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Attributes, TelemetryRecord } from './record.ts';

/** The kinds of export requests. */
export type Signal = 'logs' | 'metrics' | 'traces';

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

const list = <T extends z.ZodType>(one: T) => z.array(one).default([]);
const text = z.string().default('');
/** An enumeration, by number or name. */
const symbol = z.union([z.number(), z.string()]);

const logRecord = z.object({
  timeUnixNano: time,
  observedTimeUnixNano: time,
  eventName: text,
  body: value.nullish(),
  attributes,
});
const logs = z.object({
  resourceLogs: list(z.object({ resource, scopeLogs: list(z.object({ logRecords: list(logRecord) })) })),
});

const point = z.object({
  startTimeUnixNano: time,
  timeUnixNano: time,
  asDouble: z.number().nullish(),
  asInt: z.union([z.string(), z.number()]).nullish(),
  sum: z.number().nullish(),
  attributes,
});
const points = z.object({ aggregationTemporality: symbol.nullish(), dataPoints: list(point) }).nullish();
/** Gauges are left out: counts are sums or histograms. */
const metric = z.object({ name: text, sum: points, histogram: points, exponentialHistogram: points });
const scopeMetrics = z.object({ scope: z.object({ name: text }).nullish(), metrics: list(metric) });
const metrics = z.object({ resourceMetrics: list(z.object({ resource, scopeMetrics: list(scopeMetrics) })) });

const span = z.object({
  traceId: text,
  spanId: text,
  parentSpanId: text,
  name: text,
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  status: z.object({ code: symbol.default(0) }).nullish(),
  attributes,
});
const traces = z.object({
  resourceSpans: list(z.object({ resource, scopeSpans: list(z.object({ spans: list(span) })) })),
});

/** An exporter repeats an unacknowledged export: the same record has the same id. */
const idOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);

const DELTA: ReadonlySet<unknown> = new Set([1, 'AGGREGATION_TEMPORALITY_DELTA']);
const ERROR: ReadonlySet<unknown> = new Set([2, 'STATUS_CODE_ERROR']);

/** Clients name an event in the record, in the body or in an attribute; the longest of them has the client's prefix. */
const nameOf = ({ eventName, body, attributes: given }: z.output<typeof logRecord>): string =>
  [eventName, body, given['event.name']]
    .filter((one): one is string => typeof one === 'string' && /^[a-z_.]+$/.test(one))
    .reduce((longest, one) => (one.length > longest.length ? one : longest), '');

type Facts = Pick<TelemetryRecord, 'source' | 'name' | 'at' | 'id'> & Partial<TelemetryRecord>;

/** A record of a resource; an attribute of its own replaces one of the resource. */
const recordOf = (resource: Attributes, own: Attributes, facts: Facts): TelemetryRecord => ({
  startedAt: null,
  value: null,
  isCumulative: false,
  series: facts.id,
  parentId: null,
  hasFailed: false,
  ...facts,
  attributes: { ...resource, ...own },
  resource,
});

const fromLogs = (body: unknown): readonly TelemetryRecord[] =>
  logs.parse(body).resourceLogs.flatMap(({ resource: of, scopeLogs }) =>
    scopeLogs
      .flatMap(({ logRecords }) => logRecords)
      .map((record) => {
        const name = nameOf(record);
        const id = idOf(name, record.timeUnixNano, record.observedTimeUnixNano, record.attributes);
        const at = record.timeUnixNano || record.observedTimeUnixNano;
        return recordOf(of, record.attributes, { source: 'log', name, at, id });
      }),
  );

/** Null: nothing that can be counted. A value that no heartbeat can carry must not reach what the session has counted so far. */
const valueIn = ({ asDouble, asInt, sum }: z.output<typeof point>): number | null => {
  const value = asDouble ?? (asInt == null ? (sum ?? null) : Number(asInt));
  return value !== null && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
};

const pointsOf = (of: Attributes, scope: string, { name, ...given }: z.output<typeof metric>) => {
  const counted = given.sum ?? given.histogram ?? given.exponentialHistogram;
  return (counted?.dataPoints ?? []).map((one) => {
    const series = idOf(name, scope, one.attributes, of);
    return recordOf(of, one.attributes, {
      source: 'metric',
      name,
      at: one.timeUnixNano,
      startedAt: one.startTimeUnixNano || null,
      value: valueIn(one),
      isCumulative: !DELTA.has(counted?.aggregationTemporality),
      id: idOf(series, one.timeUnixNano),
      series,
    });
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
      .map((one) =>
        recordOf(of, one.attributes, {
          source: 'span',
          name: one.name,
          at: one.endTimeUnixNano,
          startedAt: one.startTimeUnixNano || null,
          id: idOf(one.traceId, one.spanId),
          parentId: one.parentSpanId === '' ? null : idOf(one.traceId, one.parentSpanId),
          hasFailed: ERROR.has(one.status?.code),
        }),
      ),
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
