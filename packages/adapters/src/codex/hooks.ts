import type { HookAdapter, HookPayload, Transcript } from '../adapter.ts';
import { callStarted } from '../session/events.ts';
import { type ClientCall, callName, endOfCall, endWith, exitClass, startedCall, waitStarted } from '../shared/calls.ts';
import {
  commonReaders,
  deniedPermission,
  hooksBy,
  permissionDecision,
  permissionOf,
  type Reader,
  type Readers,
} from '../shared/hooks.ts';
import { at, isFields, textAt } from '../shared/payload.ts';
import { codexCall, exitCodeOf } from './tools.ts';

const callOf = (payload: HookPayload): ClientCall =>
  codexCall(textAt(payload, 'tool_use_id'), textAt(payload, 'tool_name'), at(payload, 'tool_input'));

/**
 * Codex has no event for a failed call. The output of a command may state its exit code, and the session file always
 * does.
 */
const ended: Reader = (payload, now) => {
  const call = callOf(payload);
  const result = at(payload, 'tool_response');
  const exitCode = exitCodeOf(result);
  const ended = endOfCall(call, endWith(result, exitClass(exitCode)), now, null);
  return [call.tool === 'Bash' && exitCode === null ? { ...ended, isOutcomeInFile: true } : ended];
};

/** A permission request does not name its call, and adds the reason to the arguments. */
const asked: Reader = (payload, now) => {
  const call = callOf(payload);
  const { description: reason, ...args } = isFields(call.args) ? call.args : { description: null };
  const text = typeof reason === 'string' && reason !== '' ? `${call.tool}: ${reason}` : call.tool;
  return [waitStarted('permission', text, now, callName({ ...call, args }))];
};

/** The events that Vigil requests from Codex. */
const readers: Readers = {
  ...commonReaders,
  PreToolUse: (payload, now) => [callStarted(startedCall(callOf(payload), now), null, null)],
  PostToolUse: ended,
  PermissionRequest: asked,
  Stop: () => [{ kind: 'turn_ended', wakes: false }],
  Interrupt: () => [{ kind: 'turn_interrupted' }],
};

/**
 * The rollout of a sub-agent is a session of its own. Its own events name its file; the report of its end names both
 * files.
 */
const transcriptsOf = (payload: HookPayload): readonly Transcript[] => {
  const agent = textAt(payload, 'agent_id');
  const path = textAt(payload, 'agent_transcript_path') ?? textAt(payload, 'transcript_path');
  return path === null ? [] : [{ path, agent }];
};

/**
 * https://developers.openai.com/codex/hooks and the schemas in codex-rs/hooks/schema. Codex refuses an answer with a field outside its
 * schema, and continues as if the hook had failed.
 */
export const codexHooks: HookAdapter = {
  ...hooksBy(readers, {
    takesContext: new Set(['SessionStart', 'UserPromptSubmit', 'PostToolUse']),
    turnEnd: 'Stop',
    callStart: 'PreToolUse',
    refusal: deniedPermission,
    continuation: 'block',
  }),
  requestOf: permissionOf,
  decision: (_, decision) => JSON.stringify(permissionDecision(decision)),
  transcriptsOf,
  reportsLimits: true,
};
