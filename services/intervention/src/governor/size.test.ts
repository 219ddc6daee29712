import { zstdCompressSync } from 'node:zlib';
import { clockAt } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { type Counts, countedNames, withCount } from './counts.ts';
import { admitSpawn, admitStep, announces, controls, fleet, lost, placing, present, SEC, T0 } from './fleet.fixture.ts';
import { decider } from './governor.ts';
import { livingIn } from './places.ts';
import { MOST_QUEUE_BYTES, usual } from './settings.ts';
import { type GovernorInput, type GovernorState, initial } from './state.ts';

/** The governor's state is one record, and a broker accepts one of 1 MiB. */
const BROKER_BYTES = 1024 * 1024;
const bytesOf = (state: GovernorState): number => Buffer.byteLength(JSON.stringify(state));
const storedBytesOf = (state: GovernorState): number => zstdCompressSync(JSON.stringify(state)).length;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** As long as it may be, and without a pattern that would compress well. The same for the same number. */
const names = new Map<string, string>();
const long = (characters: number, n: number): string => {
  const key = `${characters} ${n}`;
  const name = names.get(key) ?? made(characters, n);
  names.set(key, name);
  return name;
};

const made = (characters: number, n: number): string => {
  let seed = n * 2_654_435_761 + 1;
  return Array.from({ length: characters }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return ALPHABET[seed >>> 26];
  }).join('');
};

/** The place of an invented agent, with names as long as they may be. */
const invented = (n: number) => ({ host: long(253, n), runtimeId: long(128, n) });

const observed = (state: GovernorState, inputs: readonly GovernorInput[]): GovernorState => {
  const { observe } = decider(usual);
  return inputs.reduce((before, input) => observe(before, input, clockAt(T0)), state);
};

const times = <Value>(count: number, of: (n: number) => Value): readonly Value[] =>
  Array.from({ length: count }, (_, n) => of(n));

test('11,000 invented agents never make the state larger than a broker accepts, and a halt is carried out', () => {
  const state = observed(
    fleet(12).state(),
    times(11_000, (n) => present(long(128, n), invented(n))),
  );
  expect(storedBytesOf(state)).toBeLessThan(BROKER_BYTES);
  expect(livingIn(state.liveAgents, { host: 'h0' })).toBe(10);
  expect(livingIn(state.liveAgents, {})).toBe(11_012);
  const one = fleet(0, {}, state);
  expect(one.receive(controls('HALT_FLEET'))).toEqual(['FLEET_HALTED']);
  expect(one.receive(admitStep('a5', 'soft'))).toEqual(['withholds a5 halted']);
});

test('a fleet of a million agents on 5,000 hosts takes 200,000 bytes, and its brake counts all of them', () => {
  const brake = { ...usual.brake, placeShare: 1, share: 0.0002 };
  const place = (n: number) => ({ host: `host-${n % 5000}`, runtimeId: `host-${n % 5000}` });
  const first = observed(
    initial,
    times(5000, (n) => present(`agent-${n}`, place(n))),
  );
  const ofEach = (counts: Counts) => countedNames(counts).reduce((all, name) => withCount(all, name, 200), counts);
  const { hosts, runtimes } = first.liveAgents;
  const liveAgents = { ...first.liveAgents, total: 1_000_000, supervised: 1_000_000 };
  const state = { ...first, liveAgents: { ...liveAgents, hosts: ofEach(hosts), runtimes: ofEach(runtimes) } };
  expect(livingIn(state.liveAgents, {})).toBe(1_000_000);
  expect(livingIn(state.liveAgents, { host: 'host-7' })).toBe(200);
  expect(bytesOf(state)).toBeLessThan(200_000);
  const one = fleet(0, { brake }, state);
  expect(one.receiveAll(times(199, (n) => lost(`agent-${n}`, { ...place(n), previousPlace: place(n) })))).toEqual([]);
  expect(one.receive(lost('agent-199', { ...place(199), previousPlace: place(199) }))).toEqual(['BRAKE_ENGAGED fleet']);
  expect(storedBytesOf(one.state())).toBeLessThan(BROKER_BYTES);
  expect(one.receive(controls('HALT_FLEET'))).toEqual(['FLEET_HALTED']);
});

test('a host that does not fit is counted once others have ended', () => {
  const crowd = times(1000, (n) => present(long(128, n), invented(n)));
  const placed = placing();
  const one = fleet(0, {}, observed(initial, crowd.map(placed)));
  const late = { host: long(253, 5000), runtimeId: long(128, 5000) };
  const isCounted = () => livingIn(one.state().liveAgents, { host: late.host }) > 0;
  one.receive(placed(present('late-1', late)));
  expect(isCounted()).toBe(false);
  one.receiveAll(times(10, (n) => placed(lost(long(128, n), { ...invented(n), expected: true }))));
  one.receive(placed(present('late-2', late)));
  expect(isCounted()).toBe(true);
});

test('agents of a host that does not fit still engage the brake when they are lost', () => {
  const one = fleet(
    0,
    {},
    observed(
      initial,
      times(1200, (n) => present(long(128, n), invented(n))),
    ),
  );
  expect(livingIn(one.state().liveAgents, { host: 'h9' })).toBe(0);
  const engaged = [0, 1, 2].flatMap((n) => one.receive(lost(`late-${n}`, { host: 'h9', runtimeId: `r${n}` })));
  expect(engaged).toEqual(['BRAKE_ENGAGED host:h9']);
});

test('a host of 253 bytes is a place; a longer one is not, and costs no more', () => {
  const one = fleet(0);
  one.receive(present('fits', { host: long(253, 1) }));
  expect(countedNames(one.state().liveAgents.hosts)).toEqual([long(253, 1)]);
  one.receive(present('wide', { host: 'ä'.repeat(127) }));
  one.receive(present('control', { host: '\u0001'.repeat(43) }));
  expect(countedNames(one.state().liveAgents.hosts)).toEqual([long(253, 1)]);
  one.receiveAll(
    times(200, (n) => [
      present(`a${n}`, { host: long(8000, n) }),
      lost(`a${n}`, { host: long(8000, n), exemption: n % 2 === 0 ? 'idle' : null }),
      admitStep(`a${n}`, 'destructive', { labels: { host: long(8000, n) } }),
    ]).flat(),
  );
  expect(bytesOf(one.state())).toBeLessThan(250_000);
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
  const rulings = one.receiveAll(times(50, (n) => admitSpawn(`t${n}`, { labels: { text: long(8000, n) } })));
  expect(new Set(rulings.map((ruling) => ruling.split(' ').at(-1)))).toEqual(new Set(['no_template', 'no_runtime']));
  expect(rulings[0]).toBe('withholds t0 no_template');
  expect(bytesOf(one.state())).toBeLessThan(110_000);
  one.after(60 * SEC);
  expect(one.receive(admitSpawn('small'))).toEqual([expect.stringMatching(/^withholds small no_/)]);
});

test('steps that wait have a limit; above it a step is sent back, also while the fleet is halted', () => {
  const one = fleet(0);
  const answers = one.receiveAll(times(700, (n) => admitStep(`a${n}`, 'destructive', { runtimeId: `r${n}` })));
  const waiting = one.state().requests;
  expect(answers).toEqual(times(700 - waiting.length, (n) => `withholds a${waiting.length + n} queue_full`));
  expect(waiting.length).toBeGreaterThan(300);
  expect(bytesOf(one.state())).toBeLessThan(MOST_QUEUE_BYTES * 1.1);
  expect(one.receive(admitStep('soft', 'soft'))).toEqual(['admits soft']);
  one.receive(controls('HALT_FLEET'));
  const held = long(128, 1);
  expect(one.receive(admitStep(held, 'soft'))).toEqual([`withholds ${held} queue_full`]);
});

test('the steps of one runtime fill at most a quarter of the queue, and do not keep out those of others', () => {
  const one = fleet(0);
  const evil = one.receiveAll(times(400, (n) => admitStep(`evil-${n}`, 'destructive', { runtimeId: 'evil' })));
  const waiting = one.state().requests.length;
  expect(waiting).toBeGreaterThan(50);
  expect(evil).toHaveLength(400 - waiting);
  expect(one.receive(admitStep('honest', 'destructive', { runtimeId: 'host-1' }))).toEqual([]);
  expect(bytesOf(one.state())).toBeLessThan(MOST_QUEUE_BYTES / 3);
});

test('a step that was sent back has room once others have been admitted', () => {
  const one = fleet(0, { stepsPerMinute: 100 });
  one.receiveAll(times(700, (n) => admitStep(`a${n}`, 'destructive', { runtimeId: `r${n}` })));
  one.after(5 * SEC);
  expect(one.receive(admitStep('a699'))).toEqual([]);
  expect(one.state().requests.at(-1)).toMatchObject({ step: { agentId: 'a699' } });
});

test('every list at its limit, of names as long as they may be, fits into a record', () => {
  const one = fleet(
    0,
    { scopeLabel: 'team', stepsPerMinute: 1000, spawnsPerHour: 1000, mostCapacity: 1_000_000 },
    observed(
      initial,
      times(1000, (n) => present(long(128, n), { ...invented(n), taskId: long(128, n) })),
    ),
  );
  one.receiveAll(
    times(29, (n) =>
      announces(long(128, n), {
        labels: { text: long(8000, n) },
        templates: [{ task: '*', labels: {} }],
        capacity: 1000,
      }),
    ),
  );
  const wide = (n: number) => ({ labels: { team: long(253, n), host: long(253, n) }, runtimeId: long(128, n) });
  const admissions = times(400, (n) => admitStep(long(128, n), 'destructive', wide(n)));
  one.receiveAll(admissions.slice(0, 200));
  one.after(5 * SEC);
  one.receiveAll(admissions.slice(200));
  one.receiveAll(times(60, (n) => admitSpawn(long(128, n), { labels: { text: long(8000, n) } })));
  const exemptionOf = (n: number) => (n % 3 === 0 ? 'idle' : null);
  one.receiveAll(
    times(400, (n) => lost(long(128, n), { ...invented(n % 700), taskId: long(128, n), exemption: exemptionOf(n) })),
  );
  expect(one.state().brake).not.toBeNull();
  expect(storedBytesOf(one.state())).toBeLessThan(BROKER_BYTES);
  expect(one.receive(controls('HALT_FLEET'))).toContain('FLEET_HALTED');
});
