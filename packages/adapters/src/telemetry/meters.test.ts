import { expect, test } from 'vitest';
import type { Usage } from '../session/session.ts';
import { type MeterReading, noAmounts, readMeters } from './meters.ts';

const FIRST_SEEN_AT = 1000;

const reading = (tokens: number, more: Partial<MeterReading> = {}): MeterReading => ({
  agent: null,
  source: 'metric',
  id: `${more.series ?? 's'}-${more.at ?? 2000}`,
  series: 's',
  at: 2000,
  startedAt: FIRST_SEEN_AT,
  isCumulative: true,
  model: 'm',
  amounts: { ...noAmounts, input_tokens: tokens },
  ...more,
});

const unknown = { usage: [], context: null, costUsd: null };

/** The known counts of the session's own agent after readings that arrive one by one. */
const counted = (...readings: readonly MeterReading[]) => {
  let meters = {};
  let usage: Usage = unknown;
  for (const one of readings) {
    const read = readMeters(meters, [one], FIRST_SEEN_AT);
    meters = read.meters;
    for (const event of read.events) if (event.kind === 'usage_metered') usage = event.usage;
  }
  return usage;
};

/** Null: unknown. */
const tokens = (...readings: readonly MeterReading[]): number | null =>
  counted(...readings).usage[0]?.input_tokens ?? null;

test('the first cumulative value counts fully if its series began when the agent was first seen, or later', () => {
  expect(tokens(reading(100))).toBe(100);
  expect(tokens(reading(100, { startedAt: FIRST_SEEN_AT + 1 }))).toBe(100);
});

test('the first cumulative value of an older series, or of one of unknown age, counts nothing; the next counts its increase', () => {
  for (const startedAt of [FIRST_SEEN_AT - 1, null]) {
    expect(tokens(reading(100, { startedAt }))).toBeNull();
    expect(tokens(reading(100, { startedAt }), reading(130, { startedAt, at: 3000 }))).toBe(30);
  }
});

test('a cumulative value counts its increase, once', () => {
  const [first, second] = [reading(100), reading(160, { at: 3000 })];
  expect(tokens(first, second)).toBe(160);
  expect(tokens(first, second, second)).toBe(160);
  expect(tokens(first, second, first)).toBe(160);
});

test('a restarted counter counts completely', () => {
  const again = { at: 3000, startedAt: 2500 };
  expect(tokens(reading(100), reading(40, again))).toBe(140);
  expect(tokens(reading(100), reading(100, again))).toBe(200);
  expect(tokens(reading(100), reading(40, { at: 3000 }))).toBe(140);
});

test('a late value of the previous process counts nothing', () => {
  const again = reading(40, { at: 3000, startedAt: 2500 });
  expect(tokens(reading(100), again, reading(120, { at: 3500 }))).toBe(140);
});

test('each series and each model is counted separately', () => {
  const other = reading(5, { series: 't', model: 'n' });
  expect(counted(reading(100), other).usage.map(({ model, input_tokens }) => [model, input_tokens])).toEqual([
    ['m', 100],
    ['n', 5],
  ]);
});

test('an increment counts once, even if it is exported again', () => {
  const [first, second] = [reading(10, { isCumulative: false }), reading(7, { isCumulative: false, at: 3000 })];
  expect(tokens(first, second, first, second)).toBe(17);
});

test('tokens of spans are not added to those of metrics', () => {
  const span = reading(90, { source: 'span', isCumulative: false, series: 'x' });
  expect(tokens(reading(100), span)).toBe(90);
  expect(tokens(span, reading(100))).toBe(90);
});

test('cached tokens are subtracted from the input tokens, in any order of arrival', () => {
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

test('readings that arrive together are one event for each agent, and none without new counts', () => {
  const other = reading(7, { agent: 'sub', series: 'sub' });
  const { meters, events } = readMeters({}, [reading(100), other, reading(160, { at: 3000 })], FIRST_SEEN_AT);
  expect(events.map(({ agent, ...event }) => [agent, event])).toMatchObject([
    ['sub', { kind: 'usage_metered', usage: { usage: [{ input_tokens: 7 }] } }],
    [null, { kind: 'usage_metered', usage: { usage: [{ input_tokens: 160 }] } }],
  ]);
  expect(readMeters(meters, [reading(160, { at: 4000 })], FIRST_SEEN_AT).events).toEqual([]);
});

test('memory stays bounded under endless readings, and no token of the session is lost', () => {
  const many = Array.from({ length: 1000 }, (_, i) => reading(1, { series: `s${i}`, model: `m${i}`, id: `i${i}` }));
  const { usage } = counted(...many);
  expect(usage.length).toBeLessThan(60);
  expect(usage.reduce((sum, { input_tokens }) => sum + input_tokens, 0)).toBe(1000);
  const agents = many.map((one, i) => ({ ...one, agent: `a${i}` }));
  const { meters } = readMeters({}, [reading(100), ...agents], FIRST_SEEN_AT);
  expect(Object.keys(meters).length).toBeLessThan(110);
  expect(readMeters(meters, [reading(130, { at: 3000 })], FIRST_SEEN_AT).events).toMatchObject([
    { agent: null, usage: { usage: [{ input_tokens: 130 }] } },
  ]);
});

test.each(['__proto__', 'constructor'])('%s is an agent and a series like any other', (name) => {
  const { events } = readMeters({}, [reading(100, { agent: name, series: name })], FIRST_SEEN_AT);
  expect(events).toMatchObject([{ agent: name, usage: { usage: [{ input_tokens: 100 }] } }]);
});

test.each([500, 501, 1000])('a request with %d increments counts once, even if it is exported again', (count) => {
  const all = Array.from({ length: count }, (_, i) => reading(1, { isCumulative: false, id: `r${i}` }));
  const first = readMeters({}, all, FIRST_SEEN_AT);
  expect(first.events).toMatchObject([{ usage: { usage: [{ input_tokens: count }] } }]);
  const between = readMeters(first.meters, [reading(1, { isCumulative: false, id: 'between' })], FIRST_SEEN_AT);
  expect(readMeters(between.meters, all, FIRST_SEEN_AT).events).toEqual([]);
});

test('a series that was dropped from memory does not count completely again', () => {
  const all = (at: number) => Array.from({ length: 201 }, (_, i) => reading(10, { series: `s${i}`, at }));
  expect(tokens(...all(2000), ...all(3000), ...all(4000))).toBe(2010);
  const later = reading(5, { series: 'later', startedAt: 4001, at: 5000 });
  expect(tokens(...all(2000), ...all(3000), later)).toBe(2015);
});
