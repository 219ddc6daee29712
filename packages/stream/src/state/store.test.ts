import { expect, test } from 'vitest';
import { Refused } from '../errors.ts';
import { NEVER } from '../processor/decider.ts';
import type { AtRest } from './at-rest.ts';
import { type Entry, Store } from './store.ts';

const shaped = (oldest: number): AtRest<unknown> => ({ oldest, upgrades: [], usual: null });

const entry = (rest: Partial<Entry<unknown>> = {}): Entry<unknown> => ({
  state: { received: 1, name: 'ünïcode' },
  dueAt: 5000,
  version: 3,
  epoch: 1_795_305_600_000,
  lastInputAt: 1_795_305_600_500,
  correlationId: 'chain-ä',
  ...rest,
});

test('a state comes back from the snapshot as it was, header and all', () => {
  const store = new Store<unknown>(shaped(2));
  store.put('a', entry());
  store.put('b', entry({ dueAt: NEVER, correlationId: '' }));
  const restored = new Store<unknown>(shaped(2));
  for (const [key, value] of store.changes()) restored.restore(key, value);
  expect(restored.get('a')).toEqual(entry());
  expect(restored.get('b')).toEqual(entry({ dueAt: NEVER, correlationId: '' }));
  expect(restored.get('c')).toBeUndefined();
});

test('only the last value of a changed key is written, and nothing without a change', () => {
  const store = new Store<unknown>(shaped(1));
  store.put('a', entry({ version: 1 }));
  store.put('a', entry({ version: 2 }));
  expect(store.changes()).toHaveLength(1);
  store.put('a', entry({ version: 2 }));
  expect(store.changes()).toEqual([]);
});

test('a forgotten key leaves a tombstone, and after a restore of it the key is absent', () => {
  const store = new Store<unknown>(shaped(1));
  store.put('a', entry());
  const [first] = store.changes();
  store.forget('a');
  store.forget('never-known');
  expect(store.changes()).toEqual([['a', null]]);
  const restored = new Store<unknown>(shaped(1));
  restored.restore('a', first![1]);
  restored.restore('a', null);
  expect(restored.size).toBe(0);
});

test('the size counts each key once, put or encoded, and no forgotten one', () => {
  const store = new Store<unknown>(shaped(1));
  store.put('a', entry());
  store.put('a', entry({ version: 2 }));
  store.put('b', entry());
  expect(store.size).toBe(2);
  store.changes();
  store.put('a', entry({ version: 3 }));
  store.put('c', entry());
  expect(store.size).toBe(3);
  store.forget('c');
  expect(store.size).toBe(2);
});

test('a deadline is due at its moment, not before; arming it again is not a change', () => {
  const store = new Store<unknown>(shaped(1));
  store.put('a', entry({ dueAt: 5000 }));
  store.changes();
  expect(store.due(4999)).toEqual([]);
  expect(store.due(5000)).toEqual(['a']);
  store.rearm('a', 9000);
  expect(store.due(8999)).toEqual([]);
  expect(store.changes()).toEqual([]);
});

test('a restore refuses a shape that is newer or older than the code supports', () => {
  const store = new Store<unknown>(shaped(3));
  store.put('a', entry({ state: { received: 1 } }));
  const [[key, value]] = store.changes() as [[string, Buffer]];
  expect(() => new Store<unknown>(shaped(2)).restore(key, value)).toThrow(Refused);
  const later = new Store<unknown>(shaped(4));
  expect(() => later.restore(key, value)).toThrow(/a has shape 3, and this version reads shapes from 4 on/);
  expect(later.size).toBe(0);
  later.restore(key, null);
});

test('a state of an older shape gets each later upgrade, with the usual values of that shape', () => {
  const with3 = { received: 0, policy: 'vigil' };
  const older = new Store<unknown>({ ...shaped(3), usual: with3 });
  older.put('a', entry({ state: { received: 1, policy: 'vigil' } }));
  const [[key, value]] = older.changes() as [[string, Buffer]];
  const by = (name: string) => (state: unknown) => ({ ...(state as object), [name]: true });
  const upgrades = [
    { usual: null, to: by('from2') },
    { usual: with3, to: by('from3') },
    { usual: null, to: by('from4') },
  ];
  const now = { received: 9, policy: 'demo', from3: false, from4: false };
  const store = new Store<unknown>({ oldest: 2, upgrades, usual: now });
  store.restore(key, value);
  const state = { received: 1, policy: 'vigil', from3: true, from4: true };
  expect(store.get('a')?.state).toEqual(state);
  store.put('a', entry({ state }));
  expect(store.bytes('a')?.readUInt16BE(0)).toBe(5);
});

test('a state that the current batch has put is available at once, due and forgotten like any other', () => {
  const store = new Store<unknown>(shaped(1));
  store.put('a', entry({ dueAt: 5000, version: 7 }));
  expect(store.get('a')?.version).toBe(7);
  expect(store.size).toBe(1);
  expect(store.due(5000)).toEqual(['a']);
  store.put('a', entry({ dueAt: 9000, version: 8 }));
  expect(store.due(5000)).toEqual([]);
  store.forget('a');
  expect(store.get('a')).toBeUndefined();
  expect(store.changes()).toEqual([['a', null]]);
});

test('an entry that was armed again reports it, whether or not it was decoded recently', () => {
  const store = new Store<unknown>(shaped(1));
  store.put('a', entry({ dueAt: 5000 }));
  store.rearm('a', 9000);
  expect(store.get('a')?.dueAt).toBe(9000);
});

test('states can be read, however many are used', () => {
  const store = new Store<unknown>(shaped(1));
  for (let key = 0; key < 10_000; key++) store.put(`k${key}`, entry({ version: key }));
  store.changes();
  for (let key = 0; key < 10_000; key++) expect(store.get(`k${key}`)?.version).toBe(key);
  expect(store.changes()).toEqual([]);
});

test('a restored state replaces the cached one', () => {
  const store = new Store<unknown>(shaped(1));
  store.put('a', entry({ version: 1 }));
  const older = store.bytes('a');
  store.put('a', entry({ version: 2 }));
  store.changes();
  store.restore('a', older);
  expect(store.get('a')?.version).toBe(1);
});

test('a usual value takes no space, and comes back', () => {
  const usual = { received: 0, name: 'unnamed', list: [] };
  const store = new Store<unknown>({ ...shaped(1), usual });
  store.put('a', entry({ state: { ...usual, received: 3 } }));
  expect(store.bytes('a')?.toString()).toMatch(/\{"received":3\}$/);
  const restored = new Store<unknown>({ ...shaped(1), usual });
  restored.restore('a', store.bytes('a'));
  expect(restored.get('a')?.state).toEqual({ ...usual, received: 3 });
});
