import type { HookPayload } from '../adapter.ts';
import { type CallEnd, type ClientCall, callName, endedCall, startedCall, waiting } from '../shared/calls.ts';
import {
  eventsBy,
  type Reader,
  sessionEnded,
  sessionStarted,
  subagentEnded,
  subagentStarted,
} from '../shared/hook-events.ts';
import { at as fieldAt, isFields, textAt } from '../shared/payload.ts';
import { codexCall, exitCodeOf } from './tools.ts';

const callOf = (payload: HookPayload): ClientCall =>
  codexCall(textAt(payload, 'tool_use_id'), textAt(payload, 'tool_name'), fieldAt(payload, 'tool_input'));

/** Codex has no event for a call that failed: of a command, its output may state the exit code, and the session file does. */
export const endOf = (result: unknown): CallEnd => {
  const exitCode = exitCodeOf(result);
  return exitCode === null || exitCode === 0
    ? { outcome: 'ok', result }
    : { outcome: 'error', result, errorClass: `exit_${exitCode}` };
};

const ended: Reader = (payload, now) => {
  const call = callOf(payload);
  const result = fieldAt(payload, 'tool_response');
  const ended = { kind: 'call_ended', call: endedCall(call, endOf(result), now, null), name: callName(call) } as const;
  return [call.tool === 'Bash' && exitCodeOf(result) === null ? { ...ended, isOutcomeInFile: true } : ended];
};

/** The request for a permission names no call, and adds the reason to the arguments. */
const asked: Reader = (payload, now) => {
  const call = callOf(payload);
  const { description: reason, ...args } = isFields(call.args) ? call.args : { description: null };
  const text = typeof reason === 'string' && reason !== '' ? `${call.tool}: ${reason}` : call.tool;
  const name = callName({ ...call, args });
  return [{ kind: 'wait_started', waiting: waiting('permission', text, now), call: name }];
};

const readers: Readonly<Record<string, Reader>> = {
  SessionStart: sessionStarted,
  UserPromptSubmit: () => [{ kind: 'turn_started' }],
  PreToolUse: (payload, now) => [
    { kind: 'call_started', call: startedCall(callOf(payload), now), batch: null, asks: null },
  ],
  PostToolUse: ended,
  PermissionRequest: asked,
  Stop: () => [{ kind: 'turn_ended', wakes: false }],
  Interrupt: () => [{ kind: 'turn_interrupted' }],
  SubagentStart: subagentStarted,
  SubagentStop: subagentEnded,
  PreCompact: () => [{ kind: 'phase_changed', phase: 'compacting' }],
  PostCompact: () => [{ kind: 'phase_changed', phase: 'working' }],
  SessionEnd: sessionEnded,
};

/** The events that Vigil requests from Codex. */
export const codexEvents: readonly string[] = Object.keys(readers);

export const codexEventsOf = eventsBy(readers);
