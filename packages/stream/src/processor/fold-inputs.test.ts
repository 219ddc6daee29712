import { expect, test } from 'vitest';
import { DeadLetter } from '../errors.ts';
import { VALUE_CAP } from '../log/dead-letters.ts';
import type { LogRecord, OutRecord } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';
import { dependencies, echoing, listening } from '../runner/processors.fixture.ts';
import { deadLetters, emitted, feeding, T } from './fold.fixture.ts';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

test('a record that cannot be read or decided becomes a dead letter with its reason, and changes nothing', () => {
  const one = feeding();
  one.tick(0);
  one.heartbeat(0);
  const before = one.fold.logic.store.bytes('a');
  one.fold.logic.store.changes();
  const reason = (outs: readonly OutRecord[]) => deadLetters(outs).map(({ failure_reason }) => failure_reason);
  expect(reason(one.give('run.in', 100, 'a', Buffer.from('garbage')))).toEqual(['not_json']);
  expect(reason(one.other(100, 'a', 'BOOM'))).toEqual(['undecided']);
  expect(reason(one.give('run.in', 100, 'a', null))).toEqual(['no_value']);
  expect(reason(one.give('run.in', 100, null, one.event('HEARTBEAT')))).toEqual(['no_key']);
  expect(reason(one.give('run.in', 100, 'a b', one.event('HEARTBEAT')))).toEqual(['bad_key']);
  expect(one.fold.logic.store.bytes('a')).toEqual(before);
  expect(one.fold.logic.store.changes()).toEqual([]);
  expect(emitted(one.heartbeat(200))[0]).toMatchObject({ version: 2 });
});

test('a dead letter keeps at most 64 KiB of the value and marks that it is cut', () => {
  const one = feeding();
  const [exactly] = deadLetters(one.give('run.in', 0, 'a', Buffer.alloc(VALUE_CAP, 'x')));
  const [above] = deadLetters(one.give('run.in', 0, 'a', Buffer.alloc(VALUE_CAP + 1, 'x')));
  expect([exactly?.original_message.truncated, above?.original_message.truncated]).toEqual([false, true]);
  expect(above?.original_message.value.data).toHaveLength(VALUE_CAP);
});

test('a dead letter keeps the beginning of a key as long as a record', () => {
  const one = feeding();
  const [out] = one.give('run.in', 0, 'x y'.repeat(100_000), one.event('HEARTBEAT'));
  expect(out?.key).toHaveLength(1000);
  expect(deadLetters([out as OutRecord])[0]?.original_message.key).toBe(out?.key);
});

test('a misplaced record that might not fit its topic again is a dead letter, because a transaction that cannot be written stops for good', () => {
  const topic = 'onex.cmd.run.do.v1';
  const key = ['a', 'b', 'c', 'd', 'e'].find((k) => partitionOf(k, 4) !== 0) as string;
  const one = feeding(echoing('run', { reads: [topic as never] }), dependencies({ partitions: () => 4 }));
  const headers = { traceparent: 'x'.repeat(1000) };
  const room = 500_000 - JSON.stringify(headers).length;
  expect(one.give(topic, 100, key, Buffer.alloc(room), { headers })).toMatchObject([{ topic, key }]);
  const [deadLetter] = deadLetters(one.give(topic, 200, key, Buffer.alloc(room + 1), { headers }));
  expect(deadLetter).toMatchObject({ failure_reason: 'too_large' });
});

test('a deadline that throws is a dead letter and is skipped for an hour; others fire', () => {
  const processor = listening('run');
  const { decide } = processor.decider;
  const failing = (state: { key: string; received: number; reported: number }) =>
    state.key === 'bad' && state.received === state.reported;
  const decider = {
    ...processor.decider,
    decide: ((state, clock, input) => {
      if (failing(state as never)) throw new Error('no');
      return decide(state, clock, input);
    }) as typeof decide,
  };
  const one = feeding({ ...processor, decider });
  one.tick(0);
  one.heartbeat(0, 'bad');
  one.heartbeat(0, 'good');
  one.tick(1000);
  one.tick(2000);
  const outs = one.tick(3000);
  expect(deadLetters(outs)).toMatchObject([{ failure_reason: 'deadline', original_message: { key: 'bad' } }]);
  expect(emitted(outs).map(({ key }) => key)).toEqual(['good']);
  expect(deadLetters([4, 5, 6].flatMap((s) => one.tick(s * 1000)))).toEqual([]);
  for (const at of [3_590_000, 3_592_000]) one.tick(at);
  expect(deadLetters(one.tick(3000 + 3_599_000))).toEqual([]);
  expect(deadLetters(one.tick(3000 + 3_600_000))).toHaveLength(1);
});

test('a record that another partitioner misplaced on a command topic is moved within it and keeps its first receipt', () => {
  const topic = 'onex.cmd.run.do.v1';
  const key = ['a', 'b', 'c', 'd', 'e'].find((k) => partitionOf(k, 4) !== 0) as string;
  const counted: string[] = [];
  const deps = dependencies({ partitions: () => 4, count: (...[metric]) => counted.push(metric) });
  const one = feeding(echoing('run', { reads: [topic as never] }), deps);
  const value = one.event('HEARTBEAT');
  const moved = { topic, partition: partitionOf(key, 4), key, value };
  expect(one.give(topic, 100, key, value, { headers: { traceparent: '00-1' } })).toEqual([
    { ...moved, headers: { traceparent: '00-1', moved: String(T + 100), 'moved-from': '0' } },
  ]);
  expect(one.give(topic, 200, key, value, { headers: { moved: String(T + 50) } })).toEqual([
    { ...moved, headers: { moved: String(T + 50), 'moved-from': '0' } },
  ]);
  expect(counted.filter((metric) => metric === 'records_moved')).toHaveLength(2);
  const right = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].find((k) => partitionOf(k, 4) === 0) as string;
  expect(one.give(topic, 300, right, value)[0]).toMatchObject({ topic: 'run.out', key: right });
});

test('on event topics a key may be in any partition, because its writer has chosen it', () => {
  const one = feeding(listening('run'), dependencies({ partitions: () => 7 }));
  expect(['a', 'b', 'c'].flatMap((key) => emitted(one.heartbeat(0, key)))).toHaveLength(3);
});

test('a mapper gets the first receipt of a moved record: its outputs occurred then, and are written with the time now', () => {
  const one = feeding(echoing('run'));
  one.tick(5000);
  const [out] = one.give('run.in', 5000, 'a', one.event('HEARTBEAT'), {
    headers: { moved: String(T + 10), traceparent: TRACEPARENT },
  });
  expect(out).toMatchObject({ timestamp: T + 5000, headers: { traceparent: TRACEPARENT } });
  expect(emitted([out!])[0]).toMatchObject({
    occurredAt: T + 10,
    stateKey: null,
    version: null,
    epoch: null,
    payload: { receivedAt: T + 10, now: T + 5000 },
  });
});

test.each([
  ['a header that fills the record', `${TRACEPARENT}${'0'.repeat(500_000)}`],
  ['another version’s fields', `${TRACEPARENT}-00`],
  ['capital letters', TRACEPARENT.toUpperCase()],
  ['nothing', ''],
])('a traceparent of %s is not passed on, because every later event would repeat it', (_, traceparent) => {
  const decided = feeding();
  const mapped = feeding(echoing('run'));
  const given = { headers: { traceparent } };
  const outs = [
    ...decided.give('run.in', 0, 'a', decided.event('HEARTBEAT'), given),
    ...mapped.give('run.in', 0, 'a', mapped.event('HEARTBEAT'), given),
  ];
  expect(outs).toHaveLength(2);
  for (const out of outs) expect(out).not.toHaveProperty('headers');
});

test('an event that is too large for a broker makes a dead letter of its cause, and the state is unchanged', () => {
  const processor = listening('run');
  const decide = (size: number) => () => [
    { topic: 'run.out', type: 'RECEIVED', key: 'a', payload: { text: 'x'.repeat(size) } } as never,
  ];
  const fits = feeding({ ...processor, decider: { ...processor.decider, decide: decide(999_000) } });
  expect(emitted(fits.heartbeat(0))).toHaveLength(1);
  const over = feeding({ ...processor, decider: { ...processor.decider, decide: decide(1_000_000) } });
  expect(deadLetters(over.heartbeat(0))).toMatchObject([{ failure_reason: 'too_large' }]);
  expect(over.fold.logic.store.size).toBe(0);
});

test('a moved header cannot make a record younger than it is, and an invalid one is ignored', () => {
  const one = feeding(echoing('run'));
  const received = (moved: string) =>
    emitted(one.give('run.in', 5000, 'a', one.event('HEARTBEAT'), { headers: { moved } }))[0]?.occurredAt;
  expect(received(String(T + 999_000))).toBe(T + 5000);
  expect(received('soon')).toBe(T + 5000);
});

test('a topic may have a decoder of its own, which names the reason of an unreadable record', () => {
  const decode = {
    'run.in': ({ value }: LogRecord) => {
      if (String(value) === 'bad') throw new DeadLetter('misspelt', 'no');
      return { type: 'RAW', payload: String(value) };
    },
  };
  const one = feeding(echoing('run', { decode }));
  expect(emitted(one.give('run.in', 0, 'a', Buffer.from('hello')))[0]).toMatchObject({ payload: { echoed: 'hello' } });
  expect(deadLetters(one.give('run.in', 0, 'a', Buffer.from('bad')))[0]).toMatchObject({ failure_reason: 'misspelt' });
});

test('an event on an undeclared topic is an internal error: only the dead letter is written', () => {
  const one = feeding(listening('run', { writes: [] }));
  expect(deadLetters(one.heartbeat(0))).toHaveLength(1);
});
