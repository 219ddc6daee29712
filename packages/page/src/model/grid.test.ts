import { expect, test } from 'vitest';
import { drawnTop, movedIndex, windowOf } from './grid.ts';

test('of 10,000 cells only those near the visible part are drawn, and all can be reached', () => {
  const shape = { width: 1000, top: 0, height: 800 };
  const atTop = windowOf(shape, 10_000, 200, 40);
  expect(atTop).toEqual({ columns: 5, lines: 2000, first: 0, last: 120 });
  const atEnd = windowOf({ ...shape, top: 2000 * 40 - 800 }, 10_000, 200, 40);
  expect(atEnd.last).toBe(10_000);
  expect(atEnd.last - atEnd.first).toBeLessThan(200);
});

test('a scroll of less than the spare lines draws no new cell, and what is visible is drawn at each place', () => {
  expect(new Set([0, 90, 159].map((top) => drawnTop(top, 40)))).toEqual(new Set([0]));
  expect(drawnTop(160, 40)).toBe(160);
  for (let top = -200; top < 1000; top += 7) {
    const { first, last } = windowOf({ width: 200, top: drawnTop(top, 40), height: 800 }, 10_000, 200, 40);
    expect(first * 40).toBeLessThanOrEqual(Math.max(0, top));
    expect(last * 40).toBeGreaterThanOrEqual(top + 800);
  }
});

test('a narrow or empty grid has one column and no cell outside', () => {
  expect(windowOf({ width: 0, top: 0, height: 0 }, 0, 200, 40)).toMatchObject({ columns: 1, first: 0, last: 0 });
  const beyond = windowOf({ width: 360, top: 90_000, height: 800 }, 3, 200, 40);
  expect(beyond.first).toBeLessThan(3);
  expect(beyond.last).toBe(3);
});

test('arrow keys move by cells and lines, and stop at the ends', () => {
  expect(movedIndex('ArrowDown', 3, 5, 100)).toBe(8);
  expect(movedIndex('ArrowUp', 3, 5, 100)).toBe(0);
  expect(movedIndex('End', 3, 5, 100)).toBe(99);
  expect(movedIndex('x', 3, 5, 100)).toBeNull();
});
