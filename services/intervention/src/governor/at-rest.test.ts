import { clockAt, shapeOf, upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { fleet, lost, T0 } from './fleet.fixture.ts';
import { decider } from './governor.ts';
import { usual } from './settings.ts';
import { AT_REST, type GovernorState } from './state.ts';

/** A state of shape 5, in which incidents had no beginning. */
const shapeFive = (state: GovernorState): object => {
  const incidents = state.brake?.incidents.map(({ since: _, ...incident }) => incident);
  return { ...state, brake: incidents === undefined ? null : { incidents } };
};

test('an incident of shape 5 began with the first loss of those that it still awaits', () => {
  const one = fleet(12);
  one.receive(lost('a0', { host: 'h0' }));
  one.after(10_000);
  for (const id of ['a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  expect(upgraded(AT_REST, 5, shapeFive(one.state()))).toEqual(one.state());
  expect(one.state().brake?.incidents[0]?.since).toBe(T0);
});

test('a state of shape 5 without a brake stays without one, and decides as before', () => {
  const before = fleet(3).state();
  const read = upgraded(AT_REST, 5, shapeFive(before));
  expect(read).toEqual(before);
  expect(decider(usual).decide(read, clockAt(T0), null)).toEqual([]);
});

test('the present shape is 6', () => {
  expect(shapeOf(AT_REST)).toBe(6);
});
