import { expect, test } from 'vitest';
import { dependencies, listening } from '../runner/processors.fixture.ts';
import { deadLetters, emitted, feeding } from './fold.fixture.ts';

const FORGOTTEN_MS = 5000;

/** At most two keys. PING changes nothing, and a key is forgotten once it is missing. */
const limited = (most = 2) => {
  const processor = listening('run', { keyLimit: { most, remedy: 'wait until one is forgotten' } });
  const { observe } = processor.decider;
  const decider: typeof processor.decider = {
    ...processor.decider,
    observe: ((state, input, clock) =>
      input.type === ('PING' as string) ? state : observe(state, input, clock)) as typeof observe,
    forgets: (state) => (state as { missing: boolean }).missing,
  };
  return { ...processor, decider };
};

const opened = (most?: number) => {
  const counted: string[] = [];
  const one = feeding(limited(most), dependencies({ count: (...[metric]) => counted.push(metric) }));
  one.tick(0);
  return { ...one, refused: () => counted.filter((metric) => metric === 'keys_refused').length };
};

test('the last key that has room is decided; the next is a dead letter with the limit and the remedy', () => {
  const { heartbeat, refused, fold } = opened();
  expect(emitted(heartbeat(1, 'a'))).toHaveLength(1);
  expect(emitted(heartbeat(2, 'b'))).toHaveLength(1);
  const outs = heartbeat(3, 'c');
  expect(emitted(outs)).toEqual([]);
  expect(deadLetters(outs)).toMatchObject([
    {
      failure_reason: 'too_many_keys',
      error_type:
        'DeadLetter: the partition has 2 keys and takes at most 2, so c is not judged: wait until one is forgotten',
    },
  ]);
  expect([refused(), fold.logic.store.size, fold.logic.store.has('c')]).toEqual([1, 2, false]);
});

test('the keys that have a state are decided as before, and their deadlines fire', () => {
  const { heartbeat, tick } = opened();
  heartbeat(1, 'a');
  heartbeat(2, 'b');
  heartbeat(3, 'c');
  expect(emitted(heartbeat(4, 'a'))[0]?.payload).toMatchObject({ n: 2 });
  for (const at of [1000, 2000, 3000]) tick(at);
  expect(emitted(tick(4000)).map(({ key, type }) => `${key} ${type}`)).toEqual(['a MISSING', 'b MISSING']);
});

test('a key that is forgotten makes room for another', () => {
  const { heartbeat, tick } = opened();
  heartbeat(1, 'a');
  heartbeat(1500, 'b');
  for (let at = 1000; at <= FORGOTTEN_MS - 1000; at += 1000) tick(at);
  expect(emitted(heartbeat(4001, 'c'))).toHaveLength(1);
  expect(deadLetters(heartbeat(4002, 'd'))).toHaveLength(1);
});

test('a record that would leave no state needs no room', () => {
  const { heartbeat, other, refused } = opened();
  heartbeat(1, 'a');
  heartbeat(2, 'b');
  expect(other(3, 'c', 'PING')).toEqual([]);
  expect(refused()).toBe(0);
});

test('refused keys never stop the service, however many', () => {
  const { heartbeat, fold } = opened(1);
  heartbeat(1, 'a');
  for (let i = 0; i < 200; i++) heartbeat(2, `b${i}`);
  expect(fold.limits.exceeded).toBeNull();
});

test('after a restart the same keys have room, also under a smaller limit', () => {
  const before = opened();
  before.heartbeat(1, 'a');
  before.heartbeat(2, 'b');
  const after = opened(1);
  for (const [key, value] of before.fold.logic.store.changes()) after.fold.logic.store.restore(key, value);
  expect(emitted(after.heartbeat(3, 'b'))[0]?.payload).toMatchObject({ n: 2 });
  expect(deadLetters(after.heartbeat(4, 'c'))).toHaveLength(1);
});

test('the limit counts the keys of the present batch, whether they are encoded or not', () => {
  const batches = (between: (fold: ReturnType<typeof opened>['fold']) => unknown) => {
    const { heartbeat, fold } = opened(3);
    return ['a', 'b', 'a', 'c', 'd'].map((key, at) => {
      between(fold);
      return deadLetters(heartbeat(at, key)).length;
    });
  };
  expect(batches(() => {})).toEqual([0, 0, 0, 0, 1]);
  expect(batches((fold) => fold.logic.store.changes())).toEqual([0, 0, 0, 0, 1]);
});
