import { clockAt } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { admitSpawn, admitStep, controls, fleet, lost, present, SEC, T0 } from './fleet.fixture.ts';
import { decider } from './governor.ts';
import { livingIn } from './living.ts';
import { usual } from './settings.ts';

/** The governor's state is one record, and a broker accepts one of 1 MiB. */
const sizeOf = (one: ReturnType<typeof fleet>): number => JSON.stringify(one.state()).length;
const long = (characters: number, n: number): string => `${n}${'x'.repeat(characters)}`.slice(0, characters);

/** The place of an invented agent, with names as long as they may be. */
const invented = (n: number) => ({ host: long(253, n), runtimeId: long(128, n) });
/** A fleet after so many of them, and `liveAgents` others before. */
const crowded = (count: number, liveAgents = 0) => {
  const { observe } = decider(usual);
  const inputs = Array.from({ length: count }, (_, n) => present(long(128, n), invented(n)));
  const before = fleet(liveAgents).state();
  return fleet(
    0,
    {},
    inputs.reduce((state, input) => observe(state, input, clockAt(T0)), before),
  );
};

test('invented agents never make the state larger than a broker accepts, and a halt is carried out', () => {
  const one = crowded(1500, 12);
  expect(sizeOf(one)).toBeLessThan(700_000);
  expect(livingIn(one.state().liveAgents, { host: 'h0' })).toBe(10);
  expect(one.receive(controls('HALT_FLEET'))).toEqual(['FLEET_HALTED']);
  expect(one.receive(admitStep('a5', 'soft'))).toEqual(['withholds a5 halted']);
});

test('an agent that does not fit counts once others have ended', () => {
  const one = crowded(1000);
  const isCounted = () => livingIn(one.state().liveAgents, { host: 'late' }) === 1;
  one.receive(present(long(128, 5000), { host: 'late', runtimeId: long(128, 5000) }));
  expect(isCounted()).toBe(false);
  for (let n = 0; n < 10; n++) one.receive(lost(long(128, n), { ...invented(n), expected: true }));
  one.receive(present(long(128, 5000), { host: 'late', runtimeId: long(128, 5000) }));
  expect(isCounted()).toBe(true);
});

test('agents that do not fit still engage the brake when they are lost', () => {
  const one = crowded(1200);
  expect(livingIn(one.state().liveAgents, { host: 'h9' })).toBe(0);
  const engaged = [0, 1, 2].flatMap((n) => one.receive(lost(`late-${n}`, { host: 'h9', runtimeId: `r${n}` })));
  expect(engaged).toEqual(['BRAKE_ENGAGED host:h9']);
});

test('a host of 253 characters is a place; a longer one is none, and costs no more', () => {
  const one = fleet(0);
  one.receive(present('fits', { host: long(253, 1) }));
  expect(Object.keys(one.state().liveAgents)).toEqual([long(253, 1)]);
  for (let n = 0; n < 200; n++) {
    one.receive(present(`a${n}`, { host: long(8000, n) }));
    one.receive(lost(`a${n}`, { host: long(8000, n), exemption: n % 2 === 0 ? 'idle' : null }));
    one.receive(admitStep(`a${n}`, 'destructive', { labels: { host: long(8000, n) } }));
  }
  expect(sizeOf(one)).toBeLessThan(250_000);
});

test('a scope longer than a place may be counts with the fleet', () => {
  const scopes = (characters: number) => {
    const one = fleet(0, { scopeLabel: 'team' });
    one.receive(admitStep('a1', 'destructive', { labels: { team: long(characters, 1) } }));
    return one.state().requests.map(({ scope }) => scope);
  };
  expect(scopes(253)).toEqual([long(253, 1)]);
  expect(scopes(254)).toEqual(['fleet']);
});

test('spawns that wait for a template have a limit; above it recovery repeats its request', () => {
  const one = fleet(0);
  const rulings = Array.from({ length: 50 }, (_, n) =>
    one.receive(admitSpawn(`t${n}`, { labels: { text: long(8000, n) } })),
  ).flat();
  expect(new Set(rulings.map((ruling) => ruling.split(' ').at(-1)))).toEqual(new Set(['no_template', 'no_runtime']));
  expect(rulings[0]).toBe('withholds t0 no_template');
  expect(sizeOf(one)).toBeLessThan(110_000);
  one.after(60 * SEC);
  expect(one.receive(admitSpawn('small'))).toEqual([expect.stringMatching(/^withholds small no_/)]);
});
