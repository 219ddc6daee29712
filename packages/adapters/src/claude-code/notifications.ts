import type { WaitKind } from '@vigil/events';
import type { SessionFact } from '../session/events.ts';
import { waitStarted } from '../shared/calls.ts';
import type { Reader } from '../shared/hooks.ts';
import { textAt } from '../shared/payload.ts';

type Reading = (message: string | null, now: number) => readonly SessionFact[];

const waitsFor =
  (kind: WaitKind): Reading =>
  (message, now) => [waitStarted(kind, message, now, null)];

const atPrompt: Reading = () => [{ kind: 'at_prompt' }];
const answered: Reading = () => [{ kind: 'wait_ended' }];
/** The notification does not change the session's state. */
const nothing: Reading = () => [];

/** Every type of notification in the settings and the code of Claude Code 2.1.330. */
const READINGS = {
  idle_prompt: atPrompt,
  permission_prompt: waitsFor('permission'),
  // a teammate's request, which the session of its leader shows
  worker_permission_prompt: waitsFor('permission'),
  elicitation_dialog: waitsFor('question'),
  elicitation_url_dialog: waitsFor('question'),
  elicitation_complete: answered,
  elicitation_response: answered,
  agent_needs_input: waitsFor('dialog'),
  // another session has finished
  agent_completed: nothing,
  auth_success: answered,
  // the login is in the state "needs attention"
  auth_storage_failure: waitsFor('dialog'),
  // the limit is over and the client continues; the events of its next turn report that
  quota_auto_resume_fired: answered,
  // the limit is over, and a person has to press Enter
  quota_auto_resume_stale: waitsFor('dialog'),
  // the task does not continue by itself
  quota_auto_resume_disabled: waitsFor('dialog'),
  computer_use_enter: nothing,
  computer_use_exit: nothing,
  // the turn continues with another model
  model_refusal_fallback: nothing,
  push_notification: nothing,
  plugin_notification: nothing,
} as const satisfies Readonly<Record<string, Reading>>;

export const claudeNotifications: readonly string[] = Object.keys(READINGS);

const isNamed = (type: string): type is keyof typeof READINGS => Object.hasOwn(READINGS, type);

/** Early versions name no type. */
const untyped: Reading = (message, now) =>
  /waiting for your input/i.test(message ?? '') ? atPrompt(message, now) : waitsFor('permission')(message, now);

export const notified: Reader = (payload, now) => {
  const message = textAt(payload, 'message');
  const type = textAt(payload, 'notification_type');
  if (type === null) return untyped(message, now);
  return isNamed(type) ? READINGS[type](message, now) : [];
};
