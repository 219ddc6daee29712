import type { ToolCall } from '@vigil/events';
import type { HookAdapter, HookPayload, Transcript } from '../adapter.ts';
import { callStarted, type SessionFact } from '../session/events.ts';
import {
  type CallEnd,
  type ClientCall,
  callName,
  endedCall,
  endOfCall,
  startedCall,
  waitStarted,
} from '../shared/calls.ts';
import { commonReaders, deniedPermission, hooksBy, type Reader, type Readers } from '../shared/hooks.ts';
import { at, listAt, numberAt, textAt } from '../shared/payload.ts';
import { turnFailed } from './failure.ts';
import { notified } from './notifications.ts';
import { claudeDecision, claudeRequest } from './requests.ts';
import { askedBy, claudeCall, endInBatch, errorClassOf, waitOf } from './tools.ts';

const callOf = (payload: unknown): ClientCall =>
  claudeCall(textAt(payload, 'tool_use_id'), textAt(payload, 'tool_name'), at(payload, 'tool_input'));

const started: Reader = (payload, now) => {
  const call = callOf(payload);
  return [callStarted(startedCall(call, now), null, waitOf(call, now))];
};

const ended = (payload: HookPayload, end: CallEnd, now: number): readonly SessionFact[] => {
  const call = callOf(payload);
  return [endOfCall(call, end, now, numberAt(payload, 'duration_ms'))];
};

const succeeded: Reader = (payload, now) => {
  const result = at(payload, 'tool_response');
  if (at(result, 'interrupted') === true)
    return ended(payload, { outcome: 'error', result, errorClass: 'aborted' }, now);
  return ended(payload, { outcome: 'ok', result }, now);
};

const failed: Reader = (payload, now) => {
  const result = textAt(payload, 'error') ?? '';
  const isInterrupt = at(payload, 'is_interrupt') === true;
  const errorClass = errorClassOf(callOf(payload).tool, result, isInterrupt);
  return ended(payload, { outcome: 'error', result, errorClass }, now);
};

const batchEnded: Reader = (payload, now) => {
  const calls = listAt(payload, 'tool_calls').flatMap((one): ToolCall[] => {
    const call = callOf(one);
    if (call.callId === null) return [];
    return [endedCall(call, endInBatch(call.tool, at(one, 'tool_response')), now, null)];
  });
  return [{ kind: 'batch_ended', calls }];
};

const asked: Reader = (payload, now) => {
  const call = callOf(payload);
  const question = askedBy(call.tool, call.args) ?? { kind: 'permission', text: call.tool };
  return [waitStarted(question.kind, question.text, now, callName(call))];
};

/** Whether a background task or a timer will wake the session. */
const wakes = (payload: HookPayload): boolean =>
  listAt(payload, 'background_tasks').length > 0 || listAt(payload, 'session_crons').length > 0;

const failedTurn: Reader = (payload, now) => {
  const text = `${textAt(payload, 'error_details') ?? ''} ${textAt(payload, 'last_assistant_message') ?? ''}`;
  return [turnFailed(textAt(payload, 'error') ?? 'unknown', text, now)];
};

/** The events that Vigil requests from Claude Code. */
const readers: Readers = {
  ...commonReaders,
  PreToolUse: started,
  PostToolUse: succeeded,
  PostToolUseFailure: failed,
  PostToolBatch: batchEnded,
  PermissionRequest: asked,
  PermissionDenied: (payload) => [{ kind: 'call_refused', call: callName(callOf(payload)) }],
  Notification: notified,
  Elicitation: (payload, now) => [waitStarted('question', textAt(payload, 'message'), now, null)],
  ElicitationResult: () => [{ kind: 'wait_ended' }],
  Stop: (payload) => [{ kind: 'turn_ended', wakes: wakes(payload) }],
  StopFailure: failedTurn,
};

/** A sub-agent has a file beside that of its session. */
const transcriptsOf = (payload: HookPayload): readonly Transcript[] => {
  const path = textAt(payload, 'transcript_path');
  if (path === null) return [];
  const agent = textAt(payload, 'agent_id');
  if (agent === null) return [{ path, agent: null }];
  const beside = `${path.replace(/\.jsonl$/, '')}/subagents/agent-${agent}.jsonl`;
  return [
    { path, agent: null },
    { path: textAt(payload, 'agent_transcript_path') ?? beside, agent },
  ];
};

/** https://code.claude.com/docs/en/hooks */
export const claudeHooks: HookAdapter = {
  ...hooksBy(readers, {
    takesContext: new Set(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch']),
    turnEnd: 'Stop',
    callStart: 'PreToolUse',
    refusal: deniedPermission,
    continuation: 'block',
  }),
  requestOf: claudeRequest,
  decision: claudeDecision,
  transcriptsOf,
  reportsLimits: true,
};
