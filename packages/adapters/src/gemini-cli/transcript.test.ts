import { expect, test } from 'vitest';
import { recordedSameRuns, recordedTranscripts } from '../recordings.fixture.ts';
import { newSession, observe, type SessionEvent } from '../session/session.ts';
import { isFields, listAt, parseLine } from '../shared/payload.ts';
import { geminiHooks } from './hooks.ts';
import { geminiTranscript } from './transcript.ts';

const hookEvents = (run: string, lost: (event: string, nth: number) => boolean): readonly SessionEvent[] => {
  const seen = new Map<string, number>();
  return (recordedSameRuns('gemini-cli').get(run) ?? []).flatMap(({ payload, at }) => {
    const name = String(payload.hook_event_name);
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    const isRead = geminiHooks.events.includes(name) && !lost(name, nth);
    return isRead ? geminiHooks.eventsOf(payload, at) : [];
  });
};

const linesOf = (run: string): readonly string[] =>
  (recordedTranscripts('gemini-cli').get(run) ?? []).map(({ line }) => line);

const written = (lines: readonly string[]): readonly SessionEvent[] => {
  let state = geminiTranscript.initial;
  return lines.flatMap((line) => {
    const read = geminiTranscript.read(state, line);
    state = read.state;
    return read.events;
  });
};

const inOrder = (events: readonly SessionEvent[]) => events.toSorted((one, other) => one.at - other.at);

/** The reported ends, in order, and the calls that are still open. */
const folded = (events: readonly SessionEvent[]) => {
  let session = newSession;
  const ends: string[] = [];
  for (const event of events) {
    const observed = observe(session, event);
    session = observed.session;
    for (const { fields } of observed.reports)
      for (const call of fields.tool_calls ?? [])
        if (call.outcome !== 'running') ends.push(`${call.tool} ${call.error_class ?? call.outcome}`);
  }
  return { ends, open: Object.keys(session.main.open), turn: session.main.turn };
};

const beforeAfterAgent = (name: string): boolean => name === 'AfterAgent' || name === 'SessionEnd';

/** The lines with the calls changed. */
const withCalls = (lines: readonly string[], change: (call: object) => object): readonly string[] =>
  lines.map((line) => {
    const entry = parseLine(line);
    if (entry === null || !Array.isArray(entry.toolCalls)) return line;
    return JSON.stringify({ ...entry, toolCalls: listAt(entry, 'toolCalls').map((one) => change(one as object)) });
  });

const RUNS = ['gm-works', 'gm-loops'];

test.each(RUNS)(
  'calls of %s whose AfterTool is lost end with the result that the file shows, before their turn',
  (run) => {
    const file = written(linesOf(run));
    const all = folded(inOrder([...hookEvents(run, beforeAfterAgent), ...file]));
    const lost = folded(
      inOrder([...hookEvents(run, (name) => name === 'AfterTool' || beforeAfterAgent(name)), ...file]),
    );
    expect(lost.ends).toEqual(all.ends);
    expect(lost.ends.some((end) => end.endsWith('abandoned'))).toBe(false);
    expect(lost.open).toEqual([]);
  },
);

test.each(RUNS)('a call of %s ends once: the first report of hook or file counts', (run) => {
  const hooked = hookEvents(run, () => false);
  const { ends } = folded(hooked);
  const file = written(linesOf(run));
  expect(folded(inOrder([...hooked, ...file, ...file])).ends).toEqual(ends);
  // AfterTool arrives after the file has been read.
  const isEnd = ({ kind }: SessionEvent) => kind === 'call_ended';
  const late = inOrder([...hooked.filter((event) => !isEnd(event)), ...file]);
  expect(folded([...late, ...hooked.filter(isEnd)]).ends).toEqual(ends);
});

test('a late hook does not end the next call of the same name', () => {
  const file = written(linesOf('gm-loops'));
  const hooked = hookEvents('gm-loops', () => false);
  const [first, second] = hooked.filter(({ kind }) => kind === 'call_started');
  const late = hooked.find(({ kind }) => kind === 'call_ended');
  const seen = file.find(({ kind }) => kind === 'end_seen');
  if (!first || !second || !late || !seen) throw new Error('the recording has no loop');
  expect(folded([first, seen, second, late])).toMatchObject({
    ends: ['run_shell_command exit_2'],
    open: [second.kind === 'call_started' ? second.call.call_id : ''],
  });
});

test.each(['validating', 'scheduled', 'executing', 'awaiting_approval'])('a call that is %s stays open', (status) => {
  const running = withCalls(linesOf('gm-works'), (call) => ({ ...call, status, result: undefined }));
  const started = hookEvents('gm-works', (name, nth) => name !== 'BeforeTool' || nth > 1);
  expect(folded(inOrder([...started, ...written(running)])).open).toHaveLength(1);
});

test('the end of an earlier call of the same name does not end a later one', () => {
  const file = written(linesOf('gm-loops'));
  const starts = hookEvents('gm-loops', (name) => name !== 'BeforeTool');
  const second = starts.filter(({ kind }) => kind === 'call_started').slice(1, 2);
  const first = file.filter(({ kind }) => kind === 'end_seen').slice(0, 1);
  expect(folded([...second, ...first])).toMatchObject({ ends: [], open: [expect.any(String)] });
});

test('neither of two calls of one name in one message ends while the other runs', () => {
  const line = linesOf('gm-loops').find((one) => listAt(parseLine(one), 'toolCalls').length > 0) ?? '';
  const entry = parseLine(line);
  const [call] = listAt(entry, 'toolCalls');
  if (!isFields(entry) || !isFields(call)) throw new Error('the recording has no call');
  const twice = (status: string) => JSON.stringify({ ...entry, toolCalls: [call, { ...call, id: 'other', status }] });
  const ends = (status: string) => written([twice(status)]).filter(({ kind }) => kind === 'end_seen');
  expect(ends('executing')).toEqual([]);
  expect(ends('success')).toHaveLength(2);
});

test.each([
  ['cancelled', {}, 'refused'],
  ['error', { errorType: 'policy_violation' }, 'refused'],
  ['error', { errorType: 'file_not_found', result: [] }, 'file_not_found'],
  ['of another version', {}, 'abandoned'],
])('a call that the file shows as %s (%o) ends as %s', (status, more, outcome) => {
  const lines = withCalls(linesOf('gm-works'), (call) => ({ ...call, status, ...more }));
  const started = hookEvents('gm-works', (name, nth) => name !== 'BeforeTool' || nth !== 2);
  expect(folded(inOrder([...started, ...written(lines)])).ends).toEqual([`write_file ${outcome}`]);
});

test('calls of earlier turns without hooks open no turn and end nothing', () => {
  const events = written(linesOf('gm-works'));
  expect(events.some(({ kind }) => kind === 'end_seen')).toBe(true);
  expect(folded(events)).toMatchObject({ ends: [], turn: null });
});

test('the end of a call contains no content of the file', () => {
  const facts = JSON.stringify(written(linesOf('gm-works')));
  for (const word of ['hello from the agent', 'touched']) expect(facts).not.toContain(word);
});
