import { expect, test } from 'vitest';
import { call, type HeartbeatPayload, T0 } from '../fixture.ts';
import { preset, SEC } from './judging.fixture.ts';

/** "An error_count that rises by more than 25 % of the calls or steps reported": CODITECT's limit, on both sides. */
const coditect = preset('coditect');
type Fields = Partial<HeartbeatPayload>;

const running = (i: number) => call(`c${i}`, { args_hash: `${i}`, result_hash: null, outcome: 'running' });
const done = (i: number) => ({ ...running(i), outcome: 'ok' as const });
const range = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, i) => from + i);
/** How many of the first `n` calls fail, if every `every`th does. */
const errorsOf = (n: number, every: number) => ({ error_count: Math.floor(n / every) });
const moved = (i: number) => ({ last_tool_call: T0 + i });

/** Heartbeats a second apart, after one that reports nothing. */
const isOver = (heartbeats: readonly Fields[]): boolean =>
  coditect
    .at(
      [{}, ...heartbeats].map((fields, i) => [i * SEC, { task_id: 'T', ...fields }] as const),
      heartbeats.length * SEC,
    )
    .fires.includes('reported_errors');

const sixty = range(0, 60);

/** The heartbeats of an agent with 60 calls; every `every`th fails. */
const WAYS: Readonly<Record<string, (every: number) => readonly Fields[]>> = {
  'four calls begin in each heartbeat, beside the time of the last': (every) =>
    range(0, 15).map((i) => ({
      tool_calls: range(4 * i, 4 * i + 4).map(running),
      ...moved(i),
      ...errorsOf(4 * i + 4, every),
    })),
  'an error comes in the heartbeat after its call': (every) =>
    sixty.flatMap((i) => [
      { ...moved(i), ...errorsOf(i, every) },
      { ...moved(i), ...errorsOf(i + 1, every) },
    ]),
  'an error comes in the heartbeat after the end of its call': (every) =>
    sixty.flatMap((i) => [
      { tool_calls: [running(i)], ...errorsOf(i, every) },
      { tool_calls: [done(i)], ...errorsOf(i, every) },
      errorsOf(i + 1, every),
    ]),
  'an error comes two calls after its own': (every) =>
    sixty.map((i) => ({ tool_calls: [done(i)], ...errorsOf(Math.max(0, i - 1), every) })),
  'the time of the last call moves at its end, which is not reported': (every) =>
    sixty.flatMap((i) => [
      { tool_calls: [running(i)], ...errorsOf(i, every) },
      { ...moved(i), ...errorsOf(i + 1, every) },
    ]),
  'the time of the last call moves at its start and at its reported end': (every) =>
    sixty.flatMap((i) => [
      { tool_calls: [running(i)], ...moved(2 * i), ...errorsOf(i, every) },
      { tool_calls: [done(i)], ...moved(2 * i + 1), ...errorsOf(i + 1, every) },
    ]),
  'a step is counted in the heartbeat after its call': (every) =>
    sixty.flatMap((i) => [
      { tool_calls: [done(i)], steps: { total_steps: i, verdicts: [] }, ...errorsOf(i + 1, every) },
      { steps: { total_steps: i + 1, verdicts: [] }, ...errorsOf(i + 1, every) },
    ]),
  'twelve calls in each heartbeat': (every) =>
    range(0, 5).map((i) => ({
      tool_calls: range(12 * i, 12 * i + 12).map(done),
      ...errorsOf(12 * i + 12, every),
    })),
  'all calls in one heartbeat': (every) => [{ tool_calls: sixty.map(done), ...errorsOf(60, every) }],
  'each call is in flight in every heartbeat, and the count rises with them': (every) =>
    range(0, 15).map((i) => ({ tool_calls: range(0, 4 * i + 4).map(running), ...errorsOf(4 * i + 4, every) })),
};

test.each(Object.entries(WAYS))('%s: a quarter of the calls is within the limit, more is above', (_, heartbeats) => {
  expect(isOver(heartbeats(4))).toBe(false);
  expect(isOver(heartbeats(3))).toBe(true);
});

test('twenty calls that are in flight in fifty heartbeats are twenty calls', () => {
  const inFlight = (errors: number): readonly Fields[] =>
    range(0, 50).map((i) => ({
      tool_calls: range(0, 20).map(running),
      error_count: Math.min(errors, Math.floor(i / 8)),
    }));
  expect(isOver(inFlight(5))).toBe(false);
  expect(isOver(inFlight(6))).toBe(true);
});

test('one error more than a quarter of a hundred calls is above the limit', () => {
  const hundred = (error_count: number): readonly Fields[] => [{ tool_calls: range(0, 100).map(done), error_count }];
  expect(isOver(hundred(25))).toBe(false);
  expect(isOver(hundred(26))).toBe(true);
});

const DENOMINATORS: Readonly<Record<string, Fields>> = {
  steps: { steps: { total_steps: 3, verdicts: [] } },
  'the time of the last call': moved(0),
  'a call in flight': { tool_calls: [running(0)] },
  'a finished call': { tool_calls: [done(0)] },
};

test.each(Object.entries(DENOMINATORS))(
  'of an agent that reports %s, errors without another call or step are above any share, from as many on as operations are needed',
  (_, fields) => {
    expect(isOver([fields, { error_count: 7 }])).toBe(false);
    expect(isOver([fields, { error_count: 8 }])).toBe(true);
  },
);

test('of an agent that reports neither calls, their times nor steps, no number of errors is a share', () => {
  expect(isOver([{ error_count: 8 }])).toBe(false);
  expect(isOver(sixty.map((i) => ({ error_count: i })))).toBe(false);
});

test('errors from before the first report of a call do not count, and those after it do', () => {
  const before: readonly Fields[] = [{ error_count: 500 }];
  expect(isOver([...before, { ...moved(0), error_count: 500 }, { error_count: 507 }])).toBe(false);
  expect(isOver([...before, { ...moved(0), error_count: 500 }, { error_count: 508 }])).toBe(true);
});

test('errors that an agent has left behind do not count: twenty calls later it is within the limit', () => {
  const after = (calls: number): readonly Fields[] => [
    { ...moved(0), error_count: 500 },
    ...range(1, calls + 1).map((i) => ({ ...moved(i), error_count: 500 })),
  ];
  expect(isOver(after(19))).toBe(true);
  expect(isOver(after(20))).toBe(false);
});

test('a time of the last call that goes back is one other call, not one in each heartbeat', () => {
  const back = (errors: number): readonly Fields[] => [
    ...range(0, 19).map((i) => moved(1000 + i)),
    ...range(0, 30).map((i) => ({ ...moved(900), error_count: Math.min(errors, Math.floor(i / 4)) })),
  ];
  expect(isOver(back(5))).toBe(false);
  expect(isOver(back(6))).toBe(true);
});
