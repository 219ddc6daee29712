import type { Targets } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { knownOf } from './knowledge.ts';
import { figureOf, targetsOf } from './targets.ts';

const delay = (p95Ms: number | null) => ({ count: 4, p50Ms: p95Ms, p95Ms, maxMs: p95Ms });
const rate = (part: number, all: number) => ({ part, all, rate: all === 0 ? null : part / all });

const NONE = { count: 0, p95AtMostMs: null };
const shown = (more: Partial<Targets>) =>
  targetsOf({
    since: 0,
    detection: delay(null),
    intervention: delay(null),
    recovery: rate(0, 0),
    falsePositives: rate(0, 0),
    watched: 0,
    speeds: { check: NONE, heartbeat: NONE, transition: NONE },
    ...more,
  });
const met = (more: Partial<Targets>) => shown(more).map(({ isMet }) => isMet);

test('a target without a figure is neither met nor missed', () => {
  expect(met({})).toEqual(Array(8).fill(null));
});

test.each([
  [{ detection: delay(299_999), intervention: delay(599_999) }, [true, true, null, null]],
  [{ detection: delay(300_000), intervention: delay(600_000) }, [false, false, null, null]],
  [{ recovery: rate(96, 100), falsePositives: rate(0, 100) }, [null, null, true, true]],
  [{ recovery: rate(95, 100), falsePositives: rate(1, 100) }, [null, null, false, false]],
])('a target is met beyond its aim only: %j', (figures, expected) => {
  expect(met(figures).slice(0, 4)).toEqual(expected);
});

test('the words beside a figure name it as a target, so that a missed one does not read as met', () => {
  const figures = shown({ recovery: rate(1, 4), detection: delay(360_000) });
  expect(figures.slice(0, 4).map(({ figure, aim }) => `${figure} ${aim}`)).toEqual([
    '6 min target below 5 min',
    '- target below 10 min',
    '25 % target above 95 %',
    '- target below 1 %',
  ]);
});

test('the speed of the services is met below the aim only: at most the aim is not below it', () => {
  const speed = (p95AtMostMs: number | null) => ({ count: 9, p95AtMostMs });
  const speeds = { check: speed(100), heartbeat: speed(100), transition: speed(null) };
  expect(shown({ speeds: { ...speeds, check: speed(50) } })[4]?.isMet).toBe(true);
  const figures = shown({ speeds, watched: 12 }).slice(4);
  expect(figures.map(({ name, figure, aim, isMet }) => `${name}: ${figure}, ${aim}: ${isMet}`)).toEqual([
    'Health check: at most 100 ms, target below 100 ms: null',
    'Heartbeat: at most 100 ms, target below 50 ms: false',
    'State change: longer than is measured, target below 1 s: false',
    'Agents watched: 12, target 100 and more at once: null',
  ]);
  expect(shown({ watched: 100 }).at(-1)?.isMet).toBe(true);
});

test('a blind page has each figure as it was, and none in green or red; a current one has both', () => {
  const targets = shown({ detection: delay(299_999), intervention: delay(600_000), watched: 4 });
  const met = shown({ watched: 100 }).slice(-1);
  const of = (blindSince: number | null) =>
    [...targets.slice(0, 3), ...targets.slice(-1), ...met].map((one) => {
      const { text, tone } = figureOf(one, knownOf(blindSince, 900));
      return `${text}: ${tone}`;
    });
  expect(of(null)).toEqual(['4 min 59 s: met', '10 min: bad', '-: dim', '4: dim', '100: met']);
  expect(of(500)).toEqual([
    ...['was 4 min 59 s: state-was', 'was 10 min: state-was', '-: state-was', 'was 4: state-was', 'was 100: state-was'],
  ]);
});
