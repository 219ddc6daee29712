import { expect, test } from 'vitest';
import { addressOf, isUnknownAddress, placeOf, VIEWS } from './places.ts';

test('an address leads back to its place, with any name', () => {
  for (const id of ['worker-1', 'a/b?c#d e', 'ä%', null])
    expect(placeOf(addressOf('fleet', id))).toEqual({ view: 'fleet', id });
});

test('an unknown or broken address leads to the inbox or to a list', () => {
  expect(placeOf('')).toEqual({ view: 'inbox', id: null });
  expect(placeOf('#/nonsense')).toEqual({ view: 'inbox', id: null });
  expect(placeOf('#/fleet/%E0%A4%A')).toEqual({ view: 'fleet', id: null });
});

test('an address without a view is unknown, and that of a view, or none, is not', () => {
  for (const hash of ['#/nosuch', '#/nosuch/x', '#nosuch']) expect(isUnknownAddress(hash), hash).toBe(true);
  for (const hash of ['', '#/', '#/fleet', '#/fleet/a%2Fb']) expect(isUnknownAddress(hash), hash).toBe(false);
});

test('each view has a key of its own', () => {
  expect(new Set(VIEWS.map(({ key }) => key)).size).toBe(VIEWS.length);
});
