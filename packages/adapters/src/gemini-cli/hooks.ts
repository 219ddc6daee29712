import type { HookAdapter, HookPayload } from '../adapter.ts';
import { callStarted } from '../session/events.ts';
import { type ClientCall, endOfCall, startedCall, waitStarted } from '../shared/calls.ts';
import { eventsBy, hooksBy, type Reader, type Readers, sessionEnded, sessionStarted } from '../shared/hooks.ts';
import { at, countAt, textAt } from '../shared/payload.ts';
import { contextOf, endOf, geminiCall } from './tools.ts';

const callOf = (payload: HookPayload): ClientCall =>
  geminiCall(null, textAt(payload, 'tool_name'), at(payload, 'tool_input'));

const ended: Reader = (payload, now) => {
  const call = callOf(payload);
  return [endOfCall(call, endOf(at(payload, 'tool_response')), now, null)];
};

/** One piece of an answer; the last one has the counts. */
const answered: Reader = (payload, now) => {
  const usage = at(payload, 'llm_response', 'usageMetadata');
  const answers = { kind: 'model_answers' } as const;
  const candidates = at(payload, 'llm_response', 'candidates');
  const isLast = Array.isArray(candidates) && candidates.some((one) => textAt(one, 'finishReason') !== null);
  if (!isLast || at(usage, 'promptTokenCount') === undefined) return [answers];
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
    ? [waitStarted('permission', textAt(payload, 'message'), now, null)]
    : [];

/** The events that Vigil requests from Gemini CLI. */
const requested: Readers = {
  SessionStart: sessionStarted,
  BeforeAgent: () => [{ kind: 'turn_started' }],
  BeforeTool: (payload, now) => [callStarted(startedCall(callOf(payload), now), null, null)],
  AfterTool: ended,
  Notification: notified,
  AfterAgent: () => [{ kind: 'turn_ended', wakes: false }],
  SessionEnd: sessionEnded,
};

/**
 * Events for which Gemini CLI waits at every request and every piece of an answer. Vigil reads them, but does not
 * request them.
 */
const costly: Readers = {
  AfterModel: answered,
  BeforeModel: () => [],
  BeforeToolSelection: () => [],
  // It is sent before every request, even if nothing is compressed.
  PreCompress: () => [],
};

/** https://geminicli.com/docs/hooks/reference */
export const geminiHooks: HookAdapter = {
  ...hooksBy(requested, {
    takesContext: new Set(['SessionStart', 'BeforeAgent', 'AfterTool']),
    turnEnd: 'AfterAgent',
    callStart: 'BeforeTool',
    refusal: (_, reason) => ({ decision: 'deny', reason }),
    continuation: 'deny',
  }),
  eventsOf: eventsBy({ ...requested, ...costly }),
  // Its hooks cannot answer a permission.
  requestOf: () => null,
  decision: () => '{}',
  transcriptsOf: (payload) => {
    const path = textAt(payload, 'transcript_path');
    return path === null ? [] : [{ path, agent: null }];
  },
  reportsLimits: false,
};
