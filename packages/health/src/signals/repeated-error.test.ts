import { NEVER } from '@vigil/stream';
import { expect, test } from 'vitest';
import { type Call, call, type HeartbeatPayload, history, judgedAt, T0 } from '../fixture.ts';
import { repeatedError, sameTarget } from './repetition.ts';

type Reported = readonly [ms: number, more: Partial<HeartbeatPayload>];

const LATE = judgedAt(T0 + 86_400_000);
const five = repeatedError.limits.parse({ times: 5, within: '10m' }) as never;
const fires = (reported: readonly Reported[]) => repeatedError.firesFrom(history(reported), five, LATE) < NEVER;
const calls = (...each: readonly Partial<Call>[]): Partial<HeartbeatPayload> => ({
  tool_calls: each.map((c, i) => call(`c${i}`, c)),
});
const fails = (i: number, more: Partial<Call> = {}): Partial<Call> => ({
  ...{ args_hash: `a${i}`, outcome: 'error', error_class: 'exit_1', result_hash: 'no such file' },
  ...more,
});
const failing = (n: number, more: Partial<Call> = {}): Reported[] =>
  Array.from({ length: n }, (_, i): Reported => [1000 * i, calls(fails(i, more))]);
const error = (ms: number, more: Partial<HeartbeatPayload['errors'][number]> = {}): Reported => [
  ms,
  { errors: [{ at: T0 + ms, count: 1, error_class: 'HTTP', hash: 'h', message: null, ...more }] },
];
const counting = (ms: number, count: number, since: number): Reported => [
  ms,
  {
    output: {
      ...{
        last_output_at: null,
        lines: null,
        matched_patterns: [],
        result_at: null,
        completion_signal_at: null,
        tail: [],
      },
      shown_errors: [],
      repeated_error: { hash: 'h', count, first_at: T0 + since },
    },
  },
];

test('the fifth of the same error counts, with any arguments; the fourth does not', () => {
  expect(fires(failing(4))).toBe(false);
  expect(fires(failing(5))).toBe(true);
  expect(fires([...failing(4), [9000, calls(fails(9, { result_hash: 'another' }))]])).toBe(false);
  expect(fires([...failing(4), [9000, calls(fails(9, { error_class: 'exit_2' }))]])).toBe(false);
});

test('another error between them does not hide them', () => {
  const other: Reported = [2500, calls(fails(7, { result_hash: 'another' }))];
  expect(fires([...failing(3), other, error(3000), [4000, calls(fails(8))], [5000, calls(fails(9))]])).toBe(true);
});

test('five within ten minutes count, to the millisecond', () => {
  const four = [0, 1000, 2000, 3000].map((ms) => error(ms));
  expect(fires([...four, error(600_000)])).toBe(true);
  expect(fires([...four, error(600_001)])).toBe(false);
});

test('an error that is reported with a count counts that often', () => {
  expect(fires([error(0, { count: 4 })])).toBe(false);
  expect(fires([error(0, { count: 5 })])).toBe(true);
});

test('a failure that is reported as call and as error counts once', () => {
  const both = (i: number): Reported => [
    1000 * i,
    { ...calls(fails(i)), errors: [{ at: T0, count: 1, error_class: 'exit_1', hash: 'no such file', message: null }] },
  ];
  expect(fires([0, 1, 2, 3].map(both))).toBe(false);
});

test('progress restarts the count: a new result, a mutation, a checkpoint; another failure is not progress', () => {
  expect(fires([...failing(4), [9000, calls({ args_hash: 'new' }, fails(9))]])).toBe(false);
  expect(fires([...failing(4), [9000, calls({ args_hash: null, result_hash: null, mutating: true }, fails(9))]])).toBe(
    false,
  );
  expect(fires([...failing(4), [9000, calls(fails(8, { result_hash: 'another' }), fails(9))]])).toBe(true);
  expect(fires([...failing(5), [9000, calls({ args_hash: 'new' })]])).toBe(false);
});

test('a finding holds until progress, and does not end by time alone', () => {
  expect(fires([...failing(5), [90_000, calls({ outcome: 'error', error_class: 'x', result_hash: 'y' })]])).toBe(true);
  expect(fires([...failing(5), [9_000_000, {}]])).toBe(true);
});

test('for an agent that reports no results, an error is over after ten minutes without it', () => {
  const five = [0, 1000, 2000, 3000, 4000].map((ms) => error(ms));
  expect(fires([...five, [604_000, { progress_indicator: '9' }]])).toBe(true);
  expect(fires([...five, [604_001, { progress_indicator: '9' }]])).toBe(false);
});

test('calls that a rate limit refuses, and errors without content, are not repetitions', () => {
  expect(fires(failing(9, { error_class: 'rate_limit' }))).toBe(false);
  expect(fires(Array.from({ length: 9 }, (_, i) => error(1000 * i, { error_class: 'rate_limit' })))).toBe(false);
  expect(fires(failing(9, { result_hash: null }))).toBe(false);
  expect(fires(Array.from({ length: 9 }, (_, i) => error(1000 * i, { hash: null })))).toBe(false);
});

test('only the growth of a terminal’s own count is counted with each heartbeat', () => {
  expect(fires([1, 2, 3, 4, 4, 4, 4].map((count, i) => counting(1000 * i, count, 0)))).toBe(false);
  expect(fires([1, 2, 3, 4, 5].map((count, i) => counting(1000 * i, count, 0)))).toBe(true);
});

test('the first report of a running count counts from the beginning of that count', () => {
  expect(fires([counting(700_000, 5, 100_000)])).toBe(true);
  expect(fires([counting(700_000, 5, 99_999)])).toBe(false);
});

const ten = sameTarget.limits.parse({ times: 10 }) as never;
const touches = (each: readonly Partial<Call>[]) =>
  sameTarget.firesFrom(history(each.map((c, i): Reported => [1000 * i, calls({ target: 'a.ts', ...c })])), ten, LATE) <
  NEVER;

test('ten reads of one target without new results count, nine do not', () => {
  expect(touches(Array.from({ length: 9 }, () => ({})))).toBe(false);
  expect(touches(Array.from({ length: 10 }, () => ({})))).toBe(true);
});

test('edits of one target that fail count with its reads, for any arguments', () => {
  const edit = (i: number): Partial<Call> => (i % 2 ? { args_hash: `e${i}`, mutating: true, outcome: 'error' } : {});
  expect(touches(Array.from({ length: 10 }, (_, i) => edit(i)))).toBe(true);
});

test('a change restarts the count: a successful edit, or a new part of the target', () => {
  const nine = Array.from({ length: 9 }, (): Partial<Call> => ({}));
  expect(touches([...nine, { args_hash: 'e', mutating: true }, ...nine])).toBe(false);
  expect(touches([...nine, { args_hash: 'offset 90' }])).toBe(false);
  expect(touches([...nine, { target: 'b.ts' }])).toBe(false);
});
