import type { Decision, Environment, HookPayload, HookRequest } from '../adapter.ts';
import { permissionDecision, permissionOf } from '../shared/hooks.ts';
import { textAt } from '../shared/payload.ts';
import { answeredInput, questionRequest } from './questions.ts';

/** The value of CLAUDE_CODE_ENTRYPOINT in a session at a terminal. */
const AT_TERMINAL = 'cli';

/**
 * Permission requests, and the questions of AskUserQuestion. At a terminal the dialog is shown while the hook of
 * PermissionRequest runs. Without one no dialog follows, so the question is asked when its call begins.
 */
export const claudeRequest = (payload: HookPayload, env: Environment | null): HookRequest | null => {
  const event = textAt(payload, 'hook_event_name');
  const tool = textAt(payload, 'tool_name');
  if (tool === 'ExitPlanMode') return null;
  if (tool !== 'AskUserQuestion') return permissionOf(payload);
  const isDialog = env === null || env.CLAUDE_CODE_ENTRYPOINT === AT_TERMINAL;
  return event === (isDialog ? 'PermissionRequest' : 'PreToolUse') ? questionRequest(payload) : null;
};

export const claudeDecision = (payload: HookPayload, decision: Decision): string => {
  if (textAt(payload, 'tool_name') !== 'AskUserQuestion') return JSON.stringify(permissionDecision(decision));
  const updatedInput = answeredInput(payload, decision);
  const output =
    textAt(payload, 'hook_event_name') === 'PermissionRequest'
      ? { hookEventName: 'PermissionRequest', decision: { behavior: 'allow', updatedInput } }
      : {
          hookEventName: 'PreToolUse',
          permissionDecision: 'allow',
          permissionDecisionReason: decision.why,
          updatedInput,
        };
  return JSON.stringify({ hookSpecificOutput: output });
};
