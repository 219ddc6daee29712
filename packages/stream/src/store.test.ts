import { expect, test } from 'vitest';
import { NEVER } from './decider.ts';
import { Refused } from './errors.ts';
import { type Entry, Store } from './store.ts';

const entry = (rest: Partial<Entry<unknown>> = {}): Entry<unknown> => ({
  state: { heard: 1, name: 'ünïcode' },
  dueAt: 5000,
  version: 3,
  epoch: 1_795_305_600_000,
  heardAt: 1_795_305_600_500,
  correlationId: 'chain-ä',
  ...rest,
});

test('a state comes back from the snapshot as it was, header and all', () => {
  const store = new Store<unknown>(2);
  store.put('a', entry());
  store.put('b', entry({ dueAt: NEVER, correlationId: '' }));
  const restored = new Store<unknown>(2);
  for (const [key, value] of store.changes()) restored.restore(key, value);
  expect(restored.get('a')).toEqual(entry());
  expect(restored.get('b')).toEqual(entry({ dueAt: NEVER, correlationId: '' }));
  expect(restored.get('c')).toBeUndefined();
});

test('only the last value of a changed key is written, and nothing where nothing changed', () => {
  const store = new Store<unknown>(1);
  store.put('a', entry({ version: 1 }));
  store.put('a', entry({ version: 2 }));
  expect(store.changes()).toHaveLength(1);
  store.put('a', entry({ version: 2 }));
  expect(store.changes()).toEqual([]);
});

test('a forgotten key leaves a tombstone, and a restore of it leaves nothing', () => {
  const store = new Store<unknown>(1);
  store.put('a', entry());
  const [first] = store.changes();
  store.forget('a');
  store.forget('never-known');
  expect(store.changes()).toEqual([['a', null]]);
  const restored = new Store<unknown>(1);
  restored.restore('a', first![1]);
  restored.restore('a', null);
  expect(restored.size).toBe(0);
});

test('a deadline is due at its moment, not before; arming it again is no change', () => {
  const store = new Store<unknown>(1);
  store.put('a', entry({ dueAt: 5000 }));
  store.changes();
  expect(store.due(4999)).toEqual([]);
  expect(store.due(5000)).toEqual(['a']);
  store.rearm('a', 9000);
  expect(store.due(8999)).toEqual([]);
  expect(store.changes()).toEqual([]);
});

test('a newer shape than the code knows is refused at the restore; an older one is upgraded when it is read', () => {
  const newer = new Store<unknown>(3);
  newer.put('a', entry({ state: { heard: 1 } }));
  const [[key, value]] = newer.changes() as [[string, Buffer]];
  expect(() => new Store<unknown>(2).restore(key, value)).toThrow(Refused);
  const store = new Store<unknown>(4, (shape, state) => ({ ...(state as object), from: shape }));
  store.restore(key, value);
  expect(store.get('a')?.state).toEqual({ heard: 1, from: 3 });
});
