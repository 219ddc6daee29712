import type { Decision, Environment, HookPayload, HookRequest } from '../adapter.ts';
import { forPeople } from '../shared/described.ts';
import { permissionDecision, permissionOf } from '../shared/hooks.ts';
import { at, isFields, listAt, textAt } from '../shared/payload.ts';

/** The value of CLAUDE_CODE_ENTRYPOINT in a session at a terminal. */
const AT_TERMINAL = 'cli';
const LONGEST_LABEL = 200;
const MOST_CHOICES = 10;

/** One question with one answer; several, or several answers to one, are left to the client's own dialog. */
const questionOf = (payload: HookPayload): HookRequest | null => {
  const [question, ...others] = listAt(payload, 'tool_input', 'questions');
  const asked = textAt(question, 'question');
  const labels = listAt(question, 'options').flatMap((one) => textAt(one, 'label') ?? []);
  const isOne = others.length === 0 && at(question, 'multiSelect') !== true;
  if (asked === null || !isOne || labels.length === 0 || labels.length > MOST_CHOICES) return null;
  const choices = labels.map((label, index) => ({ name: String(index + 1), label: label.slice(0, LONGEST_LABEL) }));
  return { kind: 'question', tool: 'AskUserQuestion', text: forPeople(asked), choices };
};

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
  return event === (isDialog ? 'PermissionRequest' : 'PreToolUse') ? questionOf(payload) : null;
};

/** The input of AskUserQuestion with the chosen answer. */
const answeredInput = (payload: HookPayload, choice: string): object => {
  const input = at(payload, 'tool_input');
  const [question] = listAt(input, 'questions');
  const option = listAt(question, 'options')[Number(choice) - 1];
  return {
    ...(isFields(input) ? input : {}),
    answers: { [textAt(question, 'question') ?? '']: textAt(option, 'label') },
  };
};

export const claudeDecision = (payload: HookPayload, decision: Decision): string => {
  if (textAt(payload, 'tool_name') !== 'AskUserQuestion') return JSON.stringify(permissionDecision(decision));
  const { choice, why } = decision;
  const updatedInput = answeredInput(payload, choice);
  const output =
    textAt(payload, 'hook_event_name') === 'PermissionRequest'
      ? { hookEventName: 'PermissionRequest', decision: { behavior: 'allow', updatedInput } }
      : { hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: why, updatedInput };
  return JSON.stringify({ hookSpecificOutput: output });
};
