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
      questions: [],
    });
    const event = { hookEventName: 'PermissionRequest' };
    expect(output(hooks.decision(permission, { choice: 'allow', answers: [], why }))).toEqual({
      ...event,
      decision: { behavior: 'allow' },
    });
    expect(output(hooks.decision(permission, { choice: 'deny', answers: [], why }))).toEqual({
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
    questions: [
      {
        ...{ name: 'Database', header: 'Database', text: 'Which database shall I use?', isMultiple: false },
        options: [
          { label: 'Postgres', description: 'solid', preview: null },
          { label: 'SQLite', description: null, preview: null },
        ],
      },
    ],
  });
  const updatedInput = { ...input, answers: { 'Which database shall I use?': 'SQLite' } };
  expect(output(claudeHooks.decision(question('PreToolUse'), { choice: '2', answers: [], why }))).toEqual({
    ...{ hookEventName: 'PreToolUse', permissionDecision: 'allow', permissionDecisionReason: why, updatedInput },
  });
  expect(output(claudeHooks.decision(question('PermissionRequest'), { choice: '2', answers: [], why }))).toEqual({
    ...{ hookEventName: 'PermissionRequest', decision: { behavior: 'allow', updatedInput } },
  });
});

const FEATURES = {
  ...{ question: 'Which features?', header: 'Features', multiSelect: true },
  options: [{ label: 'Login' }, { label: 'Search, and more', preview: 'a\n b\u0007' }],
};
const two = { questions: [...input.questions, FEATURES] };

test('several questions are one request without choices, and several labels may answer one', () => {
  const asked = claudeHooks.requestOf(question('PreToolUse', two), HEADLESS);
  expect(asked).toMatchObject({
    ...{ kind: 'question', choices: [], text: 'Database: Which database shall I use? Features: Which features?' },
    questions: [{ name: 'Database' }, { name: 'Features', isMultiple: true }],
  });
  expect(asked?.questions[1]?.options[1]?.preview).toBe('a\n b ');
  const multiple = claudeHooks.requestOf(question('PreToolUse', { questions: [FEATURES] }), HEADLESS);
  expect(multiple).toMatchObject({ choices: [], text: 'Which features?', questions: [{ name: 'Features' }] });
});

test('each question gets its labels and the words of the person, joined as the client joins them', () => {
  const answers = [
    { question: 'Features', labels: ['Login', 'Search, and more'], text: 'a cache' },
    { question: 'Database', labels: [], text: 'DuckDB' },
  ];
  for (const event of ['PreToolUse', 'PermissionRequest']) {
    const decided = output(claudeHooks.decision(question(event, two), { choice: '', answers, why }));
    expect((decided.decision ?? decided).updatedInput).toEqual({
      ...two,
      answers: {
        'Which database shall I use?': 'DuckDB',
        'Which features?': 'Login, "Search, and more", a cache',
      },
    });
  }
});

test('a long label is cut for people, and the client gets all of it', () => {
  const label = `${'x'.repeat(300)} end`;
  const payload = question('PreToolUse', { questions: [{ ...FEATURES, options: [{ label }, { label: 'Login' }] }] });
  const shown = claudeHooks.requestOf(payload, HEADLESS)?.questions[0]?.options[0]?.label ?? '';
  expect(shown).toHaveLength(200);
  const answers = [{ question: 'Features', labels: [shown], text: null }];
  const decided = output(claudeHooks.decision(payload, { choice: '', answers, why }));
  expect(decided.updatedInput.answers).toEqual({ 'Which features?': label });
});

test('questions without headers of their own are named by their number', () => {
  const [first] = input.questions;
  const namesWith = (headers: readonly (string | undefined)[]) => {
    const questions = headers.map((header, index) => ({ ...first, question: `Which ${index}?`, header }));
    return claudeHooks.requestOf(question('PreToolUse', { questions }), HEADLESS)?.questions.map(({ name }) => name);
  };
  expect(namesWith(['Auth method', 'Größe'])).toEqual(['Auth method', 'Größe']);
  for (const headers of [
    ['A', 'A'],
    ['A', undefined],
    ['A', 'a=b'],
    ['A', '--help'],
  ])
    expect(namesWith(headers)).toEqual(['question-1', 'question-2']);
});

test('what is not understood, and a plan, are left to the client', () => {
  const [one] = input.questions;
  const isAsked = (questions: readonly unknown[]) =>
    claudeHooks.requestOf(question('PreToolUse', { questions }), HEADLESS) !== null;
  expect(isAsked([])).toBe(false);
  expect(isAsked([one, one]), 'the same text twice').toBe(false);
  expect(isAsked([one, { ...FEATURES, options: [] }])).toBe(false);
  expect(isAsked([one, { ...FEATURES, options: [{ label: 'x' }, { label: 'x' }] }])).toBe(false);
  expect(isAsked([one, { ...FEATURES, kind: 'number', options: [] }])).toBe(false);
  expect(isAsked(Array.from({ length: 5 }, (_, index) => ({ ...one, question: `${index}?` })))).toBe(false);
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
