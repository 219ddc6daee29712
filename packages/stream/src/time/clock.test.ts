import { describe, expect, test } from 'vitest';
import {
  type ClockState,
  ingressOpen,
  ingressReleased,
  MOST_INGRESSES,
  pass,
  restored,
  START,
  tick,
  tickOf,
  timeOf,
} from './clock.ts';

const T = 1_000_000;
type Step = readonly ['tick' | 'record' | 'ingress' | 'a' | 'b' | 'release a', number];

const clockOf = (steps: readonly Step[], from?: ClockState) => timeOf(run(steps, from), 1000);

const run = (steps: readonly Step[], from: ClockState = START): ClockState =>
  steps.reduce((clock, [what, at]) => {
    if (what === 'tick') return tick(clock, T + at, 1000);
    if (what === 'a' || what === 'b') return ingressOpen(clock, `gateway:${what}`, T + at);
    if (what === 'release a') return ingressReleased(clock, 'gateway:a', T + at);
    return what === 'ingress' ? ingressOpen(clock, 'gateway', T + at) : pass(clock, T + at);
  }, from);
const watched = (...steps: Step[]) => timeOf(run(steps), 1000).watched - T;
const ticks = (from: number, to: number): Step[] =>
  Array.from({ length: (to - from) / 1000 + 1 }, (_, i) => ['tick', from + i * 1000] as const);

test('watched time runs with the clock while ticks come', () => {
  expect(watched(...ticks(0, 10_000))).toBe(10_000);
  expect(watched(...ticks(0, 10_000), ['record', 10_400])).toBe(10_400);
});

test('a tick that comes half an interval late loses no watched time, a later one does', () => {
  expect(watched(['tick', 0], ['tick', 1500])).toBe(1500);
  expect(watched(['tick', 0], ['tick', 1501])).toBe(1500);
});

test('after a gap the clock stands still for 3 s more, then runs again', () => {
  expect(watched(['tick', 0], ['tick', 20_000])).toBe(1500);
  expect(watched(['tick', 0], ...ticks(20_000, 23_000))).toBe(1500);
  expect(watched(['tick', 0], ...ticks(20_000, 24_000))).toBe(2500);
});

test('between ticks the clock stops after one and a half intervals, however many records come', () => {
  expect(watched(['tick', 0], ['record', 1400], ['record', 9000])).toBe(1500);
});

test('now never goes backwards, with any timestamps', () => {
  const clock = run([
    ['tick', 5000],
    ['record', 1000],
    ['tick', 2000],
  ]);
  expect(timeOf(clock, 1000)).toEqual({ now: T + 5000, watched: T + 5000, ingresses: {} });
});

test('watched time is monotone and never faster than now, over any order of ticks and records', async () => {
  const fc = await import('fast-check');
  const step = fc.tuple(
    fc.constantFrom('tick', 'record', 'ingress', 'a', 'b', 'release a'),
    fc.integer({ min: 0, max: 60_000 }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      let clock = run([['tick', 0]]);
      for (const one of steps as Step[]) {
        const before = timeOf(clock, 1000);
        clock = run([one], clock);
        const after = timeOf(clock, 1000);
        const ingresses = Object.keys(before.ingresses);
        expect(after.watched).toBeGreaterThanOrEqual(before.watched);
        expect(after.watched - before.watched).toBeLessThanOrEqual(after.now - before.now);
        for (const d of ingresses) expect(after.ingresses[d]! - before.ingresses[d]!).toBeGreaterThanOrEqual(0);
        for (const d of ingresses)
          expect(after.ingresses[d]! - before.ingresses[d]!).toBeLessThanOrEqual(after.now - before.now);
      }
    }),
  );
});

test('the time in which an ingress is closed does not count against its agents, and counts against the others', () => {
  const open = ticks(0, 10_000).flatMap((one): Step[] => [one, ['ingress', one[1]]]);
  const away = run([...open, ...ticks(11_000, 20_000)]);
  expect(timeOf(away, 1000).watched - T).toBe(20_000);
  expect(timeOf(away, 1000).ingresses.gateway! - T).toBeLessThanOrEqual(11_500);
});

test('a new ingress begins with the watched time of the partition: a gap before it does not count against its agents', () => {
  const gapped = run([['tick', 0], ...ticks(60_000, 70_000), ['ingress', 70_000]]);
  const { watched: own, ingresses } = timeOf(gapped, 1000);
  expect(ingresses.gateway).toBe(own);
});

test('with several sources, time is the smallest of their latest ticks, once all have been seen', () => {
  const one = tickOf(START, '0', T + 5000, 2, 1000);
  expect(one.now).toBe(0);
  const both = tickOf(one, '1', T + 3000, 2, 1000);
  expect(both.now).toBe(T + 3000);
  expect(tickOf(both, '0', T + 9000, 2, 1000).now).toBe(T + 3000);
  expect(tickOf(both, '1', T + 9000, 2, 1000).now).toBe(T + 5000);
});

test('the cap scales with the interval at which ticks come', () => {
  const every5 = (at: readonly number[]) =>
    timeOf(
      at.reduce((clock, t) => tick(clock, T + t, 5000), START),
      5000,
    ).watched - T;
  expect(every5([0, 5000, 10_000, 16_000])).toBe(16_000);
  expect(every5([0, 7501])).toBe(7500);
});

test('a clock restored from JSON continues as without the restore', () => {
  const steps: Step[] = [...ticks(0, 5000), ['ingress', 5200], ['tick', 20_000]];
  const clock = run(steps);
  const restored = JSON.parse(JSON.stringify(clock)) as ClockState;
  expect(run(ticks(21_000, 30_000), restored)).toEqual(run(ticks(21_000, 30_000), clock));
});

describe('before the first tick', () => {
  test('no time is watched, so absence does not count; the agents have time to report first', () => {
    expect(watched(['record', 0], ['record', 600_000])).toBe(0);
    expect(watched(['record', 0], ['record', 60_000], ...ticks(61_000, 64_000))).toBe(0);
    expect(watched(['record', 0], ['record', 60_000], ...ticks(61_000, 65_000))).toBe(1000);
  });

  test('without earlier records, time begins with the tick', () => {
    expect(watched(...ticks(0, 1000))).toBe(1000);
  });
});

describe('an ingress', () => {
  /**
   * How much of the time from `from` to `to` the ingress counts, while the partition ticks. Marks of each instance at
   * its moments.
   */
  const counted = (from: number, to: number, ...instances: readonly number[][]): number => {
    const steps: Step[] = [...ticks(0, to), ...instances.flat().map((at): Step => ['ingress', at])];
    const order = steps.sort((a, b) => a[1] - b[1]);
    const ingressAt = (ms: number) =>
      timeOf(run([...order.filter(([, at]) => at <= ms), ['record', ms]]), 1000).ingresses.gateway!;
    return ingressAt(to) - ingressAt(from);
  };
  const marks = (from: number, to: number, every = 1000): number[] =>
    Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, i) => from + i * every);

  test('counts while one instance reports that it is open', () => {
    expect(counted(10_000, 20_000, marks(0, 20_000))).toBe(10_000);
  });

  test('counts no more with two instances than with one', () => {
    expect(counted(10_000, 20_000, marks(0, 20_000), marks(300, 20_000))).toBe(10_000);
  });

  test('stays open while one of two instances is away, and when it comes back', () => {
    expect(counted(10_000, 30_000, marks(0, 30_000), [...marks(300, 12_000), ...marks(25_300, 30_000)])).toBe(20_000);
  });

  test('is closed from the end of its last instance until one has been open again for the settling time', () => {
    const [first, second] = [marks(0, 12_000), marks(300, 15_300)];
    expect(counted(10_000, 30_000, first, second)).toBe(5300 + 1500);
    expect(counted(10_000, 30_000, first, [...second, ...marks(20_000, 30_000)])).toBe(5300 + 1500 + 7000);
  });

  test('excuses nothing for a restart of at most one and a half seconds, and the rest of a longer one', () => {
    expect(counted(10_000, 30_000, [...marks(0, 15_000), ...marks(16_500, 30_000)])).toBe(20_000);
    const longer = counted(10_000, 30_000, [...marks(0, 15_000), ...marks(16_501, 30_000)]);
    expect(longer).toBe(5000 + 1500 + (30_000 - 16_501 - 3000));
  });

  test('that never stays open for the settling time counts for nothing', () => {
    expect(counted(20_000, 60_000, [...marks(0, 15_000), ...marks(18_000, 60_000, 3000)])).toBe(0);
  });

  test('that opens for the first time settles first, and no agent is absent before', () => {
    const open = (to: number) =>
      run([
        ...ticks(0, 59_000),
        ...marks(60_000, to).flatMap((at): Step[] => [
          ['ingress', at],
          ['tick', at],
        ]),
      ]);
    expect(timeOf(open(63_000), 1000).ingresses.gateway! - T).toBe(60_000);
    expect(timeOf(open(64_000), 1000).ingresses.gateway! - T).toBe(61_000);
  });

  test('continues while ingest is down, because its agents reported in the meantime', () => {
    const steps: Step[] = [
      ...ticks(0, 10_000),
      ...marks(0, 30_000).map((at): Step => ['ingress', at]),
      ['tick', 30_000],
    ];
    const { watched, ingresses } = timeOf(run(steps.sort((a, b) => a[1] - b[1])), 1000);
    expect(watched - T).toBe(11_500);
    expect(ingresses.gateway! - T).toBe(27_000);
  });

  test('of another name has its own clock', () => {
    const away = run([
      ...ticks(0, 10_000).flatMap((one): Step[] => [one, ['ingress', one[1]]]),
      ...ticks(11_000, 20_000),
    ]);
    const other = ingressOpen(away, 'other', T + 20_000);
    expect(timeOf(other, 1000).ingresses).toEqual({ gateway: T + 8500, other: T + 20_000 });
  });

  test('names from outside create at most 64 ingresses, and none of them is the prototype of another', () => {
    const named = ['constructor', ...Array.from({ length: 80 }, (_, i) => `ingress-${i}`)];
    const clock = named.reduce((before, ingress) => ingressOpen(before, ingress, T), run(ticks(0, 10_000)));
    const { ingresses } = timeOf(ingressOpen(clock, 'constructor', T + 20_000), 1000);
    expect(Object.keys(ingresses)).toEqual(named.slice(0, MOST_INGRESSES));
    expect(Object.values(ingresses).every(Number.isFinite)).toBe(true);
  });

  test('one more is stored once others have been closed for eight days, because their agents are forgotten by then', () => {
    const day = 24 * 3_600_000;
    const all = Array.from({ length: MOST_INGRESSES }, (_, i) => `ingress-${i}`);
    const full = all.reduce((before, ingress) => ingressOpen(before, ingress, T + 10_000), run(ticks(0, 10_000)));
    const open = ingressOpen(full, 'ingress-7', T + 10_001);
    const names = (clock: typeof open) => Object.keys(timeOf(clock, 1000).ingresses);
    const since = T + 10_000 + 8 * day;
    const later = pass(pass(open, since - 5000), since - 3000);
    expect(names(ingressOpen(later, 'gateway', since - 1))).toEqual(all);
    expect(names(ingressOpen(later, 'gateway', since))).toEqual(['ingress-7', 'gateway']);
  });
});

describe('several instances of an ingress', () => {
  const marks = (instance: 'a' | 'b', from: number, to: number): Step[] =>
    ticks(from, to).map(([, at]): Step => [instance, at]);
  const after = (...steps: Step[][]) =>
    timeOf(run([...ticks(0, 60_000), ...steps.flat()].sort((one, other) => one[1] - other[1])), 1000)
      .ingresses as Record<'gateway' | 'gateway:a' | 'gateway:b', number>;

  test('each have a clock: a silent one stands still while another is open', () => {
    const ingresses = after(marks('a', 0, 20_000), marks('b', 0, 60_000));
    expect(ingresses['gateway:a'] - T).toBeLessThanOrEqual(21_500);
    expect(ingresses['gateway:b']).toBe(ingresses.gateway);
    expect(ingresses.gateway - T).toBeGreaterThanOrEqual(57_000);
  });

  test('a released one continues with those that are open, once it has settled', () => {
    const released = marks('a', 0, 20_000).concat([['release a', 20_500]]);
    const at = after(marks('a', 0, 20_000))['gateway:a'];
    const ingresses = after(released, marks('b', 0, 60_000));
    expect(ingresses['gateway:a']).toBeLessThan(ingresses.gateway - 2000);
    expect(ingresses['gateway:a']).toBeGreaterThan(at + 30_000);
  });

  test('one that is released while no other is open stands still', () => {
    const ingresses = after(marks('a', 0, 20_000).concat([['release a', 20_500]]));
    expect(ingresses['gateway:a'] - T).toBeLessThanOrEqual(21_500);
  });

  test('one that opens again after its release continues at its old time, and has its own clock again', () => {
    const ingresses = after(marks('a', 0, 20_000).concat([['release a', 20_500]], marks('a', 50_000, 60_000)));
    const stood = after(marks('a', 0, 20_000).concat([['release a', 20_500]]))['gateway:a'];
    expect(ingresses['gateway:a'] - stood).toBe(7000);
  });

  test('the family itself cannot be released, and an unknown instance cannot either', () => {
    const open = run([...ticks(0, 10_000), ['a', 10_000]]);
    for (const ingress of ['gateway', 'gateway:b', 'constructor', 'constructor:b'])
      expect(ingressReleased(open, ingress, T + 10_000)).toEqual(open);
  });

  test('an older clock without releases is still read', () => {
    const { released: _, ...before } = run([...ticks(0, 5000), ['a', 5000]]);
    expect(timeOf(restored(before), 1000).ingresses['gateway:a']).toBeDefined();
  });
});

describe('a stamp that is far from the clock', () => {
  const day = 24 * 3_600_000;
  const open = ticks(0, 10_000).flatMap((one): Step[] => [one, ['a', one[1]]]);

  test.each([day, -day, 60_001, -60_001])('moves nothing by itself (%d ms away), and time continues', (away) => {
    const at = 10_500 + away;
    const clock = clockOf([...open, ['record', at], ...ticks(11_000, 20_000)]);
    expect(clock).toMatchObject({ now: T + 20_000, watched: T + 20_000 });
    expect(clockOf([...open, ['tick', at], ['a', at], ...ticks(11_000, 20_000)])).toMatchObject({ now: T + 20_000 });
  });

  test('a minute away is accepted at once', () => {
    expect(clockOf([...open, ['record', 70_000]]).now).toBe(T + 70_000);
  });

  test('many with the same timestamp count as one', () => {
    const batch = Array.from({ length: 1000 }, (): Step => ['record', day]);
    expect(clockOf([...open, ...batch, ['tick', day + 1999]]).now).toBe(T + 10_000);
    expect(clockOf([...open, ...batch, ['tick', day + 2000]]).now).toBe(T + day + 2000);
  });

  test('after an outage of hours time continues two seconds later, and the outage is unwatched', () => {
    const clock = clockOf([...open, ...ticks(day, day + 10_000)]);
    expect(clock.now).toBe(T + day + 10_000);
    expect(clock.watched - T).toBe(10_000 + 1500 + 10_000 - 2000 - 3000);
  });

  test('a clock that was ahead for a while is followed back when it is corrected, and watched time stays', () => {
    const ahead = run([...open, ...ticks(day, day + 60_000)]);
    const before = timeOf(ahead, 1000);
    const after = clockOf(ticks(70_000, 80_000), ahead);
    expect(after.now).toBe(T + 80_000);
    expect(after.watched - before.watched).toBe(8000);
    expect(after.ingresses['gateway:a']! - before.ingresses['gateway:a']!).toBeLessThanOrEqual(1500);
  });

  test('a released ingress, and time before the first tick, follow back too', () => {
    const released = run([...open, ['release a', 10_000], ...ticks(day, day + 5000)]);
    const at = timeOf(released, 1000).ingresses['gateway:a']!;
    expect(clockOf(ticks(20_000, 30_000), released).ingresses['gateway:a']).toBe(at);
    const untimed = run([
      ['record', 0],
      ['record', day],
      ['record', day + 2000],
    ]);
    expect(
      clockOf(
        [
          ['record', 5000],
          ['record', 7000],
        ],
        untimed,
      ),
    ).toMatchObject({ now: T + 7000, watched: T });
  });

  test('of one of several sources delays nothing, and is corrected when the source is right again', () => {
    const ticked = (at: readonly (readonly [string, number])[], from = START) =>
      at.reduce((clock, [source, ms]) => tickOf(clock, source, T + ms, 2, 1000), from);
    const wild = ticked([
      ['0', 1000],
      ['1', 1000],
      ['0', day],
      ['1', 2000],
    ]);
    expect(wild.now).toBe(T + 2000);
    expect(
      ticked(
        [
          ['0', 2500],
          ['1', 9000],
        ],
        wild,
      ).now,
    ).toBe(T + 2500);
    const all = ticked(
      [
        ['0', day],
        ['1', day],
        ['0', day + 3000],
        ['1', day + 3000],
      ],
      wild,
    );
    expect(all.now).toBe(T + day + 3000);
    const corrected: [string, number][] = [3000, 4000, 5000, 6000].flatMap((ms): [string, number][] => [
      ['0', ms],
      ['1', ms],
    ]);
    expect(ticked(corrected, all).now).toBe(T + 6000);
  });
});
