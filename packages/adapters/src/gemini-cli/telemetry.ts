import { callStarted, eventsAt, type SessionFact } from '../session/events.ts';
import { endOfCall, endWith } from '../shared/calls.ts';
import { ownOf } from '../shared/payload.ts';
import type { Amounts, MeterReading } from '../telemetry/meters.ts';
import type { ReadTelemetry, TelemetryRecord } from '../telemetry/record.ts';
import * as telemetry from '../telemetry/record.ts';
import { contextOf, geminiCall } from './tools.ts';

const PREFIX = 'gemini_cli.';

/** A call is reported when it has ended, and without an id. */
const ended = ({ attributes, at, id }: TelemetryRecord): readonly SessionFact[] => {
  const call = geminiCall(
    id,
    telemetry.textOf(attributes, 'function_name'),
    telemetry.argumentsOf(attributes, 'function_args'),
  );
  const failed =
    telemetry.flagOf(attributes, 'success') === false
      ? (telemetry.shortTextOf(attributes, 'error_type') ?? 'tool_error')
      : null;
  const end = endOfCall(call, endWith(undefined, failed), at, telemetry.numberOf(attributes, 'duration_ms'));
  if (telemetry.textOf(attributes, 'decision') !== 'reject') return [end];
  const started = callStarted({ ...end.call, outcome: 'running', ended_at: null }, null, null);
  return [started, { kind: 'call_refused', call: end.name }];
};

const counted = ({ attributes, id }: TelemetryRecord): readonly SessionFact[] => {
  const cached = telemetry.countOf(attributes, 'cached_content_token_count');
  const tokens = {
    model: telemetry.shortTextOf(attributes, 'model'),
    input_tokens:
      Math.max(0, telemetry.countOf(attributes, 'input_token_count') - cached) +
      telemetry.countOf(attributes, 'tool_token_count'),
    cache_read_tokens: cached,
    cache_write_tokens: 0,
    output_tokens:
      telemetry.countOf(attributes, 'output_token_count') + telemetry.countOf(attributes, 'thoughts_token_count'),
  };
  const answer = { requestId: id, tokens, context: contextOf(tokens), costUsd: null };
  return [{ kind: 'model_answers' }, { kind: 'answer_counted', answer }];
};

const factsOf = (record: TelemetryRecord): readonly SessionFact[] => {
  const status = telemetry.numberOf(record.attributes, 'status_code');
  switch (record.name.slice(PREFIX.length)) {
    case 'user_prompt':
      return [{ kind: 'turn_started' }];
    case 'tool_call':
      return ended(record);
    case 'api_response':
      return counted(record);
    case 'api_error':
      return telemetry.failedRequest(status, `api_${status ?? 'error'}`);
    case 'chat_compression':
      return [{ kind: 'phase_changed', phase: 'compacting' }];
    default:
      return [];
  }
};

/** gemini_cli.token.usage. Cached tokens are among the input tokens; tokens of a tool's results and thoughts are not. */
const AMOUNTS: Readonly<Record<string, (value: number) => Partial<Amounts>>> = {
  input: (value) => ({ input_tokens: value }),
  tool: (value) => ({ input_tokens: value }),
  cache: (value) => ({ input_tokens: -value, cache_read_tokens: value }),
  output: (value) => ({ output_tokens: value }),
  thought: (value) => ({ output_tokens: value }),
};

const metered = (record: TelemetryRecord): readonly MeterReading[] => {
  const { attributes, name, value } = record;
  const amounts = ownOf(AMOUNTS, telemetry.textOf(attributes, 'type') ?? '');
  if (name !== 'gemini_cli.token.usage' || amounts === undefined || value === null) return [];
  return [telemetry.readingOf(record, null, telemetry.shortTextOf(attributes, 'model'), amounts(value))];
};

const SERVICE = 'gemini-cli';

/**
 * Gemini CLI's telemetry: https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/telemetry.md. It also exports
 * the same data by the general conventions, which Vigil ignores.
 */
export const geminiTelemetry: ReadTelemetry = (record) => {
  const { attributes, at, source, name } = record;
  const isOwn = name.startsWith(PREFIX);
  if (!isOwn && telemetry.textOf(attributes, 'service.name') !== SERVICE) return null;
  const sessionId = telemetry.textOf(attributes, 'session.id');
  const isRead = isOwn && sessionId !== null;
  const events = isRead && source === 'log' ? eventsAt(at, null, factsOf(record)) : [];
  return { client: SERVICE, sessionId, events, readings: isRead && source === 'metric' ? metered(record) : [] };
};
