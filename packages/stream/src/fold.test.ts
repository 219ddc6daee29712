import { expect, test } from 'vitest';
import { deadLetterTopic, VALUE_CAP } from './dead-letters.ts';
import { DeadLetter } from './errors.ts';
import { echoing, jsonCodec, listening, type Said, surroundings } from './fixture.ts';
import { DOOR, Fold, TICK } from './fold.ts';
import { eventId } from './ids.ts';
import type { LogRecord, OutRecord } from './log.ts';
import { partitionOf } from './murmur2.ts';
import type { AnyProcessor } from './processor.ts';

const T = 1_795_305_600_000;
const codec = jsonCodec();

const feeding = (processor: AnyProcessor = listening('run'), around = surroundings()) => {
  const fold = new Fold(processor, around);
  let offset = 0;
  const give = (topic: string, at: number, key: string | null, value: Buffer | null, rest: Partial<LogRecord> = {}) =>
    fold.apply({ topic, partition: 0, offset: offset++, key, value, timestamp: T + at, headers: {}, ...rest });
  const event = (type: string, rest = {}) => Buffer.from(JSON.stringify({ type, payload: {}, ...rest }));
  return {
    fold,
    give,
    event,
    hear: (at: number, key = 'a', rest = {}) => give('run.in', at, key, event('BEAT', rest)),
    other: (at: number, key = 'a', type = 'BEAT') => give('run.other', at, key, event(type)),
    tick: (at: number, source = 0) => give('run.in', at, `${TICK}${source}`, null),
    door: (at: number) => give('run.in', at, `${DOOR}gateway`, null),
  };
};
const said = (outs: readonly OutRecord[]): readonly Said[] =>
  outs
    .filter(({ key, topic }) => !key?.startsWith('@') && topic === 'run.out')
    .map(
      ({ key, value, topic }) =>
        ({
          ...codec.decode(topic as never, value!).envelope!,
          ...codec.decode(topic as never, value!),
          key: key!,
        }) as unknown as Said,
    );
const letters = (outs: readonly OutRecord[]) =>
  outs
    .filter(({ topic }) => topic === deadLetterTopic('run'))
    .map(
      ({ value }) =>
        codec.decode('x' as never, value!).payload as {
          failure_reason: string;
          original_message: { truncated: boolean; value: { data: number[] }; key: string };
        },
    );

test('an event carries ids, version and epoch that every re-decision gives again', () => {
  const one = feeding();
  one.tick(0);
  const [first] = said(one.hear(100, 'a', { eventId: 'heartbeat-1', correlationId: 'chain-1' }));
  const [second] = said(one.hear(200, 'a'));
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

test('a deadline fires at the tick that passes it, not before, and travels under the chain of the last input', () => {
  const one = feeding();
  one.tick(0);
  one.hear(0, 'a', { eventId: 'e', correlationId: 'chain' });
  expect(said(one.tick(1000))).toEqual([]);
  expect(said([...one.tick(2000), ...one.hear(2999, 'b')]).map(({ type }) => type)).toEqual(['HEARD']);
  const [missing] = said(one.tick(3000));
  expect(missing).toMatchObject({
    type: 'MISSING',
    key: 'a',
    version: 2,
    correlationId: 'chain',
    causationId: 'run.in/0/5',
  });
  expect(said(one.tick(4000))).toEqual([]);
});

test('deadlines of one tick fire in the order of their moments, then of their keys, whatever order they were armed in', () => {
  const one = feeding();
  one.tick(0);
  for (const [key, at] of [
    ['late', 900],
    ['b', 100],
    ['a', 100],
  ] as const)
    one.hear(at, key);
  one.tick(1000);
  one.tick(2000);
  one.tick(3000);
  expect(said(one.tick(4000)).map(({ key }) => key)).toEqual(['a', 'b', 'late']);
});

test('a record that the tick is behind is heard first: no accusation at the same moment', () => {
  const one = feeding();
  one.tick(0);
  one.hear(0);
  one.tick(1000);
  one.tick(2000);
  one.hear(2999);
  expect(said(one.tick(3000))).toEqual([]);
});

test('ticks go on along their routes behind what was said at them, with the stamp they came with', () => {
  const routes = [
    { topic: 'run.out' as never, everyMs: 1000, to: 'same' as const },
    { topic: 'run.all' as never, everyMs: 5000, to: 'every' as const },
  ];
  const around = surroundings({ partition: 1, partitions: (topic) => (topic === 'run.all' ? 3 : 1) });
  const one = feeding(listening('run', { ticks: routes }), around);
  one.tick(1000, 1);
  one.hear(1000);
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

test('a door is passed on in band, and moves its own clock', () => {
  const one = feeding();
  one.tick(0);
  expect(one.door(500)).toEqual([
    { topic: 'run.out', partition: 0, key: '@door/gateway', value: null, timestamp: T + 500 },
  ]);
  expect(one.fold.time.doors.gateway).toBe(T + 500);
});

test('time of several sources begins when all have been seen, and fires deadlines only when the smallest moves', () => {
  const one = feeding(
    listening('run', { time: { topic: 'run.in' as never, sources: 'every' } }),
    surroundings({ sources: 2 }),
  );
  expect([...one.tick(0, 0), ...one.tick(1000, 0)]).toEqual([]);
  expect(one.tick(0, 1)).toHaveLength(1);
  one.other(0);
  for (const at of [1000, 2000, 3000, 4000]) expect(said(one.tick(at, 0))).toEqual([]);
  expect(said([1000, 2000].flatMap((at) => one.tick(at, 1)))).toEqual([]);
  expect(said(one.tick(3000, 1)).map(({ type }) => type)).toEqual(['MISSING']);
});

test('records of other inputs are decided at the latest now, and do not move it', () => {
  const one = feeding();
  one.tick(1000);
  expect(said(one.other(999_000))[0]).toMatchObject({ occurredAt: T + 1000 });
  expect(one.fold.time.now).toBe(T + 1000);
});

test('before anything has carried time, a record is decided at its own stamp, never at zero', () => {
  const one = feeding();
  expect(said(one.other(500))[0]).toMatchObject({ occurredAt: T + 500, epoch: T + 500 });
});

test('what cannot be read or decided is a dead letter with its reason, and changes nothing', () => {
  const one = feeding();
  one.tick(0);
  one.hear(0);
  const before = one.fold.decided.store.bytes('a');
  one.fold.decided.store.changes();
  const reason = (outs: readonly OutRecord[]) => letters(outs).map(({ failure_reason }) => failure_reason);
  expect(reason(one.give('run.in', 100, 'a', Buffer.from('garbage')))).toEqual(['not_json']);
  expect(reason(one.other(100, 'a', 'BOOM'))).toEqual(['undecided']);
  expect(reason(one.give('run.in', 100, 'a', null))).toEqual(['no_value']);
  expect(reason(one.give('run.in', 100, null, one.event('BEAT')))).toEqual(['no_key']);
  expect(reason(one.give('run.in', 100, 'a b', one.event('BEAT')))).toEqual(['bad_key']);
  expect(one.fold.decided.store.bytes('a')).toEqual(before);
  expect(one.fold.decided.store.changes()).toEqual([]);
  expect(said(one.hear(200))[0]).toMatchObject({ version: 2 });
});

test('a dead letter keeps at most 64 KiB of the value and says so', () => {
  const one = feeding();
  const [exactly] = letters(one.give('run.in', 0, 'a', Buffer.alloc(VALUE_CAP, 'x')));
  const [above] = letters(one.give('run.in', 0, 'a', Buffer.alloc(VALUE_CAP + 1, 'x')));
  expect([exactly?.original_message.truncated, above?.original_message.truncated]).toEqual([false, true]);
  expect(above?.original_message.value.data).toHaveLength(VALUE_CAP);
});

test('a deadline that throws is a dead letter and left alone for an hour; others fire', () => {
  const processor = listening('run');
  const { decide } = processor.decider;
  const failing = (state: { key: string; heard: number; told: number }) =>
    state.key === 'bad' && state.heard === state.told;
  const decider = {
    ...processor.decider,
    decide: (state: unknown, clock: Parameters<typeof decide>[1]) => {
      if (failing(state as never)) throw new Error('no');
      return decide(state, clock);
    },
  };
  const one = feeding({ ...processor, decider });
  one.tick(0);
  one.hear(0, 'bad');
  one.hear(0, 'good');
  one.tick(1000);
  one.tick(2000);
  const outs = one.tick(3000);
  expect(letters(outs)).toMatchObject([{ failure_reason: 'deadline', original_message: { key: 'bad' } }]);
  expect(said(outs).map(({ key }) => key)).toEqual(['good']);
  expect(letters([4, 5, 6].flatMap((s) => one.tick(s * 1000)))).toEqual([]);
  expect(letters(one.tick(3000 + 3_599_000))).toEqual([]);
  expect(letters(one.tick(3000 + 3_600_000))).toHaveLength(1);
});

test('a record that a foreign partitioner misplaced on a command topic is moved within it and keeps its first receipt', () => {
  const topic = 'onex.cmd.run.do.v1';
  const key = ['a', 'b', 'c', 'd', 'e'].find((k) => partitionOf(k, 4) !== 0) as string;
  const counted: string[] = [];
  const around = surroundings({ partitions: () => 4, count: (metric) => counted.push(metric) });
  const one = feeding(echoing('run', { reads: [topic as never] }), around);
  const value = one.event('BEAT');
  const moved = { topic, partition: partitionOf(key, 4), key, value };
  expect(one.give(topic, 100, key, value, { headers: { traceparent: '00-1' } })).toEqual([
    { ...moved, headers: { traceparent: '00-1', moved: String(T + 100) } },
  ]);
  expect(one.give(topic, 200, key, value, { headers: { moved: String(T + 50) } })).toEqual([
    { ...moved, headers: { moved: String(T + 50) } },
  ]);
  expect(counted.filter((metric) => metric === 'records_moved')).toHaveLength(2);
  const right = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].find((k) => partitionOf(k, 4) === 0) as string;
  expect(one.give(topic, 300, right, value)[0]).toMatchObject({ topic: 'run.out', key: right });
});

test('on event topics a key may lie anywhere: its writer has placed it', () => {
  const one = feeding(listening('run'), surroundings({ partitions: () => 7 }));
  expect(['a', 'b', 'c'].flatMap((key) => said(one.hear(0, key)))).toHaveLength(3);
});

test('a mapper sees the first receipt of a moved record, and its outputs occurred then; they lie at now', () => {
  const one = feeding(echoing('run'));
  one.tick(5000);
  const [out] = one.give('run.in', 5000, 'a', one.event('BEAT'), {
    headers: { moved: String(T + 10), traceparent: '00-2' },
  });
  expect(out).toMatchObject({ timestamp: T + 5000, headers: { traceparent: '00-2' } });
  expect(said([out!])[0]).toMatchObject({
    occurredAt: T + 10,
    stateKey: null,
    version: null,
    epoch: null,
    payload: { receivedAt: T + 10, now: T + 5000 },
  });
});

test('a moved header cannot make a record younger than it is, and nonsense in it is ignored', () => {
  const one = feeding(echoing('run'));
  const received = (moved: string) =>
    said(one.give('run.in', 5000, 'a', one.event('BEAT'), { headers: { moved } }))[0]?.occurredAt;
  expect(received(String(T + 999_000))).toBe(T + 5000);
  expect(received('soon')).toBe(T + 5000);
});

test('a topic may have a decoder of its own, which names the reason of what it cannot read', () => {
  const decode = {
    'run.in': ({ value }: LogRecord) => {
      if (String(value) === 'bad') throw new DeadLetter('misspelt', 'no');
      return { type: 'RAW', payload: String(value) };
    },
  };
  const one = feeding(echoing('run', { decode }));
  expect(said(one.give('run.in', 0, 'a', Buffer.from('hello')))[0]).toMatchObject({ payload: { said: 'hello' } });
  expect(letters(one.give('run.in', 0, 'a', Buffer.from('bad')))[0]).toMatchObject({ failure_reason: 'misspelt' });
});

test('an event on a topic that is not declared is our mistake: nothing is written but the dead letter', () => {
  const one = feeding(listening('run', { writes: [] }));
  expect(letters(one.hear(0))).toHaveLength(1);
});

test('keys that begin with @ belong to the runner: unknown ones are passed over, and ticks of other topics move nothing', () => {
  const one = feeding();
  one.tick(1000);
  expect(one.give('run.in', 2000, '@policy', Buffer.from('x'))).toEqual([]);
  expect(one.give('run.other', 9000, '@tick/0', null)).toEqual([]);
  expect(one.fold.time.now).toBe(T + 1000);
});

test('a state that is forgotten begins anew, with a new epoch and version 1', () => {
  const processor = listening('run');
  const decider = { ...processor.decider, forgets: (state: unknown) => (state as { missing: boolean }).missing };
  const one = feeding({ ...processor, decider });
  one.tick(0);
  one.hear(0);
  for (const at of [1000, 2000, 3000]) one.tick(at);
  expect(one.fold.decided.store.changes()).toEqual([['a', null]]);
  expect(said(one.hear(9000))[0]).toMatchObject({ version: 1, epoch: T + 9000 });
});
