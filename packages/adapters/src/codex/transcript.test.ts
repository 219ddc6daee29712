import { expect, test } from 'vitest';
import { recordedSameRuns, recordedTranscripts } from '../recordings.fixture.ts';
import { newSession, observe, type SessionEvent } from '../session/session.ts';
import { codexHooks } from './hooks.ts';
import { codexStream } from './stream.ts';
import { codexTranscript } from './transcript.ts';

const hookEvents = (run: string, isLost: (event: string) => boolean): readonly SessionEvent[] =>
  (recordedSameRuns('codex').get(run) ?? []).flatMap(({ payload, at }) =>
    isLost(String(payload.hook_event_name)) ? [] : codexHooks.eventsOf(payload, at),
  );

const transcript = codexTranscript(() => 'Europe/Berlin');

const written = (lines: readonly string[]): readonly SessionEvent[] => {
  let state = transcript.initial;
  return lines.flatMap((line) => {
    const read = transcript.read(state, line);
    state = read.state;
    return read.events;
  });
};

const fileOf = (run: string): readonly SessionEvent[] =>
  written((recordedTranscripts('codex').get(run) ?? []).map(({ line }) => line));

/** Starts and ends of calls in order, and how many were open at once. */
const folded = (events: readonly SessionEvent[]) => {
  let session = newSession;
  let mostOpen = 0;
  const outcomes = new Map<string, string>();
  for (const event of events.toSorted((one, other) => one.at - other.at)) {
    const observed = observe(session, event);
    session = observed.session;
    mostOpen = Math.max(mostOpen, Object.keys(session.main.open).length);
    for (const { fields } of observed.reports)
      for (const call of fields.tool_calls ?? []) outcomes.set(call.call_id, call.outcome);
  }
  return { outcomes: [...outcomes.values()], open: Object.keys(session.main.open), mostOpen };
};

const RUNS = ['cx-works', 'cx-loops'];
const isEnd = (name: string): boolean => name === 'PostToolUse' || name === 'Stop' || name === 'SessionEnd';

test.each(RUNS)(
  'calls of %s whose PostToolUse is lost end with their results in the file, before the calls of the next answer',
  (run) => {
    const file = fileOf(run);
    const whole = folded([...hookEvents(run, () => false), ...file]);
    const lost = folded([...hookEvents(run, isEnd), ...file]);
    expect(lost.open).toEqual([]);
    expect(lost.outcomes).toHaveLength(whole.outcomes.length);
    expect(lost.outcomes).not.toContain('running');
    expect(lost.mostOpen).toBe(whole.mostOpen);
  },
);

test.each(RUNS)(
  'without the file, the calls of %s stay open until their turn ends, because hooks do not name the answer of a call',
  (run) => {
    const isLost = (name: string): boolean => name === 'PostToolUse';
    const calls = folded(hookEvents(run, () => false)).outcomes.length;
    expect(folded(hookEvents(run, isLost))).toMatchObject({ mostOpen: calls, open: [] });
  },
);

const AT = '2026-11-23T12:00:00.000Z';
const item = (payload: object): string => JSON.stringify({ timestamp: AT, type: 'response_item', payload });
const asked = item({ type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' });
const answered = (output: string): string => item({ type: 'function_call_output', call_id: 'c1', output });
const turn: SessionEvent = { kind: 'turn_started', at: Date.parse(AT) - 1000, agent: null };

test.each([
  ['Command blocked by PreToolUse hook: no. Command: ls', 'refused'],
  ['Tool call blocked by PreToolUse hook: no', 'refused'],
  ['exec command rejected by user', 'refused'],
  [
    'exec_command failed: CreateProcess { message: "Rejected(\\"`/bin/bash -lc \'rm -rf ./build; touch done.txt\'` rejected: policy forbids commands starting with `rm`\\")" }',
    'refused',
  ],
  [
    'approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy is Never',
    'refused',
  ],
  ['patch rejected: writing outside of the project; rejected by user approval settings', 'refused'],
  ['exec_command failed: CreateProcess { message: "No such file or directory (os error 2)" }', 'error'],
  [
    'Chunk ID: e90051\nWall time: 10.0018 seconds\nProcess running with session ID 15822\nOriginal token count: 0\nOutput:\n',
    'abandoned',
  ],
  ['Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nrejected by user\n', 'abandoned'],
  ['Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nno such file\n', 'error'],
])('a call without a hook at its end, whose output in the file is %j, is %s', (output, outcome) => {
  expect(folded([turn, ...written([asked, answered(output)])]).outcomes).toEqual([outcome]);
});

test('the end of a call contains no content of the file', () => {
  const events = JSON.stringify(RUNS.flatMap(fileOf));
  for (const content of ['hello from the agent', 'nonexistent-directory', 'All done'])
    expect(events).not.toContain(content);
});

const limits = (rate_limits: object): string =>
  JSON.stringify({ timestamp: AT, type: 'event_msg', payload: { type: 'token_count', info: null, rate_limits } });
const failed = (message: string, codex_error_info: unknown): string =>
  JSON.stringify({
    timestamp: AT,
    type: 'event_msg',
    payload: { type: 'task_complete', error: { message, codex_error_info } },
  });
const usageLimit = failed("You've hit your usage limit. Try again at Nov 25th, 2026 3:45 PM.", 'usage_limit_exceeded');
const inSeconds = (seconds: number): number => Date.parse(AT) / 1000 + seconds;

const primary = { used_percent: 100, window_minutes: 300, resets_at: inSeconds(3600) };
const secondary = { used_percent: 40, window_minutes: 10080, resets_at: inSeconds(86_400) };
const BY_TEXT = '2026-11-25T14:45:00.000Z';

test.each([
  ['a used-up limit resets', [limits({ primary, secondary })], '2026-11-23T13:00:00.000Z'],
  [
    'the last of two resets',
    [limits({ primary, secondary: { ...secondary, used_percent: 100 } })],
    '2026-11-24T12:00:00.000Z',
  ],
  [
    'the rest of an older version is over',
    [limits({ primary: { used_percent: 100, resets_in_seconds: 90 }, secondary: null })],
    '2026-11-23T12:01:30.000Z',
  ],
  [
    'the previous reset, if an event has no limits',
    [limits({ primary }), limits({ primary: null, secondary: null })],
    '2026-11-23T13:00:00.000Z',
  ],
  ['the text, if no limit is used up', [limits({ primary: { ...primary, used_percent: 99.9 }, secondary })], BY_TEXT],
  ['the text, if a reset is past', [limits({ primary: { ...primary, resets_at: inSeconds(-1) } })], BY_TEXT],
  [
    'the text, if later limits are not used up',
    [limits({ primary }), limits({ primary: { ...primary, used_percent: 0 } })],
    BY_TEXT,
  ],
  ['the text, if the file has no limits', [], BY_TEXT],
])('after the usage limit a session is limited until: %s', (_, before, until) => {
  const [event] = written([...before, usageLimit]).slice(-1);
  expect(event).toMatchObject({ kind: 'turn_failed', passes: true, retryAt: Date.parse(until) });
});

test('a used-up limit does not explain another error', () => {
  const [event] = written([limits({ primary }), failed('busy', 'server_overloaded')]).slice(-1);
  expect(event).toMatchObject({ kind: 'turn_failed', passes: true, retryAt: null });
});

test('the stream reports the end of the limit by the clock of the machine', () => {
  const line = { type: 'turn.failed', error: { message: "You've hit your usage limit, or try again at 3:45 PM." } };
  const stream = codexStream(() => 'Europe/Berlin');
  const { events } = stream.read(stream.initial, JSON.stringify(line), Date.parse(AT));
  expect(events).toMatchObject([{ kind: 'turn_failed', passes: true, retryAt: Date.parse('2026-11-23T14:45:00Z') }]);
});

const tokens = (input: number, output: number): string => {
  const total = { input_tokens: input, cached_input_tokens: 0, output_tokens: output, total_tokens: input + output };
  const info = { total_token_usage: total, last_token_usage: total, model_context_window: 1000 };
  return JSON.stringify({ timestamp: AT, type: 'event_msg', payload: { type: 'token_count', info } });
};
const used = (lines: readonly string[], then: readonly string[]): readonly (readonly number[])[] => {
  let state = lines.reduce((before, line) => transcript.read(before, line).state, transcript.initial);
  state = transcript.resumed(state);
  return then.flatMap((line) => {
    const read = transcript.read(state, line);
    state = read.state;
    return read.events.flatMap((event) =>
      event.kind === 'usage_counted'
        ? event.usage.usage.map((one) => [one.input_tokens, one.output_tokens] as const)
        : [],
    );
  });
};

test('a resumed session reports only the tokens since the resume, because Codex continues the total of the session', () => {
  expect(used([tokens(100, 10)], [tokens(130, 14), tokens(150, 15)])).toEqual([
    [30, 4],
    [50, 5],
  ]);
  expect(used([], [tokens(130, 14)])).toEqual([[130, 14]]);
});

test('a total that restarts from zero at a resume counts completely', () => {
  expect(used([tokens(100, 10)], [tokens(40, 3)])).toEqual([[40, 3]]);
});
