import type { HealthEvent } from '@vigil/events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Clock, Decider } from './processor/decider.ts';
import { type Listening, listener } from './runner/processors.fixture.ts';
import { given, laws } from './testing.ts';

const heartbeat = { type: 'HEARTBEAT', topic: 'x', key: 'a' } as unknown as HealthEvent;
const heartbeats = fc.constant(heartbeat);
const honest = listener('out');
const broken = (rest: Partial<Decider<Listening, HealthEvent, never>>) => ({ ...honest, ...rest }) as typeof honest;

test('a decider that obeys the laws passes them', () => {
  laws(honest, heartbeats);
});

test('a decider that emits an event twice is found', () => {
  expect(() => laws(broken({ evolve: (state) => state }), heartbeats)).toThrow(/it emits an event once/);
});

test('a decider that decides before its deadline is found', () => {
  const dueAt = (state: Listening, clock: Clock) => honest.dueAt(state, clock) + 5;
  expect(() => laws(broken({ dueAt }), heartbeats)).toThrow(/nothing is decided before dueAt/);
});

test('a decider whose state does not survive the snapshot is found', () => {
  const observe = (state: Listening, input: HealthEvent, clock: Clock) => ({
    ...honest.observe(state, input, clock),
    at: new Date(0),
  });
  expect(() => laws(broken({ observe }), heartbeats)).toThrow(/plain data/);
});

test('a decider that is not deterministic is found', () => {
  let n = 0;
  const observe = (state: Listening, input: HealthEvent, clock: Clock) => ({
    ...honest.observe(state, input, clock),
    seen: n++,
  });
  expect(() => laws(broken({ observe }), heartbeats)).toThrow(/deterministic/);
});

test('a decider that changes a state that it was given is found', () => {
  const evolve: typeof honest.evolve = (state, event, clock, input) =>
    Object.assign(state, honest.evolve(state, event, clock, input));
  expect(() => laws(broken({ evolve }), heartbeats)).toThrow(/never changes a state/);
});

test('given, when, then: an input is answered, time that passes fires deadlines, unwatched time fires none', () => {
  const agent = given(honest, 1_000_000);
  expect(agent.receive(heartbeat).map(({ type }) => type)).toEqual(['RECEIVED']);
  agent.unwatched(60_000);
  expect(agent.passTo(1_000_000 + 62_000)).toEqual([]);
  expect(agent.passTo(1_000_000 + 63_000)).toMatchObject([{ type: 'MISSING', payload: { at: 1_063_000 } }]);
  expect(agent.all()).toHaveLength(2);
  expect(agent.state()).toMatchObject({ received: 1, missing: true });
});

test('inputs that are received at once give the events and the state that they give one by one', () => {
  const [one, all] = [given(honest, 1_000_000), given(honest, 1_000_000)];
  const emitted = [one.receive(heartbeat), one.receive(heartbeat)].flat();
  expect(all.receiveAll([heartbeat, heartbeat])).toEqual(emitted);
  expect(all.all()).toEqual(one.all());
  expect(all.state()).toEqual(one.state());
});
