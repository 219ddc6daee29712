import { expect, test } from 'vitest';
import { eventId } from '../log/partitioner.ts';
import { dependencies, listening } from '../runner/processors.fixture.ts';
import { emitted, feeding, T } from './fold.fixture.ts';

test('an event gets the same ids, version and epoch each time it is decided', () => {
  const one = feeding();
  one.tick(0);
  const [first] = emitted(one.heartbeat(100, 'a', { eventId: 'heartbeat-1', correlationId: 'chain-1' }));
  const [second] = emitted(one.heartbeat(200, 'a'));
  expect(first).toMatchObject({
    stateKey: 'a',
    version: 1,
    epoch: T + 100,
    occurredAt: T + 100,
    causationId: 'heartbeat-1',
    correlationId: 'chain-1',
  });
  expect(first?.eventId).toBe(eventId('run', 'run.in', 0, 1, 'a', 0));
  expect(first?.eventId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(second).toMatchObject({ version: 2, epoch: T + 100, causationId: 'run.in/0/2', correlationId: 'run.in/0/2' });
});

test('a deadline fires at the tick that passes it, not before, and its event continues the chain of the last input', () => {
  const one = feeding();
  one.tick(0);
  one.heartbeat(0, 'a', { eventId: 'e', correlationId: 'chain' });
  expect(emitted(one.tick(1000))).toEqual([]);
  expect(emitted([...one.tick(2000), ...one.heartbeat(2999, 'b')]).map(({ type }) => type)).toEqual(['RECEIVED']);
  const [missing] = emitted(one.tick(3000));
  expect(missing).toMatchObject({
    type: 'MISSING',
    key: 'a',
    version: 2,
    correlationId: 'chain',
    causationId: 'run.in/0/5',
  });
  expect(emitted(one.tick(4000))).toEqual([]);
});

test('deadlines of one tick fire in the order of their times, then of their keys, independent of the order of arming', () => {
  const one = feeding();
  one.tick(0);
  for (const [key, at] of [
    ['late', 900],
    ['b', 100],
    ['a', 100],
  ] as const)
    one.heartbeat(at, key);
  one.tick(1000);
  one.tick(2000);
  one.tick(3000);
  expect(emitted(one.tick(4000)).map(({ key }) => key)).toEqual(['a', 'b', 'late']);
});

test('a record stamped like the tick is observed first, so nothing is found at the same moment', () => {
  const one = feeding();
  one.tick(0);
  one.heartbeat(0);
  one.tick(1000);
  one.tick(2000);
  one.heartbeat(2999);
  expect(emitted(one.tick(3000))).toEqual([]);
});

test('ticks are forwarded along their routes after the events emitted at them, with their own timestamps', () => {
  const routes = [
    { topic: 'run.out' as never, everyMs: 1000, to: 'same' as const },
    { topic: 'run.all' as never, everyMs: 5000, to: 'every' as const },
  ];
  const deps = dependencies({ partition: 1, partitions: (topic) => (topic === 'run.all' ? 3 : 1) });
  const one = feeding(listening('run', { ticks: routes }), deps);
  one.tick(1000, 1);
  one.heartbeat(1000);
  for (const at of [2000, 3000])
    expect(one.tick(at, 1)).toEqual([
      { topic: 'run.out', partition: 1, key: '@tick/1', value: null, timestamp: T + at },
    ]);
  expect(one.tick(4000, 1).map(({ key }) => key)).toEqual(['a', '@tick/1']);
  const fifth = one.tick(5001, 1);
  expect(fifth.map(({ topic, partition }) => `${topic}/${partition}`)).toEqual([
    'run.out/1',
    'run.all/0',
    'run.all/1',
    'run.all/2',
  ]);
  expect(fifth.every(({ timestamp }) => timestamp === T + 5001)).toBe(true);
});

test('the mark of an ingress is forwarded in order, and moves the clock of that ingress', () => {
  const one = feeding();
  one.tick(0);
  expect(one.ingress(500)).toEqual([
    { topic: 'run.out', partition: 0, key: '@ingress/gateway', value: null, timestamp: T + 500 },
  ]);
  expect(one.fold.time.ingresses.gateway).toBe(T + 500);
});

test('time of several sources begins when all have been seen, and fires deadlines only when the smallest moves', () => {
  const one = feeding(
    listening('run', { time: { topic: 'run.in' as never, sources: 'every' } }),
    dependencies({ sources: 2 }),
  );
  expect([...one.tick(0, 0), ...one.tick(1000, 0)]).toEqual([]);
  expect(one.tick(0, 1)).toHaveLength(1);
  one.other(0);
  for (const at of [1000, 2000, 3000, 4000]) expect(emitted(one.tick(at, 0))).toEqual([]);
  expect(emitted([1000, 2000].flatMap((at) => one.tick(at, 1)))).toEqual([]);
  expect(emitted(one.tick(3000, 1)).map(({ type }) => type)).toEqual(['MISSING']);
});

test('records of other inputs are decided at the latest now, and do not move it', () => {
  const one = feeding();
  one.tick(1000);
  expect(emitted(one.other(999_000))[0]).toMatchObject({ occurredAt: T + 1000 });
  expect(one.fold.time.now).toBe(T + 1000);
});

test('before the first record that carries time, a record is decided at its own timestamp, never at zero', () => {
  const one = feeding();
  expect(emitted(one.other(500))[0]).toMatchObject({ occurredAt: T + 500, epoch: T + 500 });
});

test('keys that begin with @ are reserved for the runner: unknown ones are skipped, and ticks of other topics move nothing', () => {
  const one = feeding();
  one.tick(1000);
  expect(one.give('run.in', 2000, '@policy', Buffer.from('x'))).toEqual([]);
  expect(one.give('run.other', 9000, '@tick/0', null)).toEqual([]);
  expect(one.fold.time.now).toBe(T + 1000);
});

test('a forgotten state starts again, with a new epoch and version 1', () => {
  const processor = listening('run');
  const decider = { ...processor.decider, forgets: (state: unknown) => (state as { missing: boolean }).missing };
  const one = feeding({ ...processor, decider });
  one.tick(0);
  one.heartbeat(0);
  for (const at of [1000, 2000, 3000]) one.tick(at);
  expect(one.fold.logic.store.changes()).toEqual([['a', null]]);
  expect(emitted(one.heartbeat(9000))[0]).toMatchObject({ version: 1, epoch: T + 9000 });
});

test('a tick that is stamped a day ahead is forwarded with the accepted time, and due deadlines fire at the next', () => {
  const one = feeding();
  const day = 24 * 3_600_000;
  one.tick(0);
  one.heartbeat(0);
  for (const at of [1000, 2000]) one.tick(at);
  expect(one.tick(day).map(({ timestamp }) => timestamp)).toEqual([T + 2000]);
  expect(one.ingress(day).map(({ timestamp }) => timestamp)).toEqual([T + 2000]);
  expect(emitted(one.tick(3000)).map(({ type }) => type)).toEqual(['MISSING']);
});

test('when time is set back, deadlines that were computed in the time ahead are computed again', () => {
  const one = feeding();
  const day = 24 * 3_600_000;
  one.tick(0);
  for (let at = 0; at <= 4000; at += 1000) one.tick(day + at);
  one.heartbeat(day + 4000);
  for (const at of [10_000, 11_000, 12_000]) one.tick(at);
  expect(one.fold.time.now).toBe(T + 12_000);
  expect(emitted([13_000, 14_000, 15_000, 16_000].flatMap((at) => one.tick(at))).map(({ type }) => type)).toEqual([
    'MISSING',
  ]);
});
