import { NEVER } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { type Call, call, type HeartbeatPayload, history, judgedAt, T0 } from '../fixture.ts';
import { consecutiveFailures } from './rate.ts';
import { frequentCall, repeatedAnswer, repeatedArguments, repeatedCalls } from './repetition.ts';
import type { AnySignal } from './signal.ts';

/** "a turn as what resets a count": a new prompt is a new question, so what the agent did for the one before is over. */
type Reported = Partial<HeartbeatPayload>;
const opens: Reported = { turn: { open: true, started_at: T0, last_event_at: null } };
const closes: Reported = { turn: { open: false, started_at: T0, last_event_at: null } };
const next = [closes, opens];
let id = 0;
const made = (n: number, one: (i: number) => Partial<Call>): readonly Reported[] =>
  Array.from({ length: n }, (_, i) => ({ tool_calls: [call(`c${id++}`, one(i))] }));
const same = (n: number) => made(n, () => ({}));
const cycle = (rounds: number) => made(rounds * 3, (i) => ({ args_hash: `a${i % 3}` }));

const at = judgedAt(T0 + 1e7);
const after = (reported: readonly Reported[]) => history(reported.map((more, i) => [1000 * i, more]));
const fires = (signal: AnySignal, reported: readonly Reported[], settings: object): boolean =>
  signal.firesFrom(after(reported), signal.limits.parse(settings) as never, at) < NEVER;
const wordsOf = (signal: AnySignal, reported: readonly Reported[], settings: object): string =>
  signal.evidence(after(reported), signal.limits.parse(settings) as never, at).words;

const failure: Partial<Call> = { tool: 'Bash', outcome: 'error', result_hash: null };
const COUNTED: readonly (readonly [string, AnySignal, object, (n: number) => readonly Reported[]])[] = [
  ['the same call', repeatedCalls, { times: 5 }, same],
  ['a cycle of calls', repeatedCalls, { times: 99, cycles: 5 }, cycle],
  [
    'the same call but for numbers',
    repeatedCalls,
    { times: 99, masked_times: 5 },
    (n) => made(n, (i) => ({ result_hash: `r${i}`, masked_result_hash: 'r' })),
  ],
  [
    'the same call failing with any error',
    repeatedCalls,
    { times: 99, failing_times: 5 },
    (n) => made(n, (i) => ({ outcome: 'error', result_hash: `r${i}` })),
  ],
  [
    'calls without new results',
    repeatedCalls,
    { times: 99, stale_times: 5 },
    (n) => made(n, (i) => ({ args_hash: `a${i}` })),
  ],
  ['one answer to any question', repeatedAnswer, { times: 5 }, (n) => made(n, (i) => ({ args_hash: `a${i}` }))],
  ['one question with any answer', repeatedArguments, { times: 5 }, (n) => made(n, (i) => ({ result_hash: `r${i}` }))],
  [
    'one question with unknown answers',
    repeatedArguments,
    { times: 5, results: 'unknown' },
    (n) => made(n, () => ({ result_hash: null })),
  ],
  ['a frequent call', frequentCall, { times: 5, of: 10 }, same],
  ['failures in a row', consecutiveFailures, { above: 4 }, (n) => made(n, () => failure)],
  [
    'failures of a tool in a row',
    consecutiveFailures,
    { above: 4, applies_to: ['Bash'] },
    (n) => made(n, () => failure),
  ],
];

describe.each(COUNTED)('%s', (name, signal, settings, calls) => {
  const perTurn = { ...settings, per: 'turn' };
  // Without a result before them, the first calls bring something new.
  const seen = name === 'calls without new results' ? calls(5) : [];

  test('counts across turns without the setting', () => {
    expect(fires(signal, [...seen, opens, ...calls(4), ...next, ...calls(1)], settings)).toBe(true);
  });

  test('per turn, starts again with each turn: four and four do not fire, the fifth of a turn does', () => {
    const four = [...seen, opens, ...calls(4), ...next, ...calls(4)];
    expect(fires(signal, four, perTurn)).toBe(false);
    expect(fires(signal, [...seen, opens, ...calls(4), ...next, ...calls(5)], perTurn)).toBe(true);
  });

  test('per turn, the end of a turn alone ends nothing, and neither does a report in the turn', () => {
    expect(fires(signal, [...seen, opens, ...calls(5), closes], perTurn)).toBe(true);
    const reports = [...seen, opens, ...calls(2).flatMap((one) => [one, opens]), ...calls(3)];
    expect(
      fires(signal, name === 'a cycle of calls' ? [opens, ...calls(2), opens, ...calls(3)] : reports, perTurn),
    ).toBe(true);
  });

  test('per turn, an agent without reported turns counts since its start', () => {
    expect(fires(signal, [...seen, ...calls(4)], perTurn)).toBe(false);
    expect(fires(signal, [...seen, ...calls(5)], perTurn)).toBe(true);
  });
});

test('a heartbeat that opens a turn has the calls of that turn', () => {
  const [first, ...others] = same(5);
  expect(
    fires(repeatedCalls, [opens, ...same(4), closes, { ...opens, ...first }, ...others], { times: 5, per: 'turn' }),
  ).toBe(true);
  expect(fires(repeatedCalls, [opens, ...same(4), closes, { ...opens, ...first }], { times: 5, per: 'turn' })).toBe(
    false,
  );
});

test('declared progress in a turn does not make the turn forgotten', () => {
  const accepted: Reported = { steps: { total_steps: 1, verdicts: ['ACCEPT'] } };
  const failures = made(4, () => failure);
  const turns = [opens, ...failures, ...next, accepted, ...made(4, () => failure)];
  expect(fires(consecutiveFailures, turns, { above: 4, per: 'turn' })).toBe(false);
  expect(fires(consecutiveFailures, turns, { above: 4 })).toBe(true);
});

test('a row of the turn is described with its count in the turn', () => {
  const turns = [opens, ...same(4), ...next, ...same(5)];
  expect(wordsOf(repeatedCalls, turns, { times: 5, per: 'turn' })).toBe(
    'the same call (bash) 5 times in a row in this turn with the same result; limit 5',
  );
  expect(
    wordsOf(consecutiveFailures, [opens, ...made(2, () => failure), ...next, ...made(3, () => failure)], {
      above: 4,
      per: 'turn',
    }),
  ).toBe('3 failed calls in a row in this turn; limit 4');
});

test('per turn, polls of an earlier turn do not count, and their duration starts with the turn', () => {
  const polls = (n: number) => made(n, () => ({ polling: true }));
  const settings = { times: 5, polling_after: '10s', per: 'turn' };
  expect(fires(repeatedCalls, [opens, ...polls(9), ...next, ...polls(4)], settings)).toBe(false);
  const lasting = after([opens, ...polls(60), ...next, ...polls(5)]);
  const from = repeatedCalls.firesFrom(lasting, repeatedCalls.limits.parse(settings) as never, at);
  // The turn opened at 62 s.
  expect(from).toBe(T0 + 72_001);
});

test('per turn, a row counts for the named tools by its own call', () => {
  const turns = [opens, ...made(9, () => ({ tool: 'Read' })), ...next, ...made(5, () => ({ tool: 'Bash' }))];
  expect(fires(repeatedCalls, turns, { times: 5, per: 'turn', applies_to: ['Bash'] })).toBe(true);
  expect(fires(repeatedCalls, turns, { times: 5, per: 'turn', applies_to: ['Read'] })).toBe(false);
});
