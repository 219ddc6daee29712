import { NEVER } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { type HeartbeatPayload, history, judgedAt, T0 } from '../fixture.ts';
import { contextExhausted, tokenBurn, tokenSpike } from './cost.ts';
import { resourceLimit } from './fact.ts';
import type { Heartbeats } from './testing/case.ts';
import { contextUsed, using } from './testing/cases-cost.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const late = judgedAt(T0 + 24 * HOUR);
const spikeLimits = (more: object = {}) => tokenSpike.limits.parse(more) as never;
const spikes = (heartbeats: Heartbeats, more: object = {}, at = late) =>
  tokenSpike.firesFrom(history(heartbeats), spikeLimits(more), at) < NEVER;
const STEADY = [1000, 1000, 1000, 1000, 1000] as const;
const after = (heartbeats: Heartbeats, more: readonly Partial<HeartbeatPayload>[]): Heartbeats => {
  const [last, { token_count: count = 0 }] = heartbeats.at(-1) ?? [0, {}];
  return [...heartbeats, ...more.map((m, i) => [last + (i + 1) * MINUTE, { token_count: count, ...m }] as const)];
};

describe('a spike of tokens', () => {
  test('needs as many samples as the policy sets', () => {
    expect(spikes(using(1000, 1000, 1000, 1000, 9000))).toBe(false);
    expect(spikes(using(1000, 1000, 1000, 1000, 9000), { min_samples: 4 })).toBe(true);
  });

  test('holds until there is progress, even if the use becomes normal', () => {
    const spike = using(...STEADY, 9000, 1000, 1000, 1000);
    expect(spikes(spike)).toBe(true);
    expect(spikes(after(spike, [{ phase: 'the next' }]))).toBe(false);
  });

  test('a spike that progress does not end holds until six rates have followed, and no longer', () => {
    const despite = { ends_with_progress: false };
    const busy = (...each: readonly number[]) =>
      using(...each).map(([ms, more], i) => [ms, { ...more, phase: `step ${i}` }] as const);
    expect(spikes(busy(...STEADY, 9000))).toBe(false);
    expect(spikes(busy(...STEADY, 9000), despite)).toBe(true);
    expect(spikes(busy(...STEADY, 5000), despite)).toBe(false);
    expect(spikes(busy(...STEADY, 9000, ...STEADY), despite)).toBe(true);
    expect(spikes(busy(...STEADY, 9000, ...STEADY, 1000), despite)).toBe(false);
    expect(spikes(using(...STEADY, 9000, ...STEADY, 1000))).toBe(true);
  });

  test('a lower spike without later progress counts beside a higher one with it', () => {
    const higher = after(using(...STEADY, 99_000), [{ phase: 'the next' }]);
    const [last, { token_count: count = 0 }] = higher.at(-1) ?? [0, {}];
    const lower = [last + MINUTE, { token_count: (count ?? 0) + 9000, phase: 'the next' }] as const;
    expect(spikes(higher)).toBe(false);
    expect(spikes([...higher, lower])).toBe(true);
  });

  test('a higher spike before there are enough samples does not hide a later one', () => {
    const heartbeats = using(1000, 1000, 1000, 1000, 99_000, 9000);
    expect(spikes(heartbeats)).toBe(true);
    expect(spikes(heartbeats, { min_samples: 4, factor: 50 })).toBe(true);
    expect(spikes(heartbeats, { factor: 50 })).toBe(false);
  });

  test('does not follow from delayed heartbeats that arrive together', () => {
    const held = using(...STEADY, ...STEADY).map(([ms, more], i) =>
      i < 6 ? ([ms, more] as const) : ([10 * MINUTE, { ...more, timestamp: T0 + ms }] as const),
    );
    expect(spikes(after(held, [{ token_count: 12_000, timestamp: T0 + 11 * MINUTE }]))).toBe(false);
  });

  test('does not follow from the heartbeat after one that is ten minutes late', () => {
    const heartbeats = using(...STEADY);
    const count = heartbeats.at(-1)?.[1].token_count ?? 0;
    const heldUp = [15 * MINUTE, { token_count: count, timestamp: T0 + 6 * MINUTE }] as const;
    const next = [16 * MINUTE, { token_count: count + 10_000 }] as const;
    expect(spikes([...heartbeats, heldUp, next])).toBe(false);
  });

  test('a pause does not lower the median, because time without use is in no sample', () => {
    const paused = after(using(...STEADY), Array(30).fill({}));
    const [last, { token_count }] = paused.at(-1) ?? [0, {}];
    const count = token_count ?? 0;
    const resumed = [1, 2, 3].map((i) => [last + i * MINUTE, { token_count: count + i * 1000 }] as const);
    expect(history([...paused, ...resumed]).tokens.rates).toEqual(Array(6).fill(1000));
  });

  test('use too small to be a rate is in no sample', () => {
    expect(history([...using(...STEADY), [25 * 60 * MINUTE, { token_count: 6001 }]]).tokens.rates).toHaveLength(5);
  });

  test('a count that starts again is neither use nor a spike', () => {
    const again = after(using(...STEADY), [{ token_count: 10 }, { token_count: 1010 }]);
    expect(history(again).tokens.rates).toEqual(Array(6).fill(1000));
    expect(spikes(again)).toBe(false);
  });

  test('does not follow from another session with a higher count, nor from one whose count was unknown at first', () => {
    const of = (session_id: string) => ({ client: { name: 'codex', session_id } });
    const first = using(...STEADY).map(([ms, more]) => [ms, { ...more, ...of('A') }] as const);
    for (const between of [[], [{ ...of('B'), token_count: null }]]) {
      const again = after(first, [
        ...between,
        { ...of('B'), token_count: 30_000 },
        { ...of('B'), token_count: 31_000 },
        { ...of('A'), token_count: 6000 },
        { ...of('B'), token_count: 31_000 },
      ]);
      expect(history(again).tokens.rates).toEqual(Array(6).fill(1000));
      expect(spikes(again)).toBe(false);
    }
    const unknown = after(using(...STEADY), [{ token_count: null }, { token_count: 10 }, { token_count: 1010 }]);
    expect(history(unknown).tokens.rates).toEqual(Array(6).fill(1000));
  });

  test('what was used while an exemption held does not count', () => {
    const floor = T0 + 6 * MINUTE;
    expect(spikes(using(...STEADY, 9000), {}, { ...late, floor })).toBe(false);
    expect(spikes(using(...STEADY, 9000), {}, { ...late, floor: floor - 1 })).toBe(true);
  });
});

describe('burning tokens', () => {
  const limits = tokenBurn.limits.parse({ for: '30m' }) as never;
  const burns = (heartbeats: Heartbeats, floor = 0) =>
    tokenBurn.firesFrom(history(heartbeats), limits, { ...late, floor }) < NEVER;
  const many = (n: number): Heartbeats => using(...Array<number>(n).fill(10));

  test('ends with progress, and starts again from there', () => {
    expect(burns(many(31))).toBe(true);
    expect(burns(after(many(31), [{ phase: 'the next', token_count: 2000 }]))).toBe(false);
  });

  test('does not depend on time alone: an agent that used tokens long ago is not burning them', () => {
    expect(burns([...many(2), [5 * HOUR, { token_count: 1020 }]])).toBe(false);
  });

  test('use that begins again after a pause of more than ten minutes starts again', () => {
    const calm = (ms: number): Heartbeats => [...many(25), [25 * MINUTE + ms, { token_count: 5000 }]];
    expect(burns(calm(10 * MINUTE))).toBe(true);
    expect(burns(calm(10 * MINUTE + 1))).toBe(false);
  });

  test('counts only the use of another session, not its total', () => {
    const of = (session_id: string, token_count: number) => ({ client: { name: 'codex', session_id }, token_count });
    const first = many(25).map(([ms, more]) => [ms, { ...more, client: { name: 'codex', session_id: 'A' } }] as const);
    expect(burns([...first, [31 * MINUTE, of('B', 30_000)]])).toBe(false);
    expect(burns([...first, [31 * MINUTE, of('B', 30_000)], [32 * MINUTE, of('B', 30_010)]])).toBe(true);
  });

  test('what was used while an exemption held does not count', () => {
    expect(burns(many(31), T0 + MINUTE)).toBe(false);
    expect(burns(many(31), T0 + MINUTE - 1)).toBe(true);
  });
});

describe('a context that is exhausted', () => {
  const limits = contextExhausted.limits.parse({ above: 0.55 }) as never;
  const from = (heartbeats: Heartbeats) => contextExhausted.firesFrom(history(heartbeats), limits, late);

  test('fires above the ratio, to the last digit', () => {
    expect(from([[0, contextUsed(55)]])).toBe(NEVER);
    expect(from([[0, contextUsed(55_001, 100_000)]])).toBe(T0);
  });

  test('does not fire while a handoff is under way, and does when that takes too long', () => {
    const handing = [1000, { ...contextUsed(60), activity: 'handing_off' as const }] as const;
    expect(from([[0, contextUsed(60)], handing])).toBe(T0 + 601_001);
    expect(
      from([
        [0, contextUsed(60)],
        [5000, { handoff: 'notes are in NOTES.md' }],
      ]),
    ).toBe(T0 + 605_001);
  });

  test('ends when the context is compacted', () => {
    expect(
      from([
        [0, contextUsed(60)],
        [1000, contextUsed(20)],
      ]),
    ).toBe(NEVER);
  });
});

describe('an exceeded limit', () => {
  const limit = (name: string, used: number, max = 100) => ({ name, used, max });
  const from = (heartbeats: Heartbeats) => resourceLimit.firesFrom(history(heartbeats), {} as never, late);

  test('holds from its first report until the same limit is kept again', () => {
    const over = [
      [1000, { limits: [limit('memory', 101)] }],
      [2000, { limits: [limit('memory', 150), limit('turns', 20)] }],
      [3000, {}],
    ] as const;
    expect(from(over)).toBe(T0 + 1000);
    expect(from([...over, [4000, { limits: [limit('memory', 100)] }]])).toBe(NEVER);
  });

  test('invalid figures have no effect, and names of any length are distinct', () => {
    expect(
      from([[0, { limits: [limit('a', Number.POSITIVE_INFINITY), limit('b', Number.NaN), limit('c', 1, -1)] }]]),
    ).toBe(NEVER);
    const long = [limit('a'.repeat(500), 101), limit('b', 101), limit('c', 101)];
    expect(JSON.stringify(history([[0, { limits: long }]]).limits).length).toBeLessThan(260);
  });
});
