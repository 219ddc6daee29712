// Generated from packages/adapters/src/claude-code/events.ts by `npm run generate`: for Node 18, which reads no TypeScript.
import {                                callName, endedCall, startedCall, waiting } from '../shared/calls.mjs';
import {
  eventsBy,
  sessionEnded,
  sessionStarted,
  subagentEnded,
  subagentStarted,
} from '../shared/hook-events.mjs';
import { at as fieldAt, listAt, numberAt, textAt } from '../shared/payload.mjs';
import { turnFailed } from './failure.mjs';
import { notified } from './notifications.mjs';
import { endInBatch } from './results.mjs';
import { askedBy, claudeCall, errorClassOf, waitOf } from './tools.mjs';
const callOf = (payload         )             =>
  claudeCall(textAt(payload, 'tool_use_id'), textAt(payload, 'tool_name'), fieldAt(payload, 'tool_input'));
const started         = (payload, now) => {
  const call = callOf(payload);
  return [{ kind: 'call_started', call: startedCall(call, now), batch: null, asks: waitOf(call, now) }];
};
const ended = (payload             , end         , now        )                         => {
  const call = callOf(payload);
  return [
    {
      kind: 'call_ended',
      call: endedCall(call, end, now, numberAt(payload, 'duration_ms')),
      name: callName(call),
    },
  ];
};
const succeeded         = (payload, now) => {
  const result = fieldAt(payload, 'tool_response');
  if (fieldAt(result, 'interrupted') === true)
    return ended(payload, { outcome: 'error', result, errorClass: 'aborted' }, now);
  return ended(payload, { outcome: 'ok', result }, now);
};
const failed         = (payload, now) => {
  const result = textAt(payload, 'error') ?? '';
  const isInterrupt = fieldAt(payload, 'is_interrupt') === true;
  const errorClass = errorClassOf(callOf(payload).tool, result, isInterrupt);
  return ended(payload, { outcome: 'error', result, errorClass }, now);
};
const batchEnded         = (payload, now) => {
  const calls = listAt(payload, 'tool_calls').flatMap((one)             => {
    const call = callOf(one);
    if (call.callId === null) return [];
    return [endedCall(call, endInBatch(call.tool, fieldAt(one, 'tool_response')), now, null)];
  });
  return [{ kind: 'batch_ended', calls }];
};
const asked         = (payload, now) => {
  const call = callOf(payload);
  const question = askedBy(call.tool, call.args) ?? { kind: 'permission', text: call.tool };
  return [{ kind: 'wait_started', waiting: waiting(question.kind, question.text, now), call: callName(call) }];
};
/** Something of its own will wake the session. */
const wakes = (payload             )          =>
  listAt(payload, 'background_tasks').length > 0 || listAt(payload, 'session_crons').length > 0;
const failedTurn         = (payload, now) => {
  const text = `${textAt(payload, 'error_details') ?? ''} ${textAt(payload, 'last_assistant_message') ?? ''}`;
  return [turnFailed(textAt(payload, 'error') ?? 'unknown', text, now)];
};
const readers                                   = {
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
/** The events that Vigil asks Claude Code for. */
export const claudeEvents                    = Object.keys(readers);
export const claudeEventsOf = eventsBy(readers);
