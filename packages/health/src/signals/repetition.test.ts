import { NEVER } from '@vigil/stream';
import { expect, test } from 'vitest';
import { type Call, call, type HeartbeatPayload, history, T0 } from '../fixture.ts';
import { repeatedCalls } from './repetition.ts';

const limits = (more: object = {}) => repeatedCalls.limits.parse({ times: 5, ...more }) as never;
const A: Partial<Call> = { args_hash: 'a' };
const B: Partial<Call> = { args_hash: 'b' };
const C: Partial<Call> = { args_hash: 'c' };
const after = (calls: readonly Partial<Call>[], more: readonly Partial<HeartbeatPayload>[] = []) =>
  history([
    ...calls.map((c, i): [number, Partial<HeartbeatPayload>] => [1000 * i, { tool_calls: [call(`c${i}`, c)] }]),
    ...more.map((m, i): [number, Partial<HeartbeatPayload>] => [1000 * (calls.length + i), m]),
  ]);
const fires = (calls: readonly Partial<Call>[], l = limits(), more: readonly Partial<HeartbeatPayload>[] = []) =>
  repeatedCalls.firesFrom(after(calls, more), l, { now: T0 + 10_000_000, watched: T0 + 10_000_000, floor: 0 }) < NEVER;
const times = (n: number, ...calls: Partial<Call>[]) => Array.from({ length: n }, () => calls).flat();

test('four identical calls are not a repetition, five are', () => {
  expect(fires(times(4, A))).toBe(false);
  expect(fires(times(5, A))).toBe(true);
});

test('many calls with other arguments are no repetition', () => {
  expect(fires(Array.from({ length: 20 }, (_, i) => ({ args_hash: `a${i}` })))).toBe(false);
});

test('a cycle of two to five calls counts its rounds', () => {
  expect(fires(times(5, A, B))).toBe(true);
  expect(fires(times(4, A, B))).toBe(false);
  expect(fires(times(5, A, B, C))).toBe(true);
  expect(fires(times(5, A, B, C, { args_hash: 'd' }, { args_hash: 'e' }))).toBe(true);
});

test('repetitions of a single call are not a longer cycle', () => {
  expect(fires(times(8, A), limits({ times: 12, cycles: 3 }))).toBe(false);
});

test('a call outside the cycle ends a cycle that has not repeated often enough', () => {
  expect(fires([...times(2, A, B), C, ...times(2, A, B)])).toBe(false);
});

test('a changed result restarts the count', () => {
  expect(fires([...times(4, A), { ...A, result_hash: 'other' }])).toBe(false);
});

test('a successful mutation restarts the count, a failed one does not', () => {
  const edit: Partial<Call> = { args_hash: 'edit', mutating: true };
  expect(fires(times(6, A, edit))).toBe(false);
  expect(fires(times(6, A, { ...edit, mutating: false }))).toBe(true);
  expect(fires([...times(5, A), { ...edit, outcome: 'error', result_hash: null }])).toBe(true);
});

test('a found repetition ends with progress, not with a call that has been seen before', () => {
  expect(fires([B, ...times(5, A), B])).toBe(true);
  expect(fires([B, ...times(5, A), C])).toBe(false);
});

test('a new checkpoint ends it', () => {
  const checkpoint = {
    checkpoint_id: 'k2',
    parent_id: null,
    uri: null,
    sha256: null,
    valid: null,
    invalid_reason: null,
  };
  const written = { checkpoint: { ...checkpoint, created_at: null, completed_work: [], remaining_work: [] } };
  expect(fires(times(6, A), limits(), [written])).toBe(false);
});

test('results that differ in numbers only count from masked_times', () => {
  const dates = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ ...A, result_hash: `r${i}`, masked_result_hash: 'm' }));
  expect(fires(dates(9), limits({ masked_times: 10 }))).toBe(false);
  expect(fires(dates(10), limits({ masked_times: 10 }))).toBe(true);
  expect(fires(dates(30))).toBe(false);
  expect(fires([...dates(10), { args_hash: 'edit', mutating: true }], limits({ masked_times: 10 }))).toBe(false);
});

test('a cycle whose results differ in numbers only counts from masked_cycles', () => {
  let n = 0;
  const changing = (args: string): Partial<Call> => ({
    args_hash: args,
    result_hash: `r${n++}`,
    masked_result_hash: `m-${args}`,
  });
  const rounds = (count: number) => Array.from({ length: count }, () => [changing('test'), changing('look')]).flat();
  const l = limits({ masked_cycles: 4 });
  expect(fires(rounds(3), l)).toBe(false);
  expect(fires(rounds(4), l)).toBe(true);
  expect(fires(rounds(9))).toBe(false);
  expect(fires([...rounds(2), changing('edit'), ...rounds(2)], l)).toBe(false);
});

test('a repetition that differs only in numbers also ends with a result that is new apart from its numbers', () => {
  const dates = Array.from({ length: 5 }, (_, i) => ({ ...A, result_hash: `r${i}`, masked_result_hash: 'm' }));
  const l = limits({ masked_times: 5 });
  expect(fires([...dates, { ...A, result_hash: 'r9', masked_result_hash: 'm' }], l)).toBe(true);
  expect(fires([...dates, { ...B, result_hash: 'other', masked_result_hash: 'n' }], l)).toBe(false);
});

test('reading a file again between edits that are all different is work', () => {
  const editAndTest = Array.from({ length: 10 }, (_, i) => [
    { args_hash: `edit-${i}`, result_hash: 'done', masked_result_hash: 'done' },
    { args_hash: 'test', result_hash: `failed-${i}`, masked_result_hash: 'failed' },
  ]).flat();
  expect(fires(editAndTest, limits({ times: 4, cycles: 3, masked_times: 4, masked_cycles: 3 }))).toBe(false);
});

test('polling counts only after its minimum duration', () => {
  const polls = times(6, { ...A, polling: true });
  const l = limits({ polling_after: '1m' });
  const from = repeatedCalls.firesFrom(after(polls), l, { now: T0, watched: T0, floor: 0 });
  expect(from).toBe(T0 + 60_001);
});

test('a failing command whose error has only a class repeats itself', () => {
  const failing: Partial<Call> = { ...A, outcome: 'error', result_hash: null, error_class: 'exit_1' };
  expect(fires(times(5, failing))).toBe(true);
});

test('calls refused by a rate limit are no repetition', () => {
  expect(fires(times(9, { ...A, outcome: 'error', error_class: 'rate_limit' }))).toBe(false);
});

const fromWhen = (reported: Parameters<typeof history>[0], l: never, ms: number) =>
  repeatedCalls.firesFrom(history(reported), l, { now: T0 + ms, watched: T0 + ms, floor: 0 });
const inOneHeartbeat = (calls: readonly Partial<Call>[]) =>
  calls.map((c, i): [number, Partial<HeartbeatPayload>] => [1000 * i, { tool_calls: [call(`c${i}`, c)] }]);
const POLL: Partial<Call> = { args_hash: 'poll', polling: true };

test('it counts from the time of the call, not of its report', () => {
  const late = inOneHeartbeat(times(5, A)).with(4, [9000, { tool_calls: [call('c4', { ...A, ended_at: T0 + 6000 })] }]);
  expect(fromWhen(late, limits(), 9000)).toBe(T0 + 6000);
});

test('a found loop holds while the agent polls', () => {
  expect(fromWhen(inOneHeartbeat([POLL, ...times(5, A), POLL]), limits(), 6000)).toBe(T0 + 5000);
});

test('a row of polls counts while it lasts, and ends with another call', () => {
  const l = limits({ polling_after: '0s' });
  expect(fires([B, ...times(5, POLL)], l)).toBe(true);
  expect(fires([B, ...times(5, POLL), B], l)).toBe(false);
  expect(fires([B, ...times(4, POLL), B, POLL], l)).toBe(false);
});

test('polls whose results change are not a repetition, however many there are', () => {
  const changing = Array.from({ length: 25 }, (_, i) => ({ ...POLL, result_hash: `r${i}` }));
  expect(fires(changing, limits({ polling_after: '0s', stale_times: 5, failing_times: 5 }))).toBe(false);
});

const failing = (n: number): Partial<Call>[] =>
  Array.from({ length: n }, (_, i) => ({ ...A, outcome: 'error', error_class: 'exit_1', result_hash: `e${i}` }));

test('a call that fails with different errors counts from failing_times', () => {
  const l = limits({ failing_times: 3 });
  expect(fires(failing(2), l)).toBe(false);
  expect(fires(failing(3), l)).toBe(true);
  expect(fires(failing(9))).toBe(false);
  expect(fires([...failing(2), B, ...failing(2)], l)).toBe(false);
  expect(fires([...failing(2), A, ...failing(2)], l)).toBe(false);
  expect(fires([...failing(3), { args_hash: 'edit', mutating: true }], l)).toBe(false);
});

test('calls without new results, in any order, count from stale_times', () => {
  const l = limits({ times: 90, stale_times: 20 });
  const churn = Array.from({ length: 33 }, (_, i) => (i % 3 === 1 ? B : A));
  expect(fires([A, B, ...churn.slice(0, 19)], l)).toBe(false);
  expect(fires([A, B, ...churn.slice(0, 20)], l)).toBe(true);
  expect(fires(churn, limits({ times: 90 }))).toBe(false);
  const twice = Array.from({ length: 15 }, (_, i) => ({ args_hash: `a${i}` }));
  expect(fires([...twice, ...twice], l)).toBe(false);
  expect(
    fires(
      churn.map((c, i) => (c === B ? { ...B, result_hash: `r${i}` } : c)),
      l,
    ),
  ).toBe(false);
  expect(fires([...churn, C], l)).toBe(false);
  expect(fires(times(40, { args_hash: null }), l)).toBe(false);
});
