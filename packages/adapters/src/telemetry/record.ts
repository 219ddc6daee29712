import type { ToolCall } from '@vigil/events';
import type { SessionEvent, SessionFact } from '../session/session.ts';
import { type ClientCall, startedCall as describedCall } from '../shared/calls.ts';
import { countIn } from '../shared/payload.ts';
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

/** What a client's adapter derives from the tool and arguments of a call. */
export type CallTraits = Omit<
  ToolCall,
  'call_id' | 'result_hash' | 'masked_result_hash' | 'outcome' | 'error_class' | 'started_at' | 'ended_at'
>;

/** The traits of a call as telemetry names it; arguments that are not exported are unknown. */
export const traitsOf = (call: ClientCall): CallTraits => {
  const { tool, kind, args_hash, mutating, polling, target } = describedCall(call, 0);
  const isKnown = call.args !== null;
  return { tool, kind, args_hash: isKnown ? args_hash : null, deadline_at: null, mutating, polling, target };
};

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

/** Arguments that are exported as JSON. Null: not exported, or cut off. */
export const argumentsOf = (attributes: Attributes, name: string): Readonly<Record<string, unknown>> | null => {
  try {
    const parsed: unknown = JSON.parse(textOf(attributes, name) ?? 'null');
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
};

export const eventsAt = (at: number, agent: string | null, facts: readonly SessionFact[]): readonly SessionEvent[] =>
  facts.map((fact) => ({ ...fact, at, agent }));

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

/** A call that has started. Results are not exported, so none is known. */
export const startedCall = (id: string, traits: CallTraits, startedAt: number | null): ToolCall => ({
  ...traits,
  call_id: id,
  result_hash: null,
  masked_result_hash: null,
  outcome: 'running',
  error_class: null,
  started_at: startedAt,
  ended_at: null,
});

type CallSpan = { readonly endedAt: number; readonly durationMs: number | null };

/** Null: the duration is not given, or cannot be one. */
const startIn = ({ endedAt, durationMs }: CallSpan): number | null =>
  durationMs !== null && durationMs >= 0 && durationMs < endedAt ? Math.round(endedAt - durationMs) : null;

/** A call that has ended. `errorClass` null: it succeeded. */
export const endedCall = (id: string, traits: CallTraits, span: CallSpan, errorClass: string | null): ToolCall => ({
  ...startedCall(id, traits, startIn(span)),
  outcome: errorClass === null ? 'ok' : 'error',
  error_class: errorClass,
  ended_at: span.endedAt,
});

export const callEnded = (call: ToolCall): SessionFact => ({
  kind: 'call_ended',
  call,
  name: { callId: call.call_id, tool: call.tool, argsHash: call.args_hash },
});

const LIMITS: ReadonlySet<number> = new Set([429, 529, 503]);

/** A request to a model that failed: by a limit that passes, by something that the client tries again, or for good. */
export const failedRequest = (
  status: number | null,
  errorClass: string,
  message: string | null,
  retryAt: number | null,
): readonly SessionFact[] => {
  if (status !== null && LIMITS.has(status)) return [{ kind: 'request_limited', retryAt }];
  const isFinal = status !== null && status >= 400 && status < 500 && status !== 408;
  return isFinal ? [{ kind: 'turn_failed', errorClass, message, passes: false, retryAt: null }] : [];
};
