import { describe, expect, test } from 'vitest';
import { newSession, observe, type SessionEvent } from '../session/session.ts';
import { claudeHooks } from './hooks.ts';
import { claudeNotifications } from './notifications.ts';

const SESSION = { session_id: 's', transcript_path: '', cwd: '/' };
const CALL = { tool_name: 'Bash', tool_use_id: 'c1', tool_input: { command: 'ls' } };

type Hook = { readonly hook_event_name: string; readonly [field: string]: unknown };

const notification = (type: string | null, message = 'Claude needs you'): Hook => ({
  hook_event_name: 'Notification',
  message,
  ...(type === null ? {} : { notification_type: type }),
});
const prompt: Hook = { hook_event_name: 'UserPromptSubmit' };
const stop: Hook = { hook_event_name: 'Stop' };
const started: Hook = { hook_event_name: 'PreToolUse', ...CALL };
const ended: Hook = { hook_event_name: 'PostToolUse', ...CALL, tool_response: { stdout: '' } };
const limited: Hook = { hook_event_name: 'StopFailure', error: 'rate_limit' };

/** The reports of a session after its hooks, a second apart. */
const after = (...hooks: readonly Hook[]) => {
  const events = hooks.flatMap((hook, index): readonly SessionEvent[] =>
    claudeHooks.eventsOf({ ...SESSION, ...hook }, 1000 * (index + 1)),
  );
  let session = newSession;
  let fields: Readonly<Record<string, unknown>> = {};
  for (const event of events) {
    const observed = observe(session, event);
    session = observed.session;
    fields = observed.reports.at(-1)?.fields ?? fields;
  }
  return fields;
};

const WAITS: Readonly<Record<string, string>> = {
  permission_prompt: 'permission',
  worker_permission_prompt: 'permission',
  elicitation_dialog: 'question',
  elicitation_url_dialog: 'question',
  agent_needs_input: 'dialog',
  auth_storage_failure: 'dialog',
  quota_auto_resume_stale: 'dialog',
  quota_auto_resume_disabled: 'dialog',
};
const ENDS = ['elicitation_complete', 'elicitation_response', 'auth_success', 'quota_auto_resume_fired'];
const NOTHING = [
  ...['agent_completed', 'computer_use_enter', 'computer_use_exit'],
  ...['model_refusal_fallback', 'push_notification', 'plugin_notification'],
];

test('every type that Claude Code names has a reading', () => {
  expect([...claudeNotifications].sort()).toEqual([...Object.keys(WAITS), ...ENDS, ...NOTHING, 'idle_prompt'].sort());
});

describe.each(Object.entries(WAITS))('%s', (type, kind) => {
  test('waits for a person, with the question', () => {
    expect(after(prompt, notification(type))).toMatchObject({
      activity: 'awaiting_input',
      waiting_for: { kind, text: 'Claude needs you' },
    });
  });

  test('ends with the next turn, and with the call that it was about', () => {
    expect(after(prompt, notification(type), prompt)).toMatchObject({ activity: 'working', waiting_for: null });
    expect(after(prompt, started, notification(type), ended)).toMatchObject({ activity: 'working', waiting_for: null });
  });

  test('of a limit that has ended a turn does not count as another limit', () => {
    expect(after(prompt, limited)).toMatchObject({ activity: 'rate_limited' });
    expect(after(prompt, limited, notification(type))).toMatchObject({ activity: 'awaiting_input' });
  });
});

test.each(ENDS)('%s ends the question to a person, but no turn and no call', (type) => {
  const asked = notification('elicitation_dialog');
  expect(after(prompt, started, asked)).toMatchObject({ activity: 'awaiting_input' });
  expect(after(prompt, started, asked, notification(type))).toMatchObject({
    activity: 'working',
    waiting_for: null,
    turn: { open: true },
  });
});

test('a limit that is over ends with the next turn of the session', () => {
  const resumed = notification('quota_auto_resume_fired');
  expect(after(prompt, limited, resumed, prompt)).toMatchObject({ activity: 'working', turn: { open: true } });
});

test.each([...NOTHING, 'a_type_of_a_later_version'])('%s changes nothing', (type) => {
  expect(after(prompt, started, notification(type))).toEqual(after(prompt, started));
  expect(after(prompt, stop, notification(type))).toEqual(after(prompt, stop));
  const asked = notification('permission_prompt');
  expect(after(prompt, started, asked, notification(type))).toEqual(after(prompt, started, asked));
});

test('idle_prompt: the client is at its prompt, and an open turn has ended without a report', () => {
  expect(after(prompt, notification('idle_prompt'))).toMatchObject({
    activity: 'awaiting_input',
    waiting_for: { kind: 'prompt' },
    turn: { open: false },
  });
});

test('a notification without a type is classified by its text', () => {
  expect(after(prompt, notification(null, 'Claude is waiting for your input'))).toMatchObject({
    turn: { open: false },
  });
  expect(after(prompt, notification(null, 'Claude needs your permission to use Bash'))).toMatchObject({
    waiting_for: { kind: 'permission' },
    turn: { open: true },
  });
});
