import type { HookPayload } from '../adapter.ts';
import { type ClientCall, callName, endedCall, startedCall, waiting } from '../shared/calls.ts';
import { eventsBy, type Reader, sessionEnded, sessionStarted } from '../shared/hook-events.ts';
import { countAt, at as fieldAt, textAt } from '../shared/payload.ts';
import { contextOf } from './context.ts';
import { endOf, geminiCall } from './tools.ts';

const callOf = (payload: HookPayload): ClientCall =>
  geminiCall(null, textAt(payload, 'tool_name'), fieldAt(payload, 'tool_input'));

const ended: Reader = (payload, now) => {
  const call = callOf(payload);
  const end = endOf(fieldAt(payload, 'tool_response'));
  return [{ kind: 'call_ended', call: endedCall(call, end, now, null), name: callName(call) }];
};

/** One piece of an answer; the last one has the counts. */
const answered: Reader = (payload, now) => {
  const usage = fieldAt(payload, 'llm_response', 'usageMetadata');
  const answers = { kind: 'model_answers' } as const;
  const candidates = fieldAt(payload, 'llm_response', 'candidates');
  const isLast = Array.isArray(candidates) && candidates.some((one) => textAt(one, 'finishReason') !== null);
  if (!isLast || fieldAt(usage, 'promptTokenCount') === undefined) return [answers];
  const prompt = countAt(usage, 'promptTokenCount');
  const cached = Math.min(prompt, countAt(usage, 'cachedContentTokenCount'));
  const tokens = {
    model: textAt(payload, 'llm_request', 'model'),
    input_tokens: prompt - cached,
    cache_read_tokens: cached,
    cache_write_tokens: 0,
    output_tokens: countAt(usage, 'candidatesTokenCount') + countAt(usage, 'thoughtsTokenCount'),
  };
  const requestId = textAt(payload, 'timestamp') ?? `${now}`;
  return [
    answers,
    { kind: 'answer_counted', answer: { requestId, tokens, context: contextOf(tokens), costUsd: null } },
  ];
};

const notified: Reader = (payload, now) =>
  textAt(payload, 'notification_type') === 'ToolPermission'
    ? [
        {
          kind: 'wait_started',
          waiting: waiting('permission', textAt(payload, 'message'), now),
          call: null,
        },
      ]
    : [];

const installed: Readonly<Record<string, Reader>> = {
  SessionStart: sessionStarted,
  BeforeAgent: () => [{ kind: 'turn_started' }],
  BeforeTool: (payload, now) => [
    { kind: 'call_started', call: startedCall(callOf(payload), now), batch: null, asks: null },
  ],
  AfterTool: ended,
  Notification: notified,
  AfterAgent: () => [{ kind: 'turn_ended', wakes: false }],
  SessionEnd: sessionEnded,
};

/** Gemini CLI waits for a hook of these at every request, and at every piece of an answer: Vigil reads them, and does not ask for them. */
const costly: Readonly<Record<string, Reader>> = {
  AfterModel: answered,
  BeforeModel: () => [],
  BeforeToolSelection: () => [],
  // It is sent before every request, whether anything is compressed or not.
  PreCompress: () => [],
};

/** The events that Vigil requests from Gemini CLI. */
export const geminiEvents: readonly string[] = Object.keys(installed);

export const geminiEventsOf = eventsBy({ ...installed, ...costly });
