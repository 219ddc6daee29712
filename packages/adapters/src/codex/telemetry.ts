import { callStarted, eventsAt, nameOf, type SessionFact } from '../session/events.ts';
import { endOfCall, endWith, startedCall } from '../shared/calls.ts';
import { ownOf } from '../shared/payload.ts';
import type { Amounts, MeterReading } from '../telemetry/meters.ts';
import type { Attributes, ReadTelemetry, TelemetryRecord } from '../telemetry/record.ts';
import * as telemetry from '../telemetry/record.ts';
import { codexCall } from './tools.ts';

const PREFIX = 'codex.';
const REFUSALS: ReadonlySet<string | null> = new Set(['denied', 'abort']);

const decided = ({ attributes, at }: TelemetryRecord): readonly SessionFact[] => {
  const id = telemetry.shortTextOf(attributes, 'call_id');
  if (id === null) return [];
  const call = startedCall(codexCall(id, telemetry.textOf(attributes, 'tool_name'), undefined), at);
  const started = callStarted(call, null, null);
  const isRefused = REFUSALS.has(telemetry.textOf(attributes, 'decision'));
  return isRefused ? [started, { kind: 'call_refused', call: nameOf(call) }] : [started];
};

/** `success` means that the tool ran; a command's exit code is in its output. */
const errorClassOf = (attributes: Attributes): string | null => {
  if (telemetry.flagOf(attributes, 'success') === false) return 'tool_error';
  const code = /^Process exited with code (\d{1,3})$/m.exec(telemetry.textOf(attributes, 'output') ?? '')?.[1] ?? '0';
  return code === '0' ? null : `exit_${code}`;
};

const ended = ({ attributes, at }: TelemetryRecord): readonly SessionFact[] => {
  const id = telemetry.shortTextOf(attributes, 'call_id');
  if (id === null) return [];
  const call = codexCall(id, telemetry.textOf(attributes, 'tool_name'), telemetry.argumentsOf(attributes, 'arguments'));
  return [
    endOfCall(call, endWith(undefined, errorClassOf(attributes)), at, telemetry.numberOf(attributes, 'duration_ms')),
  ];
};

/** Reads the one of an answer's two events that counts its tokens. Cached tokens are among the input tokens. */
const streamed = ({ attributes, id }: TelemetryRecord): readonly SessionFact[] => {
  if (telemetry.numberOf(attributes, 'input_token_count') === null) return [{ kind: 'model_answers' }];
  const [cached, written] = [
    telemetry.countOf(attributes, 'cached_token_count'),
    telemetry.countOf(attributes, 'cache_write_token_count'),
  ];
  const tokens = {
    model: telemetry.shortTextOf(attributes, 'model'),
    input_tokens: Math.max(0, telemetry.countOf(attributes, 'input_token_count') - cached - written),
    cache_read_tokens: cached,
    cache_write_tokens: written,
    output_tokens: telemetry.countOf(attributes, 'output_token_count'),
  };
  return [{ kind: 'answer_counted', answer: { requestId: id, tokens, context: null, costUsd: null } }];
};

const factsOf = (record: TelemetryRecord): readonly SessionFact[] => {
  const status = telemetry.numberOf(record.attributes, 'http.response.status_code');
  switch (record.name.slice(PREFIX.length)) {
    case 'user_prompt':
      return [{ kind: 'turn_started' }];
    case 'tool_decision':
      return decided(record);
    case 'tool_result':
      return ended(record);
    case 'sse_event':
    case 'websocket_event':
      return streamed(record);
    case 'api_request':
      return telemetry.failedRequest(status, `api_${status}`);
    default:
      return [];
  }
};

/** codex.turn.token_usage. Cached and written tokens are among the input tokens, reasoning tokens among the output tokens. */
const AMOUNTS: Readonly<Record<string, (value: number) => Partial<Amounts>>> = {
  input: (value) => ({ input_tokens: value }),
  cached_input: (value) => ({ input_tokens: -value, cache_read_tokens: value }),
  cache_write_input: (value) => ({ input_tokens: -value, cache_write_tokens: value }),
  output: (value) => ({ output_tokens: value }),
};

const metered = (record: TelemetryRecord): readonly MeterReading[] => {
  const { attributes, name, value } = record;
  const amounts = ownOf(AMOUNTS, telemetry.textOf(attributes, 'token_type') ?? '');
  if (name !== 'codex.turn.token_usage' || amounts === undefined || value === null) return [];
  return [telemetry.readingOf(record, null, telemetry.shortTextOf(attributes, 'model'), amounts(value))];
};

/** Codex's telemetry: logs and metrics of `[otel]` in config.toml. Its metrics name no session. */
export const codexTelemetry: ReadTelemetry = (record) => {
  const { attributes, at, source, name } = record;
  if (!name.startsWith(PREFIX)) return null;
  const sessionId = telemetry.textOf(attributes, 'conversation.id');
  if (source === 'metric') return { client: 'codex', sessionId, events: [], readings: metered(record) };
  if (sessionId === null || source !== 'log') return null;
  return { client: 'codex', sessionId, events: eventsAt(at, null, factsOf(record)), readings: [] };
};
