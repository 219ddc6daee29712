import { expect, test } from 'vitest';
import { adapterNamed } from './adapters.ts';
import { recordedSession } from './recorded-session.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 23) + 1000 * seconds).toISOString();

/** The reported activities of the session's own agent, without repetitions. */
const activities = (client: string, entries: readonly object[]) => {
  const adapter = adapterNamed(client);
  if (adapter === undefined) throw new Error(`${client} has no adapter`);
  const { reports } = recordedSession(adapter, [entries.map((entry) => JSON.stringify(entry))]);
  const all = reports.filter(({ agent }) => agent === null).map(({ fields }) => fields.activity);
  return all.filter((one, i) => one !== all[i - 1]);
};

const claude = (seconds: number, type: string, message: object, more: object = {}) => ({
  type,
  sessionId: 's',
  timestamp: at(seconds),
  message,
  ...more,
});
const codex = (seconds: number, type: string, payload: object) => ({ timestamp: at(seconds), type, payload });
const gemini = (seconds: number, type: string, content: string) => ({
  id: `m${seconds}`,
  timestamp: at(seconds),
  type,
  content,
});

test.each(['<command-name>/model</command-name>', '<local-command-stdout>Set.', '<bash-input>ls'])(
  'a command of Claude Code itself opens no turn (%s)',
  (content) => {
    expect(activities('claude-code', [claude(0, 'user', { content })])).toEqual([]);
    expect(activities('claude-code', [claude(0, 'user', { content: 'do it' })])).toEqual(['working']);
  },
);

const bash = { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } };
const result = { content: [{ type: 'tool_result', tool_use_id: 't', content: 'a' }] };

test.each([
  ['user_temporary', ['working', 'awaiting_input', 'working']],
  ['config', ['working']],
])('a call that needed a person’s permission in Claude Code (%s) waited from its start', (source, expected) => {
  const call = claude(1, 'assistant', { id: 'm', stop_reason: 'tool_use', content: [bash] });
  const end = claude(900, 'user', result, { permissionDecision: { decision: 'accept', source } });
  expect(activities('claude-code', [claude(0, 'user', { content: 'do it' }), call, end])).toEqual(expected);
});

test('a Codex file without ends of turns leaves no turn open after a message', () => {
  const entries = [
    codex(1, 'response_item', { type: 'function_call', name: 'shell', call_id: 't', arguments: '{"command":["ls"]}' }),
    codex(2, 'response_item', { type: 'function_call_output', call_id: 't', output: '{"output":"a"}' }),
    codex(3, 'event_msg', { type: 'agent_message', message: 'Done.' }),
  ];
  expect(activities('codex', entries)).toEqual(['working', 'awaiting_input']);
  const withTurns = [codex(0, 'event_msg', { type: 'task_started' }), ...entries];
  expect(activities('codex', withTurns)).toEqual(['working']);
});

test.each([
  ['/help', []],
  ['!ls', []],
  ['@main.ts explain it', ['working']],
  ['why?', ['working']],
])('the input to Gemini CLI that is %s opens a turn or not', (text, expected) => {
  expect(activities('gemini-cli', [gemini(0, 'user', text)])).toEqual(expected);
});

test('an error of the model ends the turn of Gemini CLI, and passes if it is a limit', () => {
  const turn = (error: string) => [gemini(0, 'user', 'do it'), gemini(1, 'error', error)];
  expect(activities('gemini-cli', turn('[API Error: 429 quota]'))).toEqual(['working', 'rate_limited']);
  expect(activities('gemini-cli', turn('[API Error: invalid argument]'))).toEqual(['working', 'blocked']);
});
