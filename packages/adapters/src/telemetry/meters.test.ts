import { expect, test } from 'vitest';
import { type MeterReading, noAmounts, noMeters, readMeter, usageOf } from './meters.ts';

const HEARD_AT = 1000;

const reading = (tokens: number, more: Partial<MeterReading> = {}): MeterReading => ({
  agent: null,
  source: 'metric',
  id: `${more.series ?? 's'}-${more.at ?? 2000}`,
  series: 's',
  at: 2000,
  startedAt: HEARD_AT,
  isCumulative: true,
  model: 'm',
  amounts: { ...noAmounts, input_tokens: tokens },
  ...more,
});

const counted = (...readings: readonly MeterReading[]) =>
  usageOf(readings.reduce((meters, one) => readMeter(meters, one, HEARD_AT), noMeters));

/** Null: nothing is known. */
const tokens = (...readings: readonly MeterReading[]): number | null =>
  counted(...readings).usage[0]?.input_tokens ?? null;

test('the first cumulative value counts whole where its series began when the agent was first heard of, or later', () => {
  expect(tokens(reading(100))).toBe(100);
  expect(tokens(reading(100, { startedAt: HEARD_AT + 1 }))).toBe(100);
});

test('the first cumulative value of an older series, or of one of unknown age, counts nothing; the next counts what it adds', () => {
  for (const startedAt of [HEARD_AT - 1, null]) {
    expect(tokens(reading(100, { startedAt }))).toBeNull();
    expect(tokens(reading(100, { startedAt }), reading(130, { startedAt, at: 3000 }))).toBe(30);
  }
});

test('a cumulative value counts what it has grown by, once', () => {
  const [first, second] = [reading(100), reading(160, { at: 3000 })];
  expect(tokens(first, second)).toBe(160);
  expect(tokens(first, second, second)).toBe(160);
  expect(tokens(first, second, first)).toBe(160);
});

test('a counter that has started again counts whole', () => {
  const again = { at: 3000, startedAt: 2500 };
  expect(tokens(reading(100), reading(40, again))).toBe(140);
  expect(tokens(reading(100), reading(100, again))).toBe(200);
  expect(tokens(reading(100), reading(40, { at: 3000 }))).toBe(140);
});

test('a late value of the process before counts nothing', () => {
  const again = reading(40, { at: 3000, startedAt: 2500 });
  expect(tokens(reading(100), again, reading(120, { at: 3500 }))).toBe(140);
});

test('each series counts by itself, and models are kept apart', () => {
  const other = reading(5, { series: 't', model: 'n' });
  expect(counted(reading(100), other).usage.map(({ model, input_tokens }) => [model, input_tokens])).toEqual([
    ['m', 100],
    ['n', 5],
  ]);
});

test('an increment counts once, also where it is exported again', () => {
  const [first, second] = [reading(10, { isCumulative: false }), reading(7, { isCumulative: false, at: 3000 })];
  expect(tokens(first, second, first, second)).toBe(17);
});

test('tokens of spans are not added to those of metrics', () => {
  const span = reading(90, { source: 'span', isCumulative: false, series: 'x' });
  expect(tokens(reading(100), span)).toBe(90);
  expect(tokens(span, reading(100))).toBe(90);
});

test('cached tokens are taken from the input tokens, in whatever order the two arrive', () => {
  const cached = reading(0, { series: 'c', amounts: { ...noAmounts, input_tokens: -60, cache_read_tokens: 60 } });
  for (const order of [
    [reading(100), cached],
    [cached, reading(100)],
  ])
    expect(counted(...order).usage).toMatchObject([{ input_tokens: 40, cache_read_tokens: 60 }]);
});

test('money without tokens leaves the tokens unknown, and tokens without money leave the cost unknown', () => {
  const money = reading(0, { series: 'usd', amounts: { ...noAmounts, usd: 0.5 } });
  expect(counted(money)).toEqual({ usage: [], context: null, costUsd: 0.5 });
  expect(counted(reading(100)).costUsd).toBeNull();
});
