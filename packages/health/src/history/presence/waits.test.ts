import { NEVER } from '@vigil/stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Interval,
  lastWaitEnd,
  MOST_WAITS,
  markAfter,
  NO_WAITS,
  WAIT,
  type Waits,
  waitedBetween,
  waitsAfter,
  withPresent,
} from './waits.ts';

const { idle, paused } = WAIT;

describe('waits between two receipts', () => {
  test('a wait that continues is one interval', () => {
    const first = waitsAfter(NO_WAITS, [[0, NEVER, paused]], 0, 10);
    expect(waitsAfter(first, [[10, NEVER, paused]], 10, 20)).toEqual([[0, 20, paused]]);
  });

  test('waits that overlap are divided, so that no time counts twice', () => {
    const present: Interval[] = [
      [0, 6, paused],
      [4, NEVER, idle],
    ];
    expect(waitsAfter(NO_WAITS, present, 0, 10)).toEqual([
      [0, 4, paused],
      [4, 6, paused + idle],
      [6, 10, idle],
    ]);
  });

  test('a wait that was over before the last receipt, or of no length, adds nothing', () => {
    const before: Waits = [[0, 3, idle]];
    expect(waitsAfter(before, [[0, 5, paused]], 5, 10)).toBe(before);
  });
});

describe('the time without waits', () => {
  const waits: Waits = [
    [10, 20, idle],
    [30, 40, paused],
  ];

  test('passes only outside them, and only for the kinds that count', () => {
    expect(markAfter(waits, idle + paused, 0, 10)).toBe(10);
    expect(markAfter(waits, idle + paused, 0, 11)).toBe(21);
    expect(markAfter(waits, idle + paused, 0, 21)).toBe(41);
    expect(markAfter(waits, idle, 0, 21)).toBe(31);
    expect(markAfter(waits, idle + paused, 15, 1)).toBe(21);
    expect(markAfter(waits, 0, 0, 21)).toBe(21);
  });

  test('the last wait is that of a kind that counts', () => {
    expect([lastWaitEnd(waits, idle), lastWaitEnd(waits, paused), lastWaitEnd(waits, WAIT.question)]).toEqual([
      20, 40, 0,
    ]);
  });

  test('the mark at which it has passed is the first at which so much was not waited', () => {
    const arbitrary = fc.array(
      fc
        .tuple(fc.nat(20), fc.nat(20), fc.constantFrom(idle, paused, idle + paused))
        .map(([from, length, kinds]): Interval => [from, from + length, kinds]),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(arbitrary, fc.nat(40), fc.integer({ min: 1, max: 20 }), (present, from, ms) => {
        const all = withPresent(NO_WAITS, present, 0, 100);
        const passed = (to: number) => to - from - waitedBetween(all, idle, from, to);
        const mark = markAfter(all, idle, from, ms);
        expect([passed(mark), passed(mark - 1)]).toEqual([ms, ms - 1]);
      }),
    );
  });
});

describe('more waits than are stored', () => {
  const kinds = fc.constantFrom(idle, paused, idle + paused);
  const many = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 }), kinds), {
    minLength: MOST_WAITS + 1,
    maxLength: 4 * MOST_WAITS,
  });

  test('never excuse less since any mark, and exactly as much since a mark before all of them', () => {
    fc.assert(
      fc.property(many, fc.nat(2000), (each, mark) => {
        let [stored, all, now]: [Waits, Interval[], number] = [NO_WAITS, [], 0];
        for (const [works, waits, kind] of each) {
          now += works;
          stored = waitsAfter(stored, [[now, now + waits, kind]], now, now + waits);
          all.push([now, now + waits, kind]);
          now += waits;
        }
        expect(stored.length).toBeLessThanOrEqual(MOST_WAITS);
        for (const [i, [from]] of stored.entries()) expect(from).toBeGreaterThanOrEqual(stored[i - 1]?.[1] ?? 0);
        for (const kind of [idle, paused])
          expect(waitedBetween(stored, kind, mark, now)).toBeGreaterThanOrEqual(waitedBetween(all, kind, mark, now));
        const both = idle + paused;
        expect(waitedBetween(stored, both, 0, now)).toBe(waitedBetween(all, both, 0, now));
      }),
    );
  });
});
