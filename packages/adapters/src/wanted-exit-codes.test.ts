import { describe, expect, test } from 'vitest';
import { adapterNamed } from './adapters.ts';
import { codexHooks } from './codex/hooks.ts';
import { codexTranscript } from './codex/transcript.ts';
import { printedSessions, type RecordedReport, recordedSession } from './recorded-session.ts';
import { newSession, observe } from './session/session.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 10, 23) + 1000 * seconds).toISOString();
const adapterOf = (client: string) => {
  const adapter = adapterNamed(client);
  if (adapter === undefined) throw new Error(`${client} has no adapter`);
  return adapter;
};
const written = (entries: readonly object[]): readonly string[] => entries.map((entry) => JSON.stringify(entry));
const inFile = (client: string, entries: readonly object[]): readonly RecordedReport[] =>
  recordedSession(adapterOf(client), [written(entries)]).reports;
const printed = (client: string, entries: readonly object[]): readonly RecordedReport[] =>
  printedSessions(adapterOf(client), written(entries), 5000).flatMap(({ reports }) => reports);

const claudeCall = (command: string) => ({
  id: 'm',
  content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command } }],
});
const claudeEnd = (code: number) => ({
  content: [{ type: 'tool_result', tool_use_id: 't', is_error: true, content: `Exit code ${code}` }],
});

/** A command and its exit code, as each client records them: the end names the call by its id only. */
const RECORDS: Readonly<Record<string, (command: string, code: number) => readonly RecordedReport[]>> = {
  'a session file of Claude Code': (command, code) =>
    inFile('claude-code', [
      { type: 'assistant', sessionId: 's', timestamp: at(1), message: claudeCall(command) },
      { type: 'user', sessionId: 's', timestamp: at(2), message: claudeEnd(code) },
    ]),
  'the output of Claude Code': (command, code) =>
    printed('claude-code', [
      { type: 'system', subtype: 'init', session_id: 's' },
      { type: 'assistant', session_id: 's', message: claudeCall(command) },
      { type: 'user', session_id: 's', message: claudeEnd(code) },
    ]),
  'a session file of Codex': (command, code) =>
    inFile('codex', [
      { timestamp: at(0), type: 'event_msg', payload: { type: 'task_started' } },
      {
        timestamp: at(1),
        type: 'response_item',
        payload: {
          type: 'function_call',
          name: 'shell',
          call_id: 't',
          arguments: JSON.stringify({ command: ['bash', '-lc', command] }),
        },
      },
      {
        timestamp: at(2),
        type: 'response_item',
        payload: {
          type: 'function_call_output',
          call_id: 't',
          output: JSON.stringify({ output: '', metadata: { exit_code: code } }),
        },
      },
    ]),
  'the output of Codex': (command, code) =>
    printed('codex', [
      { type: 'thread.started', thread_id: 's' },
      { type: 'item.started', item: { id: 't', type: 'command_execution', command } },
      { type: 'item.completed', item: { id: 't', type: 'command_execution', command, exit_code: code } },
    ]),
  'a session file of Gemini CLI': (command, code) =>
    inFile('gemini-cli', [
      { sessionId: 's', projectHash: 'p' },
      {
        id: 'm',
        type: 'gemini',
        timestamp: at(1),
        content: '',
        toolCalls: [
          {
            id: 't',
            name: 'run_shell_command',
            args: { command },
            status: 'success',
            timestamp: at(2),
            result: [{ functionResponse: { response: { output: `Output: (empty)\nExit Code: ${code}` } } }],
          },
        ],
      },
    ]),
};

const lastOutcome = (reports: readonly RecordedReport[]) =>
  reports.flatMap(({ fields }) => fields.tool_calls ?? []).at(-1)?.outcome;

describe.each(Object.entries(RECORDS))('%s', (_, reportsOf) => {
  test.each([
    ['grep -rn TODO src', 1],
    ['cd web && test -f done', 1],
    ['timeout 5 npm start', 124],
  ])('`%s` with exit code %i has answered', (command, code) => {
    expect(lastOutcome(reportsOf(command, code))).toBe('ok');
  });

  test.each([
    ['grep -rn TODO src', 2],
    ['npm test', 1],
    ['timeout 60 npm test', 124],
    ['./deploy.sh', 1],
  ])('`%s` with exit code %i has failed', (command, code) => {
    expect(lastOutcome(reportsOf(command, code))).toBe('error');
  });
});

describe('a hook of Codex and the session file, which alone has the exit code', () => {
  const transcript = codexTranscript(() => 'Europe/Berlin');
  const outcomeOf = (command: string, code: number) => {
    const hook = (event: string, more: object, seconds: number) =>
      codexHooks.eventsOf(
        {
          hook_event_name: event,
          session_id: 's',
          tool_use_id: 't',
          tool_name: 'Bash',
          tool_input: { command },
          ...more,
        },
        Date.parse(at(seconds)),
      );
    let state = transcript.initial;
    const file = written([
      {
        timestamp: at(1),
        type: 'response_item',
        payload: {
          type: 'function_call',
          name: 'exec_command',
          call_id: 't',
          arguments: JSON.stringify({ cmd: command }),
        },
      },
      {
        timestamp: at(3),
        type: 'response_item',
        payload: { type: 'function_call_output', call_id: 't', output: `Process exited with code ${code}\nOutput:\n` },
      },
    ]).flatMap((line) => {
      const read = transcript.read(state, line);
      state = read.state;
      return read.events;
    });
    const ended = hook('PostToolUse', { tool_response: '' }, 2).map((event) =>
      event.kind === 'call_ended' ? ({ ...event, kind: 'call_outcome_pending' } as const) : event,
    );
    let session = newSession;
    const outcomes: string[] = [];
    for (const event of [...hook('PreToolUse', {}, 1), ...file.slice(0, 1), ...ended, ...file.slice(1)]) {
      const observed = observe(session, event);
      session = observed.session;
      for (const { fields } of observed.reports)
        for (const call of fields.tool_calls ?? []) outcomes.push(call.outcome);
    }
    return outcomes.at(-1);
  };

  test('a wanted exit code is an answer, any other a failure', () => {
    expect(outcomeOf('grep -rn TODO src', 1)).toBe('ok');
    expect(outcomeOf('grep -rn TODO src', 2)).toBe('error');
    expect(outcomeOf('npm test', 1)).toBe('error');
    expect(outcomeOf('ls', 0)).toBe('ok');
  });
});
