import { expect, test } from 'vitest';
import { recordedSameRuns, recordedTranscripts } from '../recordings.fixture.ts';
import { newSession, observe, type SessionEvent } from '../session/session.ts';
import { codexHooks } from './hooks.ts';
import { codexTranscript } from './transcript.ts';

const hookEvents = (run: string, isLost: (event: string) => boolean): readonly SessionEvent[] =>
  (recordedSameRuns('codex').get(run) ?? []).flatMap(({ payload, at }) =>
    isLost(String(payload.hook_event_name)) ? [] : codexHooks.eventsOf(payload, at, {}),
  );

const written = (lines: readonly string[]): readonly SessionEvent[] => {
  let state = codexTranscript.initial;
  return lines.flatMap((line) => {
    const read = codexTranscript.read(state, line);
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
  'without the file, the calls of %s stay open until their turn ends: hooks do not say which answer a call is of',
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
  ['Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nrejected by user\n', 'abandoned'],
])('a call that fired no hook at its end, and of which the file says %j, is %s', (output, outcome) => {
  expect(folded([turn, ...written([asked, answered(output)])]).outcomes).toEqual([outcome]);
});

test('no content of the file leaves with the end of a call', () => {
  const events = JSON.stringify(RUNS.flatMap(fileOf));
  for (const content of ['hello from the agent', 'nonexistent-directory', 'All done'])
    expect(events).not.toContain(content);
});
