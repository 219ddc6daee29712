import type { ToolCall } from '@vigil/events';
import type { HookPayload } from '../adapter.ts';
import type { SessionFact } from '../session/events.ts';
import { type CallEnd, type ClientCall, callName, endedCall, startedCall, waiting } from '../shared/calls.ts';
import {
  eventsBy,
  type Reader,
  sessionEnded,
  sessionStarted,
  subagentEnded,
  subagentStarted,
} from '../shared/hook-events.ts';
import { at as fieldAt, listAt, numberAt, textAt } from '../shared/payload.ts';
import { turnFailed } from './failure.ts';
import { notified } from './notifications.ts';
import { endInBatch } from './results.ts';
import { askedBy, claudeCall, errorClassOf, waitOf } from './tools.ts';

const callOf = (payload: unknown): ClientCall =>
  claudeCall(textAt(payload, 'tool_use_id'), textAt(payload, 'tool_name'), fieldAt(payload, 'tool_input'));

const started: Reader = (payload, now) => {
  const call = callOf(payload);
  return [{ kind: 'call_started', call: startedCall(call, now), batch: null, asks: waitOf(call, now) }];
};

const ended = (payload: HookPayload, end: CallEnd, now: number): readonly SessionFact[] => {
  const call = callOf(payload);
  return [
    {
      kind: 'call_ended',
      call: endedCall(call, end, now, numberAt(payload, 'duration_ms')),
      name: callName(call),
    },
  ];
};

const succeeded: Reader = (payload, now) => {
  const result = fieldAt(payload, 'tool_response');
  if (fieldAt(result, 'interrupted') === true)
    return ended(payload, { outcome: 'error', result, errorClass: 'aborted' }, now);
  return ended(payload, { outcome: 'ok', result }, now);
};

const failed: Reader = (payload, now) => {
  const result = textAt(payload, 'error') ?? '';
  const isInterrupt = fieldAt(payload, 'is_interrupt') === true;
  const errorClass = errorClassOf(callOf(payload).tool, result, isInterrupt);
  return ended(payload, { outcome: 'error', result, errorClass }, now);
};

const batchEnded: Reader = (payload, now) => {
  const calls = listAt(payload, 'tool_calls').flatMap((one): ToolCall[] => {
    const call = callOf(one);
    if (call.callId === null) return [];
    return [endedCall(call, endInBatch(call.tool, fieldAt(one, 'tool_response')), now, null)];
  });
  return [{ kind: 'batch_ended', calls }];
};

const asked: Reader = (payload, now) => {
  const call = callOf(payload);
  const question = askedBy(call.tool, call.args) ?? { kind: 'permission', text: call.tool };
  return [{ kind: 'wait_started', waiting: waiting(question.kind, question.text, now), call: callName(call) }];
};

/** Something of its own will wake the session. */
const wakes = (payload: HookPayload): boolean =>
  listAt(payload, 'background_tasks').length > 0 || listAt(payload, 'session_crons').length > 0;

const failedTurn: Reader = (payload, now) => {
  const text = `${textAt(payload, 'error_details') ?? ''} ${textAt(payload, 'last_assistant_message') ?? ''}`;
  return [turnFailed(textAt(payload, 'error') ?? 'unknown', text, now)];
};

const readers: Readonly<Record<string, Reader>> = {
  SessionStart: sessionStarted,
  UserPromptSubmit: () => [{ kind: 'turn_started' }],
  PreToolUse: started,
  PostToolUse: succeeded,
  PostToolUseFailure: failed,
  PostToolBatch: batchEnded,
  PermissionRequest: asked,
  PermissionDenied: (payload) => [{ kind: 'call_refused', call: callName(callOf(payload)) }],
  Notification: notified,
  Elicitation: (payload, now) => [
    { kind: 'wait_started', waiting: waiting('question', textAt(payload, 'message'), now), call: null },
  ],
  ElicitationResult: () => [{ kind: 'wait_ended' }],
  Stop: (payload) => [{ kind: 'turn_ended', wakes: wakes(payload) }],
  StopFailure: failedTurn,
  SubagentStart: subagentStarted,
  SubagentStop: subagentEnded,
  PreCompact: () => [{ kind: 'phase_changed', phase: 'compacting' }],
  PostCompact: () => [{ kind: 'phase_changed', phase: 'working' }],
  SessionEnd: sessionEnded,
};

/** The events that Vigil requests from Claude Code. */
export const claudeEvents: readonly string[] = Object.keys(readers);

export const claudeEventsOf = eventsBy(readers);
