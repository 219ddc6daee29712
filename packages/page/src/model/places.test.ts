import { expect, test } from 'vitest';
import { addressOf, addressWith, isUnknownAddress, placeOf, timeIn, titleOf, VIEWS } from './places.ts';

test('an address leads back to its place, with any name', () => {
  for (const id of ['worker-1', 'a/b?c#d e', 'ä%', null])
    expect(placeOf(addressOf('fleet', id))).toEqual({ view: 'fleet', id, query: '' });
});

test('an address has what to show of its place, and leaves out what is not known', () => {
  const address = addressWith('fleet', 'a/b?c', { at: 1_764_252_310_000, until: null });
  expect(address).toBe('#/fleet/a%2Fb%3Fc?at=1764252310000');
  expect(placeOf(address)).toEqual({ view: 'fleet', id: 'a/b?c', query: 'at=1764252310000' });
  expect(placeOf('#/replay?agent=a%26b')).toEqual({ view: 'replay', id: null, query: 'agent=a%26b' });
  expect(addressWith('cases', null, { at: null })).toBe('#/cases');
});

test('a place has the name of what is shown: of its view, or of its row, but not the id of a replay', () => {
  expect(titleOf(placeOf('#/dead-letters'))).toBe('Dead letters');
  expect(titleOf(placeOf('#/fleet/worker-1?at=5'))).toBe('worker-1');
  expect(titleOf(placeOf('#/replay/0190c1d2'))).toBe('Replay');
});

test('a time of an address is a number of milliseconds, and anything else is none', () => {
  expect(timeIn('at=1764252310000&x=1', 'at')).toBe(1_764_252_310_000);
  for (const query of ['', 'at=', 'at=now', 'at=-1', 'at=1e5', 'at=9999999999999999', 'until=5'])
    expect(timeIn(query, 'at'), query).toBeNull();
});

test('an unknown or broken address leads to the inbox or to a list', () => {
  expect(placeOf('')).toEqual({ view: 'inbox', id: null, query: '' });
  expect(placeOf('#/nonsense?x=1')).toEqual({ view: 'inbox', id: null, query: '' });
  expect(placeOf('#/fleet/%E0%A4%A')).toEqual({ view: 'fleet', id: null, query: '' });
});

test('an address without a view is unknown, and that of a view, or none, is not', () => {
  for (const hash of ['#/nosuch', '#/nosuch/x', '#nosuch']) expect(isUnknownAddress(hash), hash).toBe(true);
  for (const hash of ['', '#/', '#/fleet', '#/fleet/a%2Fb', '#/replay?agent=a'])
    expect(isUnknownAddress(hash), hash).toBe(false);
});

test('each view has a key of its own', () => {
  expect(new Set(VIEWS.map(({ key }) => key)).size).toBe(VIEWS.length);
});
