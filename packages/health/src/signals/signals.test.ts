import { NEVER } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { BARE, type HeartbeatPayload, history as historyOf, judgedAt, T0 } from '../fixture.ts';
import type { History } from '../history/history.ts';
import { INITIAL_HISTORY } from '../history/history.ts';
import { SIGNALS, type SignalName } from './all.ts';
import type { Case, Heartbeats } from './testing/case.ts';
import { CASES } from './testing/cases.ts';

const judging = (ms: number) => judgedAt(T0 + ms);
const limitsOf = (name: SignalName, limits: object) => SIGNALS[name].limits.parse(limits) as never;
const ends: Partial<Record<SignalName, (h: History) => History>> = {
  exited: (h) => ({ ...h, end: { reason: 'crashed', at: T0 + 9000, orderId: null, bySelf: false } }),
};

/** The heartbeats without the field, also in each entry of a list. */
const without = (heartbeats: Heartbeats, path: string): Heartbeats => {
  const [field = '', inner] = path.split('.');
  const bare = (value: unknown): unknown => (Array.isArray(value) ? [] : typeof value === 'number' ? 0 : null);
  const stripped = (value: unknown): unknown => {
    if (inner === undefined) return bare(value);
    if (Array.isArray(value)) return value.map((one) => ({ ...one, [inner]: null }));
    return value && { ...(value as object), [inner]: null };
  };
  return heartbeats.map(([ms, more]) => [
    ms,
    { ...more, [field]: stripped(more[field as keyof HeartbeatPayload] ?? BARE[field as keyof HeartbeatPayload]) },
  ]);
};

test('every signal has its cases', () => {
  expect(Object.keys(CASES).sort()).toEqual(Object.keys(SIGNALS).sort());
});

describe.each(Object.entries(CASES) as [SignalName, Case][])(
  '%s',
  (name, { limits, heartbeats, firesAt, unknown, needs, atLimit, words }) => {
    const signal = SIGNALS[name];
    const read = limitsOf(name, limits);
    const history = (given: Heartbeats) => historyOf(given, { others: signal.patterns?.(read) ?? [] });
    const known = (ends[name] ?? ((h) => h))(history(heartbeats));

    test('fires from the millisecond beyond its limit, or when its count is reached', () => {
      const received = Math.max(...heartbeats.map(([ms]) => ms));
      expect(signal.firesFrom(known, read, judging(received))).toBe(T0 + firesAt);
      expect(signal.firesFrom(known, read, judging(firesAt))).toBe(T0 + firesAt);
    });

    test('does not fire before it', () => {
      if (signal.axis === 'absence') {
        expect(signal.firesFrom(known, read, judging(firesAt - 1))).toBeGreaterThan(T0 + firesAt - 1);
        return;
      }
      const fewer = heartbeats.slice(0, -1);
      const before = fewer.length > 0 ? history(fewer) : history([[0, {}]]);
      expect(signal.firesFrom(before, read, judging(firesAt))).toBe(NEVER);
    });

    test.runIf(atLimit)('does not fire at a limit that must be exceeded', () => {
      expect(signal.firesFrom(history(atLimit ?? []), read, judging(86_400_000))).toBe(NEVER);
    });

    test('never fires if its data is missing', () => {
      if (unknown.length > 0) expect(signal.firesFrom(history(unknown), read, judging(86_400_000))).toBe(NEVER);
      expect(signal.firesFrom(history([[0, { reporter: 'runtime', task_id: null }]]), read, judging(3))).toSatisfy(
        (from: number) => from === NEVER || name === 'no_heartbeat',
      );
    });

    test.runIf(needs.length > 0).each(needs)('never fires without %s', (path) => {
      expect(signal.firesFrom(history(without(heartbeats, path)), read, judging(86_400_000))).toBe(NEVER);
    });

    test.runIf(signal.endsAt)('has the moment when it ends by itself', () => {
      const end = (signal.endsAt?.(known, read, judging(firesAt)) ?? 0) - T0;
      expect(signal.firesFrom(known, read, judging(end - 1))).toBe(T0 + firesAt);
      expect(signal.firesFrom(known, read, judging(end))).toBe(NEVER);
    });

    test.runIf(signal.by)('never fires while the part that it fires by is as at birth', () => {
      const part = signal.by!;
      const { [part]: unborn } = INITIAL_HISTORY;
      expect(signal.firesFrom({ ...known, [part]: unborn }, read, judging(86_400_000))).toBe(NEVER);
    });

    test('has a reason with figure and limit', () => {
      const at = judging(signal.axis === 'absence' ? firesAt - 1 : firesAt);
      expect(signal.evidence(known, read, at).words).toBe(words);
    });

    test('has words for an agent without any report', () => {
      expect(signal.evidence(history([[0, {}]]), read, judging(1)).words).not.toMatch(/NaN|undefined|null|Infinity/);
    });
  },
);
