import type { SessionEvent, SessionFact } from '../session/events.ts';
import { isLimit } from '../shared/failure.ts';
import { countIn, type Fields, parseLine } from '../shared/payload.ts';
import { type Amounts, type MeterReading, noAmounts } from './meters.ts';

export type AttributeValue = string | number | boolean | null;
/** Attributes of a record and its resource. Lists and maps are omitted. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** One log record, data point or span of OpenTelemetry, as adapters read it. */
export type TelemetryRecord = {
  readonly source: 'log' | 'metric' | 'span';
  /** the event name of a log, or the name of a metric or span */
  readonly name: string;
  /** its time, or the end of a span, epoch milliseconds */
  readonly at: number;
  /** the start of a span, or of the count of a data point, epoch milliseconds; null for a log, or if not given */
  readonly startedAt: number | null;
  /** the value of a data point, or the sum of a histogram; null for logs and spans */
  readonly value: number | null;
  /** whether a data point counts from the start of its series; false if from the last export */
  readonly isCumulative: boolean;
  /** identifies it; a repeated export has the same id */
  readonly id: string;
  /** identifies the series of a data point; the id of a log or span */
  readonly series: string;
  /** the id of a span's parent; null without one */
  readonly parentId: string | null;
  readonly hasFailed: boolean;
  readonly attributes: Attributes;
  /** attributes of the exporting process */
  readonly resource: Attributes;
};

const LONGEST_NAME = 512;
const LARGEST_COST = 1e9;

/** The session of a record, and the record's events. */
export type Telemetry = {
  readonly client: string;
  /** null if the record names none; then it belongs to the session of its agent */
  readonly sessionId: string | null;
  readonly events: readonly SessionEvent[];
  readonly readings: readonly MeterReading[];
};

/**
 * `parts`: the spans of the same export that are a part of it. Null if the record is of another client, or reports
 * nothing about an agent.
 */
export type ReadTelemetry = (record: TelemetryRecord, parts: readonly TelemetryRecord[]) => Telemetry | null;

export const textOf = (attributes: Attributes, name: string): string | null => {
  const value = attributes[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

/** Clients export numbers as texts, too. */
export const numberOf = (attributes: Attributes, name: string): number | null => {
  const value = attributes[name];
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};

/** A name or an id, cut to the length that fits a heartbeat. */
export const shortTextOf = (attributes: Attributes, name: string): string | null =>
  textOf(attributes, name)?.slice(0, LONGEST_NAME) ?? null;

export const countOf = (attributes: Attributes, name: string): number => countIn(numberOf(attributes, name));

/** US dollars; null if not given, or negative. */
export const costOf = (attributes: Attributes, name: string): number | null => {
  const cost = numberOf(attributes, name);
  return cost !== null && cost >= 0 && cost <= LARGEST_COST ? cost : null;
};

export const flagOf = (attributes: Attributes, name: string): boolean | null => {
  const value = attributes[name];
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : null;
};

/** Arguments that are exported as JSON; undefined if not exported, or cut off. */
export const argumentsOf = (attributes: Attributes, name: string): Fields | undefined =>
  parseLine(textOf(attributes, name)?.trimStart() ?? '') ?? undefined;

/** The reading of a data point or span. `agent`: the client's id of a sub-agent; null for the session's own. */
export const readingOf = (
  record: TelemetryRecord,
  agent: string | null,
  model: string | null,
  amounts: Partial<Amounts>,
): MeterReading => ({
  agent,
  source: record.source === 'span' ? 'span' : 'metric',
  id: record.id,
  series: record.series,
  at: record.at,
  startedAt: record.startedAt,
  isCumulative: record.isCumulative,
  model,
  amounts: { ...noAmounts, ...amounts },
});

/** The duration of a span, milliseconds; null without a start. */
export const durationOf = ({ at, startedAt }: TelemetryRecord): number | null =>
  startedAt === null ? null : at - startedAt;

/** A failed request to a model: by a limit that passes, by an error that the client retries, or for good. */
export const failedRequest = (status: number | null, errorClass: string): readonly SessionFact[] => {
  if (isLimit(status)) return [{ kind: 'request_limited', retryAt: null }];
  const isFinal = status !== null && status >= 400 && status < 500 && status !== 408;
  return isFinal ? [{ kind: 'turn_failed', errorClass, passes: false, retryAt: null }] : [];
};
