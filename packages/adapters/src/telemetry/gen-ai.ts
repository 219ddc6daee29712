import { eventsAt, type SessionFact } from '../session/events.ts';
import { endOfCall, endWith } from '../shared/calls.ts';
import { ownOf } from '../shared/payload.ts';
import { plainTraitsOf } from '../shared/plain-tools.ts';
import type { MeterReading } from './meters.ts';
import type { ReadTelemetry, Telemetry, TelemetryRecord } from './record.ts';
import * as telemetry from './record.ts';

const called = (record: TelemetryRecord): readonly SessionFact[] => {
  const { attributes, at, id, hasFailed } = record;
  const tool = telemetry.textOf(attributes, 'gen_ai.tool.name') ?? record.name;
  const args = telemetry.argumentsOf(attributes, 'gen_ai.tool.call.arguments');
  const callId = telemetry.shortTextOf(attributes, 'gen_ai.tool.call.id') ?? id;
  const error = telemetry.shortTextOf(attributes, 'error.type') ?? (hasFailed ? 'tool_error' : null);
  // A framework exports results only if it is configured to.
  const end = endWith(telemetry.textOf(attributes, 'gen_ai.tool.call.result') ?? undefined, error);
  return [endOfCall({ callId, tool, args, traits: plainTraitsOf(tool, args) }, end, at, telemetry.durationOf(record))];
};

const modelOf = ({ attributes }: TelemetryRecord): string | null =>
  telemetry.shortTextOf(attributes, 'gen_ai.response.model') ??
  telemetry.shortTextOf(attributes, 'gen_ai.request.model');

/** The tokens of one answer. Cached tokens are among the input tokens. */
const answerTokens = (record: TelemetryRecord): readonly MeterReading[] => {
  const { attributes } = record;
  if (telemetry.numberOf(attributes, 'gen_ai.usage.input_tokens') === null) return [];
  const cache_read_tokens = telemetry.countOf(attributes, 'gen_ai.usage.cache_read.input_tokens');
  const cache_write_tokens = telemetry.countOf(attributes, 'gen_ai.usage.cache_creation.input_tokens');
  const input = telemetry.countOf(attributes, 'gen_ai.usage.input_tokens');
  const amounts = {
    input_tokens: Math.max(0, input - cache_read_tokens - cache_write_tokens),
    cache_read_tokens,
    cache_write_tokens,
    output_tokens: telemetry.countOf(attributes, 'gen_ai.usage.output_tokens'),
  };
  return [telemetry.readingOf(record, null, modelOf(record), amounts)];
};

const TOKEN_TYPES: Readonly<Record<string, 'input_tokens' | 'output_tokens'>> = {
  input: 'input_tokens',
  output: 'output_tokens',
};

const meterTokens = (record: TelemetryRecord): readonly MeterReading[] => {
  const field = ownOf(TOKEN_TYPES, telemetry.textOf(record.attributes, 'gen_ai.token.type') ?? '');
  if (record.name !== 'gen_ai.client.token.usage' || field === undefined || record.value === null) return [];
  return [telemetry.readingOf(record, null, modelOf(record), { [field]: record.value })];
};

const ANSWERS: ReadonlySet<string> = new Set(['chat', 'text_completion', 'generate_content']);

type Reported = Pick<Telemetry, 'events' | 'readings'>;
const nothing: Reported = { events: [], readings: [] };

const reportedBy = (record: TelemetryRecord): Reported => {
  if (record.source === 'log') return nothing;
  if (record.source === 'metric') return { ...nothing, readings: meterTokens(record) };
  const operation = telemetry.textOf(record.attributes, 'gen_ai.operation.name') ?? '';
  if (operation === 'execute_tool') return { ...nothing, events: eventsAt(record.at, null, called(record)) };
  if (!ANSWERS.has(operation)) return nothing;
  return { events: eventsAt(record.at, null, [{ kind: 'model_answers' }]), readings: answerTokens(record) };
};

/**
 * Spans and metrics of frameworks that follow OpenTelemetry's conventions for generative AI. A span is exported when it
 * ends, so calls in flight are not visible. https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */
export const genAiTelemetry: ReadTelemetry = (record) => {
  const { attributes } = record;
  const reported = reportedBy(record);
  if (reported.events.length === 0 && reported.readings.length === 0) return null;
  const sessionId =
    telemetry.textOf(attributes, 'gen_ai.conversation.id') ?? telemetry.textOf(attributes, 'session.id');
  const client =
    telemetry.textOf(attributes, 'gen_ai.agent.name') ?? telemetry.textOf(attributes, 'service.name') ?? 'gen-ai';
  return { client, sessionId, ...reported };
};
