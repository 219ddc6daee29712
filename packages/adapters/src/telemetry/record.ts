import type { SessionEvent, SessionFact } from '../session/events.ts';
import { isLimit } from '../shared/failure.ts';
import { countIn, type Fields, parseLine } from '../shared/payload.ts';
import { type Amounts, type MeterReading, noAmounts } from './meters.ts';

export type AttributeValue = string | number | boolean | null;
/** Attributes of a record, beneath those of its resource. Lists and maps are left out. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** One log record, data point or span of OpenTelemetry, as adapters read it. */
export type TelemetryRecord = {
  readonly source: 'log' | 'metric' | 'span';
  /** of a log its event name, of a metric or span its name */
  readonly name: string;
  /** when it happened, epoch milliseconds; of a span its end */
  readonly at: number;
  /** of a span; of a data point, since when it counts. Epoch milliseconds; null: a log, or not given */
  readonly startedAt: number | null;
  /** of a data point, the sum of a histogram; null for logs and spans */
  readonly value: number | null;
  /** a data point that counts from the start of its series; false: from the last export */
  readonly isCumulative: boolean;
  /** names it among all: repeated exports have the same */
  readonly id: string;
  /** data points that continue each other have the same; of a log or span its id */
  readonly series: string;
  /** of a span, the id of the one that it is a part of; null: of none */
  readonly parentId: string | null;
  readonly hasFailed: boolean;
  readonly attributes: Attributes;
  /** attributes of the process that exports it */
  readonly resource: Attributes;
};

const LONGEST_NAME = 512;
const LARGEST_COST = 1e9;

/** The session of a record, and what the record reports. */
export type Telemetry = {
  readonly client: string;
  /** null: the record names none; it is of the session that its agent is in */
  readonly sessionId: string | null;
  readonly events: readonly SessionEvent[];
  readonly readings: readonly MeterReading[];
};

/**
 * `parts`: the spans of the same export that are a part of it. Null: the record is of another client, or reports
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

/** A name or an id, as long as a heartbeat can carry it. */
export const shortTextOf = (attributes: Attributes, name: string): string | null =>
  textOf(attributes, name)?.slice(0, LONGEST_NAME) ?? null;

export const countOf = (attributes: Attributes, name: string): number => countIn(numberOf(attributes, name));

/** US dollars; null: not given, or less than nothing. */
export const costOf = (attributes: Attributes, name: string): number | null => {
  const cost = numberOf(attributes, name);
  return cost !== null && cost >= 0 && cost <= LARGEST_COST ? cost : null;
};

export const flagOf = (attributes: Attributes, name: string): boolean | null => {
  const value = attributes[name];
  if (value === true || value === 'true') return true;
  return value === false || value === 'false' ? false : null;
};

/** Arguments that are exported as JSON. Undefined: not exported, or cut off. */
export const argumentsOf = (attributes: Attributes, name: string): Fields | undefined =>
  parseLine(textOf(attributes, name)?.trimStart() ?? '') ?? undefined;

/** What a data point or span counts. `agent`: the client's id of a sub-agent; null: the session's own. */
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

/** How long a span took, milliseconds; null: it has no start. */
export const durationOf = ({ at, startedAt }: TelemetryRecord): number | null =>
  startedAt === null ? null : at - startedAt;

/** A request to a model that failed: by a limit that passes, by something that the client tries again, or for good. */
export const failedRequest = (status: number | null, errorClass: string): readonly SessionFact[] => {
  if (isLimit(status)) return [{ kind: 'request_limited', retryAt: null }];
  const isFinal = status !== null && status >= 400 && status < 500 && status !== 408;
  return isFinal ? [{ kind: 'turn_failed', errorClass, passes: false, retryAt: null }] : [];
};
