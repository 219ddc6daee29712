import { expect, test } from 'vitest';
import { argsHash, maskedResultHash, resultHash } from '../hashes.ts';
import { examples } from './examples.fixture.ts';
import { readInput } from './input.ts';
import { EVENTS, reportOf } from './report.ts';

const NOW = 1_800_000_000_000;
const of = (fields: object, env = {}) => {
  const input = readInput(JSON.stringify(fields));
  return input === null ? null : reportOf(input, NOW, env);
};
const call = (fields: object, env = {}) => of(fields, env)?.said.tool_calls?.[0];
const { PreToolUse, PostToolUse, PostToolUseFailure, Notification, Stop } = examples;

test('every event that is asked for has an example, and the other way round', () => {
  expect([...EVENTS].sort()).toEqual(Object.keys(examples).sort());
});

test.each([
  ['SessionStart', { activity: 'idle', phase: 'session' }],
  ['UserPromptSubmit', { activity: 'working', phase: 'working' }],
  ['PreToolUse', { activity: 'working', phase: 'working' }],
  ['PostToolUse', { activity: 'working', phase: 'working' }],
  ['PostToolUseFailure', { activity: 'working', phase: 'working' }],
  ['Notification', { activity: 'awaiting_input' }],
  ['Stop', { activity: 'awaiting_input' }],
  ['StopFailure', { activity: 'rate_limited', rate_limit: { retry_at: null } }],
  ['SubagentStop', {}],
  ['PreCompact', { phase: 'compacting' }],
  ['SessionEnd', { activity: 'exiting', exit: { code: null, signal: null, reason: 'explicit' } }],
] as const)('%s says %j', (event, said) => {
  const { tool_calls: _, ...rest } = of(examples[event])?.said ?? {};
  expect(rest).toEqual(said);
});

test('a session with a task in hand is starting; one without is idle', () => {
  expect(of(examples.SessionStart, { VIGIL_TASK_ID: 'T-1' })?.said.activity).toBe('starting');
});

test('a session that goes on after a compaction does not become idle', () => {
  expect(of({ ...examples.SessionStart, source: 'compact' })?.said).toEqual({ phase: 'working' });
});

test('a call that begins is in flight until its own time limit', () => {
  expect(call(PreToolUse)).toEqual({
    call_id: 'toolu_01ABC123',
    kind: 'tool',
    tool: 'Bash',
    args_hash: argsHash(PreToolUse.tool_input),
    result_hash: null,
    masked_result_hash: null,
    outcome: 'running',
    error_class: null,
    started_at: NOW,
    ended_at: null,
    deadline_at: NOW + 300_000,
    mutating: false,
    polling: false,
    target: null,
  });
});

test('a shell command without a limit has Claude Code’s; other tools declare none', () => {
  const tool_input = { command: 'ls' };
  expect(call({ ...PreToolUse, tool_input })?.deadline_at).toBe(NOW + 120_000);
  expect(call({ ...PreToolUse, tool_input }, { BASH_DEFAULT_TIMEOUT_MS: '5000' })?.deadline_at).toBe(NOW + 5000);
  expect(call({ ...PreToolUse, tool_input: { timeout: 'soon' } })?.deadline_at).toBe(NOW + 120_000);
  expect(call({ ...PreToolUse, tool_name: 'Read' })?.deadline_at).toBeNull();
});

test('a call that has ended says when, for how long, on what, and what came of it', () => {
  expect(call(PostToolUse)).toMatchObject({
    call_id: 'toolu_01DEF456',
    outcome: 'ok',
    started_at: NOW - 12,
    ended_at: NOW,
    result_hash: resultHash(PostToolUse.tool_response),
    masked_result_hash: maskedResultHash(PostToolUse.tool_response),
    mutating: true,
    target: '/home/user/app/a.txt',
  });
  expect(call({ ...PostToolUse, duration_ms: undefined })?.started_at).toBeNull();
});

test('no content of a call, a prompt or an answer leaves the machine', () => {
  const told = JSON.stringify(Object.values(examples).map((example) => of(example)));
  for (const content of ['npm test', 'file content', 'express', 'factorial', 'refactoring', 'Analysis', '429'])
    expect(told).not.toContain(content);
});

test('the same call has the same id before and after, also where Claude Code gives none', () => {
  const { tool_use_id: _, ...before } = PreToolUse;
  const after = { ...before, hook_event_name: 'PostToolUse', tool_response: {} };
  expect(call(before)?.call_id).toBe(call(after)?.call_id);
  expect(call(before)?.call_id).not.toBe(call({ ...before, tool_input: { command: 'ls' } })?.call_id);
});

test.each([
  ['Edit', {}, { mutating: true, polling: false, kind: 'tool' }],
  ['NotebookEdit', {}, { mutating: true, polling: false, kind: 'tool' }],
  ['Bash', { command: 'git commit -m x' }, { mutating: false, polling: false, kind: 'tool' }],
  ['Bash', { command: 'sleep 30 && gh run view' }, { mutating: false, polling: true, kind: 'tool' }],
  ['Bash', { command: 'echo sleepy' }, { mutating: false, polling: false, kind: 'tool' }],
  ['BashOutput', {}, { mutating: false, polling: true, kind: 'tool' }],
  ['WebFetch', {}, { mutating: false, polling: false, kind: 'external_api' }],
  ['mcp__github__list', {}, { mutating: false, polling: false, kind: 'external_api' }],
])('%s %j is %j', (tool_name, tool_input, what) => {
  expect(call({ ...PostToolUse, tool_name, tool_input })).toMatchObject(what);
});

test.each([
  ['Bash', "Exit code 1\nError: Cannot find module 'express'", false, 'exit_1'],
  ['Bash', 'Exit code 143\nCommand timed out after 2m 0s', false, 'timeout'],
  ['Bash', 'Exit code 1\nrate limit exceeded', false, 'exit_1'],
  ['Bash', 'interrupted', true, 'aborted'],
  ['WebFetch', 'Request failed with status code 429', false, 'rate_limit'],
  ['Edit', 'String to replace not found in file.', false, 'tool_error'],
])('%s failing with %j is counted as one of its class', (tool_name, error, is_interrupt, error_class) => {
  const failed = call({ ...PostToolUseFailure, tool_name, error, is_interrupt });
  expect(failed).toMatchObject({ outcome: 'error', error_class, result_hash: resultHash(error) });
});

test.each([
  ['permission_prompt', 'awaiting_input'],
  ['idle_prompt', 'awaiting_input'],
  ['elicitation_dialog', 'awaiting_input'],
  ['elicitation_response', 'working'],
  ['auth_success', undefined],
  ['agent_needs_input', undefined],
  [undefined, 'awaiting_input'],
])('notified of %s the session is %s', (notification_type, activity) => {
  expect(of({ ...Notification, notification_type })?.said.activity).toBe(activity);
});

test('a question to a person is awaited, not worked on', () => {
  expect(of({ ...PreToolUse, tool_name: 'AskUserQuestion' })?.said.activity).toBe('awaiting_input');
});

test('a session that something of its own will wake waits for nobody', () => {
  expect(of({ ...Stop, background_tasks: [{ id: 'task-1', type: 'shell' }] })?.said.activity).toBe('idle');
  expect(of({ ...Stop, session_crons: [{ id: 'cron-1' }] })?.said.activity).toBe('idle');
});

test('a turn that an error has ended waits for a person, unless the error is a limit', () => {
  const { said } = of({ ...examples.StopFailure, error: 'billing_error' }) ?? {};
  expect(said).toMatchObject({ activity: 'awaiting_input', errors: [{ error_class: 'billing_error', message: null }] });
  expect(of({ ...examples.StopFailure, error: 'overloaded' })?.said.activity).toBe('rate_limited');
});

test('the end of a session is the end of the agent, unless it goes on with another', () => {
  expect(of({ ...examples.SessionEnd, reason: 'clear' })?.said).toEqual({ activity: 'idle' });
});

test('texts go with what reaches the agent, once a turn’s end at most', () => {
  const takers = EVENTS.filter((event) => of(examples[event as keyof typeof examples])?.takesText);
  expect(takers).toEqual(['SessionStart', 'UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'Stop']);
  expect(of({ ...Stop, stop_hook_active: true })?.takesText).toBe(false);
});

test('a subagent’s calls count; what its agent does, and what it is told, are not the subagent’s', () => {
  const told = of({ ...PostToolUse, agent_id: 'def456' });
  expect(told).toMatchObject({ said: { tool_calls: [{ tool: 'Write' }] }, takesText: false });
  expect(told?.said.activity).toBeUndefined();
});

test.each([
  '',
  'nonsense',
  '[]',
  'null',
  '{}',
  '{"hook_event_name":7}',
  '{"hook_event_name":"__proto__"}',
  '{"hook_event_name":"Setup"}',
])('of %j nothing is made', (json) => {
  const input = readInput(json);
  expect(input === null ? null : reportOf(input, NOW, {})).toBeNull();
});

test('strange fields of a known event harm nothing', () => {
  for (const hook_event_name of EVENTS)
    for (const value of [null, 7, 'x', [], { a: { b: [] } }])
      expect(() =>
        of({
          hook_event_name,
          tool_name: value,
          tool_input: value,
          tool_response: value,
          error: value,
          duration_ms: value,
          source: value,
          tool_use_id: value,
        }),
      ).not.toThrow();
});
