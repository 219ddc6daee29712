import { NEVER } from '@vigil/stream';
import { expect, test } from 'vitest';
import { type Call, call, type HeartbeatPayload, history, judgedAt, T0 } from '../fixture.ts';
import { frequentCall, repeatedAnswer, repeatedArguments, repeatedCalls } from './repetition.ts';
import type { AnySignal } from './signal.ts';

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
  repeatedCalls.firesFrom(after(calls, more), l, judgedAt(T0 + 10_000_000)) < NEVER;
const times = (n: number, ...calls: Partial<Call>[]) => Array.from({ length: n }, () => calls).flat();

test('four identical calls are not a repetition, five are', () => {
  expect(fires(times(4, A))).toBe(false);
  expect(fires(times(5, A))).toBe(true);
});

test('many calls with other arguments are no repetition', () => {
  expect(fires(Array.from({ length: 20 }, (_, i) => ({ args_hash: `a${i}` })))).toBe(false);
});

const PERIODS = Array.from({ length: 11 }, (_, i) => i + 2);
const cycleOf = (period: number): readonly Partial<Call>[] =>
  Array.from({ length: period }, (_, i) => ({ args_hash: `a${i}`, result_hash: `r${i}` }));

test.each(PERIODS)('a cycle of %i calls counts its rounds: four are not a repetition, five are', (period) => {
  expect(fires(times(4, ...cycleOf(period)))).toBe(false);
  expect(fires(times(5, ...cycleOf(period)))).toBe(true);
});

test.each([1, ...PERIODS])('a cycle of %i edits that repeat each other counts like any other', (period) => {
  const edits = cycleOf(period).map((one) => ({ ...one, tool: 'Edit', mutating: true }));
  expect(fires(times(4, ...edits))).toBe(false);
  expect(fires(times(5, ...edits))).toBe(true);
});

test('a cycle of thirteen calls is none, but brings nothing new', () => {
  const calls = times(9, ...cycleOf(13));
  expect(fires(calls)).toBe(false);
  expect(fires(calls, limits({ stale_times: 24 }))).toBe(true);
  expect(fires(times(2, ...cycleOf(13)), limits({ stale_times: 24 }))).toBe(false);
});

test('an edit, a failing test and the edit undone are a loop, edits that are all different are not', () => {
  const edit = (n: string): Partial<Call> => ({ tool: 'Edit', args_hash: n, mutating: true, result_hash: 'done' });
  const test: Partial<Call> = { args_hash: 'test', outcome: 'error', result_hash: 'failed' };
  const rounds = Array.from({ length: 30 }, (_, i) => [edit('x to y'), test, edit('y to x'), { ...test }, i]);
  expect(fires(rounds.flatMap(([a, b, c, d]) => [a, b, c, d] as Partial<Call>[]))).toBe(true);
  expect(fires(Array.from({ length: 30 }, (_, i) => [edit(`edit ${i}`), test]).flat())).toBe(false);
});

test('an edit whose arguments or result are unknown may be new each time', () => {
  const edit: Partial<Call> = { tool: 'Edit', args_hash: null, mutating: true };
  expect(fires(times(9, A, edit))).toBe(false);
});

test('only repetitions of the named tools count, or of all but the named', () => {
  expect(fires(times(5, A), limits({ applies_to: ['bash'] }))).toBe(true);
  expect(fires(times(5, A), limits({ applies_to: ['read'] }))).toBe(false);
  expect(fires(times(5, A), limits({ except: ['read'] }))).toBe(true);
  expect(fires(times(5, A), limits({ except: ['bash'] }))).toBe(false);
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
  expect(fires(Array.from({ length: 6 }, (_, i) => [A, { ...edit, args_hash: `edit ${i}` }]).flat())).toBe(false);
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
  const from = repeatedCalls.firesFrom(after(polls), l, judgedAt(T0));
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
  repeatedCalls.firesFrom(history(reported), l, judgedAt(T0 + ms));
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

test('polls among other calls are polls, and only polls', () => {
  const l = limits({ polling_after: '1m' });
  const soon = (calls: readonly Partial<Call>[]) => fromWhen(inOneHeartbeat(calls), l, 1000 * calls.length) < NEVER;
  const quick = (calls: readonly Partial<Call>[]) =>
    soon(calls) && fromWhen(inOneHeartbeat(calls), l, 20_000) < T0 + 20_000;
  expect(quick([POLL, B, ...times(5, POLL)])).toBe(false);
  expect(quick([POLL, B, POLL, ...times(5, A)])).toBe(true);
  expect(quick([B, POLL, ...times(4, A)])).toBe(false);
});

test('a call that succeeds right after a wait is a poll, one that fails or changes something is not', () => {
  const l = limits({ cycles: 4, polling_after: '1m', stale_times: 12, rotation_times: 12 });
  const from = (calls: readonly Partial<Call>[]) => fromWhen(inOneHeartbeat(calls), l, 120_000);
  expect(from(times(20, POLL, A))).toBe(T0 + 61_001);
  expect(from(times(4, POLL, { ...A, outcome: 'error' }))).toBe(T0 + 7000);
  expect(from(times(4, POLL, { ...A, mutating: true }))).toBe(T0 + 7000);
  expect(from(times(4, POLL, A, B))).toBe(T0 + 11_000);
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

const firing = (signal: AnySignal, calls: readonly Partial<Call>[], settings: object): boolean =>
  signal.firesFrom(after(calls), signal.limits.parse(settings) as never, judgedAt(T0 + 1e7)) < NEVER;
const search = (n: number): Partial<Call> => ({ tool: 'grep', args_hash: `needle ${n}`, result_hash: 'no output' });
const searches = (n: number) => Array.from({ length: n }, (_, i) => search(i));

test('one answer to many questions is a repetition of the answer, and ends with another answer', () => {
  expect(firing(repeatedAnswer, searches(23), { times: 24 })).toBe(false);
  expect(firing(repeatedAnswer, searches(24), { times: 24 })).toBe(true);
  expect(firing(repeatedAnswer, [...searches(24), { ...search(99), result_hash: 'found' }], { times: 24 })).toBe(false);
  expect(firing(repeatedAnswer, searches(43), { times: 24, except: ['grep'] })).toBe(false);
  expect(fires(searches(43), limits({ stale_times: 24 }))).toBe(false);
});

test('edits that all answer alike, and polls, are no repeated answer', () => {
  const edits = searches(40).map((one) => ({ ...one, mutating: true }));
  expect(firing(repeatedAnswer, edits, { times: 24 })).toBe(false);
  expect(firing(repeatedAnswer, times(40, { ...A, polling: true }), { times: 24 })).toBe(false);
});

test('one call again and again counts without its results, too', () => {
  const blind = times(12, { ...A, result_hash: null });
  expect(firing(repeatedArguments, blind, { times: 12, results: 'unknown' })).toBe(true);
  expect(firing(repeatedArguments, blind.slice(1), { times: 12, results: 'unknown' })).toBe(false);
  const log = Array.from({ length: 12 }, (_, i) => ({ ...A, result_hash: `epoch ${i}` }));
  expect(firing(repeatedArguments, log, { times: 12, results: 'unknown' })).toBe(false);
  expect(firing(repeatedArguments, log, { times: 12 })).toBe(true);
  expect(firing(repeatedArguments, [...log, B], { times: 12 })).toBe(false);
});

test('six of the last ten calls were the same, also with others between', () => {
  const mixed = (same: number) => Array.from({ length: 10 }, (_, i) => (i < same ? A : { args_hash: `other ${i}` }));
  expect(firing(frequentCall, mixed(5), { times: 6, of: 10 })).toBe(false);
  expect(firing(frequentCall, mixed(6), { times: 6, of: 10 })).toBe(true);
  expect(firing(frequentCall, [...mixed(6), C], { times: 6, of: 10 })).toBe(false);
});

test('a frequent call of the named tools counts among the last calls of all tools', () => {
  const mixed = [...times(6, { ...A, tool: 'Read' }), ...searches(4)];
  const limit = { times: 6, of: 10 };
  expect(firing(frequentCall, mixed, { ...limit, applies_to: ['Read'] })).toBe(true);
  expect(firing(frequentCall, mixed, { ...limit, applies_to: ['grep', 'Read'] })).toBe(true);
  expect(firing(frequentCall, mixed, { ...limit, applies_to: ['grep'] })).toBe(false);
  expect(firing(frequentCall, mixed, { ...limit, except: ['grep'] })).toBe(true);
  expect(firing(frequentCall, mixed, { ...limit, except: ['Read'] })).toBe(false);
});
