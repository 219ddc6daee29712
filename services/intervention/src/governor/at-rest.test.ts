import { clockAt, shapeOf, upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { admitSpawn, admitStep, announces, fleet, lost, present, T0 } from './fleet.fixture.ts';
import { decider } from './governor.ts';
import { usual } from './settings.ts';
import { AT_REST, type GovernorState, type Loss } from './state.ts';

type Places = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/** A state of shape 7, in which spawns had no policy. */
const shapeSeven = (state: GovernorState) => ({
  ...state,
  requests: state.requests.map((request) => {
    if (request.kind === 'step') return request;
    const { policy: _, spawn, ...rest } = request;
    const { maxPerHour: __, ...older } = spawn;
    return { ...rest, spawn: older };
  }),
  admitted: state.admitted.map(({ policy: _, ...one }) => one),
});

/** A state of shape 6, in which live agents had their names by host and runtime, and nothing else was marked. */
const shapeSix = (before: GovernorState, liveAgents: Places): object => {
  const { unnamed: _, ...state } = shapeSeven(before);
  const unmarked = <One extends { readonly isPresent?: boolean }>({ isPresent: _, ...one }: One) => one;
  const unkeyed = <One extends Loss>(one: One): One => ({ ...one, lossKey: one.lossKey.replace(/^(task|agent):/, '') });
  const incidents = state.brake?.incidents.map((incident) => ({
    ...incident,
    awaited: incident.awaited.map(unmarked).map(unkeyed),
  }));
  const brake = incidents === undefined ? null : { incidents };
  return { ...state, liveAgents, losses: state.losses.map(unkeyed), admitted: state.admitted.map(unmarked), brake };
};

/** A state of shape 5, in which incidents had no beginning. */
const shapeFive = (state: GovernorState, liveAgents: Places): object => {
  const { brake, ...six } = shapeSix(state, liveAgents) as GovernorState;
  const incidents = brake?.incidents.map(({ since: _, ...incident }) => incident);
  return { ...six, brake: incidents === undefined ? null : { incidents } };
};

/** The same state after an upgrade from a shape in which spawns had no policy. */
const withoutPolicies = (state: GovernorState): GovernorState => ({
  ...state,
  requests: state.requests.map((request) => (request.kind === 'spawn' ? { ...request, policy: '' } : request)),
  admitted: state.admitted.map((one) => ({ ...one, policy: '' })),
});

const named = (names: readonly string[]): Places => ({
  h0: Object.fromEntries(names.map((name) => [`rt-${name}`, [name]])),
});

test('an incident of shape 5 began with the first loss of those that it still awaits', () => {
  const one = fleet(6);
  one.receive(lost('a0', { host: 'h0' }));
  one.after(10_000);
  for (const id of ['a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  const living = named(['a3', 'a4', 'a5']);
  expect(upgraded(AT_REST, 5, shapeFive(one.state(), living))).toEqual(one.state());
  expect(one.state().brake?.incidents[0]?.since).toBe(T0);
});

test('a state of shape 5 without a brake stays without one, and decides as before', () => {
  const before = fleet(3).state();
  const read = upgraded(AT_REST, 5, shapeFive(before, named(['a0', 'a1', 'a2'])));
  expect(read).toEqual(before);
  expect(decider(usual).decide(read, clockAt(T0), null)).toEqual([]);
});

test('a state of shape 6 marks which awaited agents and replacements are present, and forgets other starts', () => {
  const one = fleet(6);
  one.receive(announces('r1'));
  one.receive(admitSpawn('t1', { newAgentId: 't1-r1' }));
  one.receive(present('t1-r1', { host: 'h0', taskId: 't1' }));
  for (const id of ['a0', 'a1', 'a2']) one.receive(lost(id, { host: 'h0' }));
  one.receive(present('a0', { host: 'h0' }));
  const state = one.state();
  expect(state.admitted).toMatchObject([{ agentId: 't1-r1', isPresent: true }]);
  expect(state.brake?.incidents[0]?.awaited).toMatchObject([{ agentId: 'a0', isPresent: true }, {}, {}]);
  const ended = { agentId: 'gone', taskId: 'task-gone', at: T0 };
  const before = { ...state, starts: [ended, ...state.starts] };
  const living = named(['a0', 'a3', 'a4', 'a5', 't1-r1']);
  expect(upgraded(AT_REST, 6, shapeSix(before, living))).toEqual(withoutPolicies(state));
});

test('a state of shape 7 counts its spawns for the fleet, and for no policy', () => {
  const one = fleet();
  one.receive(announces('r1', { templates: [{ task: 't1', labels: {} }] }));
  one.receive(admitSpawn('t1'));
  expect(one.receive(admitSpawn('t2'))).toEqual(['withholds t2 no_template']);
  one.receive(admitStep('a0'));
  expect(upgraded(AT_REST, 7, shapeSeven(one.state()))).toEqual(withoutPolicies(one.state()));
});

test('the present shape is 8', () => {
  expect(shapeOf(AT_REST)).toBe(8);
});
