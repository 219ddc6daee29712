import { expect, test } from 'vitest';
import { codexHooks } from '../codex/hooks.ts';
import { recordedRuns } from '../recordings.fixture.ts';
import { claudeHooks } from './hooks.ts';

const TERMINAL = { CLAUDE_CODE_ENTRYPOINT: 'cli' };
const HEADLESS = { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' };
const input = {
  questions: [
    {
      question: 'Which database shall I use?',
      header: 'Database',
      options: [{ label: 'Postgres', description: 'solid' }, { label: 'SQLite' }],
      multiSelect: false,
    },
  ],
};
const question = (event: string, more: object = {}) => ({
  ...{ session_id: 's', hook_event_name: event, tool_name: 'AskUserQuestion', tool_input: { ...input, ...more } },
});
const permission = { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command: 'rm -rf x' } };
const output = (text: string) => JSON.parse(text).hookSpecificOutput;
const why = 'ada: go on';

test('a permission has two choices, and its decision is what the clients document', () => {
  for (const hooks of [claudeHooks, codexHooks]) {
    expect(hooks.requestOf(permission, HEADLESS)).toEqual({
      ...{ kind: 'permission', tool: 'Bash', text: 'Bash: rm -rf x' },
      choices: [
        { name: 'allow', label: 'Allow' },
        { name: 'deny', label: 'Deny' },
      ],
    });
    const event = { hookEventName: 'PermissionRequest' };
    expect(output(hooks.decision(permission, { choice: 'allow', why }))).toEqual({
      ...event,
      decision: { behavior: 'allow' },
    });
    expect(output(hooks.decision(permission, { choice: 'deny', why }))).toEqual({
      ...event,
      decision: { behavior: 'deny', message: why },
    });
  }
});

test('a question is asked once: with the dialog at a terminal, and when the call begins where no dialog follows', () => {
  const asks = (event: string, env: typeof TERMINAL | null) => claudeHooks.requestOf(question(event), env) !== null;
  expect([asks('PreToolUse', TERMINAL), asks('PermissionRequest', TERMINAL)]).toEqual([false, true]);
  expect([asks('PreToolUse', HEADLESS), asks('PermissionRequest', HEADLESS)]).toEqual([true, false]);
  expect([asks('PreToolUse', null), asks('PermissionRequest', null)]).toEqual([false, true]);
});

test('the answer to a question is its input with the chosen label', () => {
  const asked = claudeHooks.requestOf(question('PreToolUse'), HEADLESS);
  expect(asked).toMatchObject({
    ...{ kind: 'question', text: 'Which database shall I use?' },
    choices: [
      { name: '1', label: 'Postgres' },
      { name: '2', label: 'SQLite' },
    ],
  });
  const updatedInput = { ...input, answers: { 'Which database shall I use?': 'SQLite' } };
  expect(output(claudeHooks.decision(question('PreToolUse'), { choice: '2', why }))).toEqual({
    ...{ hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: why, updatedInput },
  });
  expect(output(claudeHooks.decision(question('PermissionRequest'), { choice: '2', why }))).toEqual({
    ...{ hookEventName: 'PermissionRequest', decision: { behavior: 'allow', updatedInput } },
  });
});

test('several questions, several answers to one, and a plan are left to the client', () => {
  const [one] = input.questions;
  expect(claudeHooks.requestOf(question('PreToolUse', { questions: [one, one] }), HEADLESS)).toBeNull();
  expect(
    claudeHooks.requestOf(question('PreToolUse', { questions: [{ ...one, multiSelect: true }] }), HEADLESS),
  ).toBeNull();
  expect(claudeHooks.requestOf(question('PreToolUse', { questions: [] }), HEADLESS)).toBeNull();
  expect(claudeHooks.requestOf({ ...permission, tool_name: 'ExitPlanMode' }, TERMINAL)).toBeNull();
});

test('of the recorded events, only permission requests and questions wait for people', () => {
  for (const [client, hooks] of [['claude-code', claudeHooks] as const, ['codex', codexHooks] as const]) {
    const payloads = [...recordedRuns(client).values()].flat().map(({ payload }) => payload);
    const asking = payloads.filter((payload) => hooks.requestOf(payload, TERMINAL) !== null);
    expect(asking.length).toBeGreaterThan(0);
    expect(new Set(asking.map(({ hook_event_name }) => hook_event_name))).toEqual(new Set(['PermissionRequest']));
  }
});
