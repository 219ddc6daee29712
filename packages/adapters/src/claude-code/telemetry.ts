import { callStarted, eventsAt, nameOf, type SessionFact } from '../session/events.ts';
import { type CallEnd, endOfCall, endWith, startedCall } from '../shared/calls.ts';
import { ownOf } from '../shared/payload.ts';
import type { MeterReading } from '../telemetry/meters.ts';
import type { Attributes, ReadTelemetry, TelemetryRecord } from '../telemetry/record.ts';
import * as telemetry from '../telemetry/record.ts';
import { claudeCall } from './tools.ts';

/** Log events are named `claude_code.tool_result` in the body, and `tool_result` in the attribute event.name. */
const PREFIX = 'claude_code.';

const decided = ({ attributes, at }: TelemetryRecord): readonly SessionFact[] => {
  const id = telemetry.shortTextOf(attributes, 'tool_use_id');
  if (id === null) return [];
  const call = startedCall(claudeCall(id, telemetry.textOf(attributes, 'tool_name'), undefined), at);
  const started = callStarted(call, telemetry.shortTextOf(attributes, 'request_id'), null);
  return telemetry.textOf(attributes, 'decision') === 'reject'
    ? [started, { kind: 'call_refused', call: nameOf(call) }]
    : [started];
};

/** The exit code of a shell command is in its error. */
const errorClassOf = (attributes: Attributes): string | null => {
  if (telemetry.flagOf(attributes, 'success') !== false) return null;
  const status = /^(?:Shell command failed|Error)?:?\s*Exit code (\d{1,3})\b/.exec(
    telemetry.textOf(attributes, 'error') ?? '',
  )?.[1];
  return status === undefined ? 'tool_error' : `exit_${status}`;
};

const ended = ({ attributes, at }: TelemetryRecord): readonly SessionFact[] => {
  const id = telemetry.shortTextOf(attributes, 'tool_use_id');
  if (id === null) return [];
  const call = claudeCall(
    id,
    telemetry.textOf(attributes, 'tool_name'),
    telemetry.argumentsOf(attributes, 'tool_input'),
  );
  return [
    endOfCall(call, endWith(undefined, errorClassOf(attributes)), at, telemetry.numberOf(attributes, 'duration_ms')),
  ];
};

const partNamed = (parts: readonly TelemetryRecord[], name: string): TelemetryRecord | undefined =>
  parts.find((part) => part.name === name);

/**
 * claude_code.tool: its parts show whether the call was permitted, and how it ended. Without them only its end is
 * known.
 */
const toolSpan = (record: TelemetryRecord, parts: readonly TelemetryRecord[]): readonly SessionFact[] => {
  const { attributes } = record;
  const id = telemetry.shortTextOf(attributes, 'tool_use_id');
  if (id === null) return [];
  const execution = partNamed(parts, 'claude_code.tool.execution');
  const permission = partNamed(parts, 'claude_code.tool.blocked_on_user');
  // A span has at most the command of the arguments.
  const command = telemetry.textOf(attributes, 'full_command');
  const call = claudeCall(id, telemetry.textOf(attributes, 'tool_name'), command === null ? undefined : { command });
  const isRefused = telemetry.textOf(permission?.attributes ?? {}, 'decision') === 'reject';
  const unmade: CallEnd = { outcome: isRefused ? 'refused' : 'abandoned', result: undefined };
  const end = execution === undefined ? unmade : endWith(undefined, errorClassOf(execution.attributes));
  return [endOfCall(call, end, record.at, telemetry.durationOf(record))];
};

/** claude_code.llm_request, with all its attempts. */
const requestSpan = ({ attributes }: TelemetryRecord): readonly SessionFact[] => {
  if (telemetry.flagOf(attributes, 'success') !== false) return [{ kind: 'model_answers' }];
  const status = telemetry.numberOf(attributes, 'status_code');
  return telemetry.failedRequest(status, `api_${status ?? 'error'}`);
};

const answerTokens = (attributes: Attributes) => ({
  input_tokens: telemetry.countOf(attributes, 'input_tokens'),
  cache_read_tokens: telemetry.countOf(attributes, 'cache_read_tokens'),
  cache_write_tokens: telemetry.countOf(attributes, 'cache_creation_tokens'),
  output_tokens: telemetry.countOf(attributes, 'output_tokens'),
});

const counted = ({ attributes, id }: TelemetryRecord): readonly SessionFact[] => [
  { kind: 'model_answers' },
  {
    kind: 'answer_counted',
    answer: {
      requestId: telemetry.shortTextOf(attributes, 'request_id') ?? id,
      tokens: { model: telemetry.shortTextOf(attributes, 'model'), ...answerTokens(attributes) },
      context: null,
      costUsd: telemetry.costOf(attributes, 'cost_usd'),
    },
  },
];

/** claude_code.token.usage: a data point for each type of token. */
const FIELDS: Readonly<Record<string, 'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens'>> =
  {
    input: 'input_tokens',
    output: 'output_tokens',
    cacheRead: 'cache_read_tokens',
    cacheCreation: 'cache_write_tokens',
  };

const metered = (record: TelemetryRecord): readonly MeterReading[] => {
  const { attributes, value, name } = record;
  const [agent, model] = [telemetry.shortTextOf(attributes, 'agent_id'), telemetry.shortTextOf(attributes, 'model')];
  if (name === 'claude_code.llm_request' && telemetry.numberOf(attributes, 'input_tokens') !== null)
    return [telemetry.readingOf(record, agent, model, answerTokens(attributes))];
  if (record.source !== 'metric' || value === null) return [];
  if (name === 'claude_code.cost.usage') return [telemetry.readingOf(record, agent, model, { usd: value })];
  const field = ownOf(FIELDS, telemetry.textOf(attributes, 'type') ?? '');
  if (name !== 'claude_code.token.usage' || field === undefined) return [];
  return [telemetry.readingOf(record, agent, model, { [field]: value })];
};

const factsOfSpan = (record: TelemetryRecord, parts: readonly TelemetryRecord[]): readonly SessionFact[] => {
  if (record.name === 'claude_code.tool') return toolSpan(record, parts);
  return record.name === 'claude_code.llm_request' ? requestSpan(record) : [];
};

const factsOfLog = (record: TelemetryRecord): readonly SessionFact[] => {
  const { attributes } = record;
  switch (record.name.slice(PREFIX.length)) {
    case 'user_prompt':
      return [{ kind: 'turn_started' }];
    case 'tool_decision':
      return decided(record);
    case 'tool_result':
      return ended(record);
    case 'api_request':
      return counted(record);
    case 'api_error':
      return telemetry.failedRequest(
        telemetry.numberOf(attributes, 'status_code'),
        `api_${telemetry.textOf(attributes, 'status_code') ?? 'error'}`,
      );
    case 'subagent_completed': {
      const id = telemetry.shortTextOf(attributes, 'agent_id');
      return id === null ? [] : [{ kind: 'subagent_ended', id }];
    }
    default:
      return [];
  }
};

const factsOf = (record: TelemetryRecord, parts: readonly TelemetryRecord[]): readonly SessionFact[] => {
  switch (record.source) {
    case 'log':
      return factsOfLog(record);
    case 'span':
      return factsOfSpan(record, parts);
    case 'metric':
      return [];
  }
};

/** Claude Code's telemetry: https://code.claude.com/docs/en/monitoring-usage */
export const claudeCodeTelemetry: ReadTelemetry = (record, parts) => {
  const sessionId = telemetry.textOf(record.attributes, 'session.id');
  if (sessionId === null || !record.name.startsWith(PREFIX)) return null;
  const agent = record.name.endsWith('.subagent_completed')
    ? null
    : telemetry.shortTextOf(record.attributes, 'agent_id');
  const events = eventsAt(record.at, agent, factsOf(record, parts));
  return { client: 'claude-code', sessionId, events, readings: metered(record) };
};
