import { NEVER } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { history, T0 } from '../fixture.ts';
import type { History } from '../history/history.ts';
import { SIGNALS, type SignalName } from './all.ts';
import { CASES, type Case } from './cases.ts';

const judging = (ms: number) => ({ now: T0 + ms, watched: T0 + ms, floor: 0 });
const limitsOf = (name: SignalName, limits: object) => SIGNALS[name].limits.parse(limits) as never;
const ends: Partial<Record<SignalName, (h: History) => History>> = {
  exited: (h) => ({ ...h, end: { reason: 'crashed', at: T0 + 9000, ordered: false } }),
};

test('every signal has its cases', () => {
  expect(Object.keys(CASES).sort()).toEqual(Object.keys(SIGNALS).sort());
});

describe.each(Object.entries(CASES) as [SignalName, Case][])(
  '%s',
  (name, { limits, beats, firesAt, unknown, words }) => {
    const signal = SIGNALS[name];
    const read = limitsOf(name, limits);
    const known = (ends[name] ?? ((h) => h))(history(beats));

    test('fires from the millisecond beyond its limit, or when its count is reached', () => {
      const heard = Math.max(...beats.map(([ms]) => ms));
      expect(signal.firesFrom(known, read, judging(heard))).toBe(T0 + firesAt);
      expect(signal.firesFrom(known, read, judging(firesAt))).toBe(T0 + firesAt);
    });

    test('does not fire before it', () => {
      if (signal.axis === 'absence') {
        expect(signal.firesFrom(known, read, judging(firesAt - 1))).toBeGreaterThan(T0 + firesAt - 1);
        return;
      }
      const fewer = beats.slice(0, -1);
      const before = fewer.length > 0 ? history(fewer) : history([[0, {}]]);
      expect(signal.firesFrom(before, read, judging(firesAt))).toBe(NEVER);
    });

    test('never fires where its data is missing', () => {
      if (unknown.length === 0) return;
      expect(signal.firesFrom(history(unknown), read, judging(86_400_000))).toBe(NEVER);
    });

    test('says why, with figure and limit', () => {
      const at = judging(signal.axis === 'absence' ? firesAt - 1 : firesAt);
      expect(signal.evidence(known, read, at).words).toBe(words);
    });
  },
);
