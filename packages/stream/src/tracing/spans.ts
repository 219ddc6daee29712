import {
  type Attributes,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { traceparentOf } from './traceparent.ts';

/** Links of one span, and spans of one batch. Further causes are passed on without one. */
const MOST = 100;

const contextOf = (traceparent: string): SpanContext => {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
};

const traceparentFrom = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

const linksTo = (traceparents: readonly string[]): Link[] =>
  traceparents.slice(0, MOST).map((one) => ({ context: contextOf(one) }));

/** A span. `begun`: by `performance.now()`. */
export type About = { readonly name: string; readonly attributes: Attributes; readonly begun: number };

/** The attributes of a span about records of a partition: https://opentelemetry.io/docs/specs/semconv/messaging/ */
export const attributesOf = ({ topic, partition }: { readonly topic: string; readonly partition: number }) => ({
  'messaging.system': 'kafka',
  'messaging.destination.name': topic,
  'messaging.destination.partition.id': String(partition),
});

/** `parent`: null begins a trace. */
const start = ({ name, attributes, begun }: About, kind: SpanKind, parent: string | null, links: Link[]): Span => {
  const context = parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
  return trace.getTracer('vigil').startSpan(name, { kind, links, attributes, startTime: begun }, context);
};

/** Ends a span that failed. */
const fail = (span: Span, error: unknown): void => {
  span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.message : String(error) });
  span.end();
};

/** The spans of one batch: `outs` continue them, and `end` ends them all. */
export type BatchSpans = {
  readonly outs: readonly OutRecord[];
  readonly end: (failure?: { readonly error: unknown }) => void;
};

/**
 * Continues the traces of the causes of these records: one span for each trace, with a link to each further cause in
 * it. Records whose cause has no trace stay as they are. Without an exporter nothing changes.
 */
export const continueTraces = (about: About, outs: readonly OutRecord[]): BatchSpans => {
  const causes = new Set<string>();
  for (const { headers } of outs) {
    const traceparent = headers && traceparentOf(headers);
    if (traceparent !== undefined) causes.add(traceparent);
  }
  if (causes.size === 0) return { outs, end: () => {} };
  const traces = Map.groupBy(causes, (one) => contextOf(one).traceId);
  const spans = new Map<string, Span>();
  for (const [traceId, [parent = null, ...others]] of [...traces].slice(0, MOST))
    spans.set(traceId, start(about, SpanKind.CONSUMER, parent, linksTo(others)));
  const continued = (out: OutRecord): OutRecord => {
    const traceparent = out.headers && traceparentOf(out.headers);
    const span = traceparent === undefined ? undefined : spans.get(contextOf(traceparent).traceId);
    return span === undefined
      ? out
      : { ...out, headers: { ...out.headers, traceparent: traceparentFrom(span.spanContext()) } };
  };
  return {
    outs: outs.map(continued),
    end: (failure) => {
      for (const span of spans.values()) {
        if (failure === undefined) span.end();
        else fail(span, failure.error);
      }
    },
  };
};

/**
 * A span for the effect of these records: it continues their trace, or begins one with links where they have several.
 * Returns the header of the span; undefined if no record has a trace.
 */
export const spanOf = (
  about: About,
  records: readonly LogRecord[],
  failure?: { readonly error: unknown },
): string | undefined => {
  const causes = [...new Set(records.flatMap(({ headers }) => traceparentOf(headers) ?? []))];
  const [first] = causes;
  if (first === undefined) return undefined;
  const isOne = causes.every((one) => contextOf(one).traceId === contextOf(first).traceId);
  const links = linksTo(isOne ? causes.slice(1) : causes);
  const span = start(about, SpanKind.CONSUMER, isOne ? first : null, links);
  if (failure === undefined) span.end();
  else fail(span, failure.error);
  return traceparentFrom(span.spanContext());
};

/** Writes records as the beginning of a trace. Without an exporter the records stay as they are. */
export const beginTrace = async <T>(
  about: About,
  records: readonly OutRecord[],
  write: (records: readonly OutRecord[]) => Promise<T>,
): Promise<T> => {
  const span = start(about, SpanKind.PRODUCER, null, []);
  if (!trace.isSpanContextValid(span.spanContext())) return write(records);
  const traceparent = traceparentFrom(span.spanContext());
  try {
    const written = await write(records.map((one) => ({ ...one, headers: { ...one.headers, traceparent } })));
    span.end();
    return written;
  } catch (error) {
    fail(span, error);
    throw error;
  }
};
