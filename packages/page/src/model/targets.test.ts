import type { Targets } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { targetsOf } from './targets.ts';

const delay = (p95Ms: number | null) => ({ count: 4, p50Ms: p95Ms, p95Ms, maxMs: p95Ms });
const rate = (part: number, all: number) => ({ part, all, rate: all === 0 ? null : part / all });

const shown = (more: Partial<Targets>) =>
  targetsOf({
    since: 0,
    detection: delay(null),
    intervention: delay(null),
    recovery: rate(0, 0),
    falsePositives: rate(0, 0),
    ...more,
  });
const met = (more: Partial<Targets>) => shown(more).map(({ isMet }) => isMet);

test('a target without a figure is neither met nor missed', () => {
  expect(met({})).toEqual([null, null, null, null]);
});

test.each([
  [{ detection: delay(299_999), intervention: delay(599_999) }, [true, true, null, null]],
  [{ detection: delay(300_000), intervention: delay(600_000) }, [false, false, null, null]],
  [{ recovery: rate(96, 100), falsePositives: rate(0, 100) }, [null, null, true, true]],
  [{ recovery: rate(95, 100), falsePositives: rate(1, 100) }, [null, null, false, false]],
])('a target is met beyond its aim only: %j', (figures, expected) => {
  expect(met(figures)).toEqual(expected);
});

test('the words beside a figure name it as a target, so that a missed one does not read as met', () => {
  const figures = shown({ recovery: rate(1, 4), detection: delay(360_000) });
  expect(figures.map(({ figure, aim }) => `${figure} ${aim}`)).toEqual([
    '6 min target below 5 min',
    '- target below 10 min',
    '25 % target above 95 %',
    '- target below 1 %',
  ]);
});
