import { expect, test } from 'vitest';
import { admitSpawn, announces, fleet, lost, MIN, present, SEC } from './fleet.fixture.ts';
import { CRASH_WAIT_MS } from './settings.ts';

/** a0, a1 and a2 are gone at once, and the brake is on. */
const braked = (why: 'silent' | 'crashed') => {
  const one = fleet(40, { spawnsPerHour: 1 });
  for (const i of [0, 1]) expect(one.receive(lost(`a${i}`, { host: 'h0', why }))).toEqual([]);
  expect(one.receive(lost('a2', { host: 'h0', why }))).toEqual(['BRAKE_ENGAGED fleet']);
  return one;
};

test('the brake waits a quarter of an hour for the tasks of agents that crashed, and a minute more', () => {
  const one = braked('crashed');
  expect(one.after(CRASH_WAIT_MS + MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
});

test('it waits without end for agents that only fell silent: they may live', () => {
  expect(braked('silent').after(24 * 60 * MIN)).toEqual([]);
});

test('it lifts sooner where over half of their tasks are on other agents', () => {
  const one = braked('crashed');
  for (const i of [0, 1]) one.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
});

test('a task that is back later than that counts from the end of the wait', () => {
  const one = braked('crashed');
  one.after(CRASH_WAIT_MS + 30 * SEC);
  for (const i of [0, 1, 2]) one.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
  expect(one.after(30 * SEC)).toEqual(['BRAKE_RELEASED']);
});

test('an agent that fell silent and is then reported crashed is waited for no more', () => {
  const one = braked('silent');
  for (const i of [0, 1])
    expect(one.receive(lost(`a${i}`, { host: 'h0', why: 'crashed', expected: true }))).toEqual([]);
  expect(one.receive(lost('a2', { host: 'h0', why: 'crashed', expected: true }))).toEqual(['BRAKE_RELEASED']);
});

test('such a crash still counts with the losses that follow at once, and is waited for like any crash', () => {
  const one = fleet(40);
  one.receive(lost('a0', { host: 'h0', why: 'silent' }));
  one.receive(lost('a0', { host: 'h0', why: 'crashed', expected: true }));
  one.receive(lost('a1', { host: 'h0', why: 'crashed' }));
  expect(one.receive(lost('a2', { host: 'h0', why: 'crashed' }))).toEqual(['BRAKE_ENGAGED fleet']);
  expect(one.after(CRASH_WAIT_MS + MIN)).toEqual(['BRAKE_RELEASED']);
});

test('a task whose spawn is over the budget is with people: the brake waits for it no more', () => {
  const one = braked('silent');
  one.receive(announces('rt-9'));
  expect(one.receive(admitSpawn('task-a0'))).toEqual(['spawns task-a0 on rt-9']);
  expect(one.receive(admitSpawn('task-a1'))).toEqual(['withholds task-a1 budget']);
  expect(one.receive(admitSpawn('task-a2'))).toEqual(['withholds task-a2 budget']);
  one.receive(present('b0', { taskId: 'task-a0', host: 'h9' }));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
});

test('crashes that are reported for agents for which the brake is on do not engage it again', () => {
  const one = fleet(80);
  const ids = Array.from({ length: 10 }, (_, i) => `a${i}`);
  const engaged = ids.flatMap((id) => one.receive(lost(id, { host: 'h0' })));
  expect(engaged).toHaveLength(1);
  one.after(10 * SEC);
  const after = ids.flatMap((id) => one.receive(lost(id, { host: 'h0', why: 'crashed', expected: true })));
  expect(after).toEqual(['BRAKE_RELEASED']);
});

/** Replacements take the tasks of a0, a1 and a2; those of a0 and a1 are lost 30 s later, and do not count as lost. */
const replacementsLost = (why: 'silent' | 'crashed', rest: Parameters<typeof lost>[1] = { observedMs: 30 * SEC }) => {
  const one = braked(why);
  for (const i of [0, 1, 2]) one.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
  one.after(30 * SEC);
  for (const i of [0, 1]) one.receive(lost(`b${i}`, { taskId: `task-a${i}`, host: 'h9', why, ...rest }));
  return one;
};

test.each([
  ['was observed for less than a minute', { observedMs: MIN - 1 }],
  ['had no instance', { instanceId: null }],
  ['was idle', { exemption: 'idle' }],
] as const)('a task is not back where its replacement, which %s, is lost again', (_, rest) => {
  const one = replacementsLost('silent', rest);
  expect(one.after(60 * MIN)).toEqual([]);
  one.receive(present('c0', { taskId: 'task-a0', host: 'h9' }));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
});

test('a task whose replacement crashes is waited for a quarter of an hour from that crash, also where its agent only fell silent', () => {
  for (const first of ['silent', 'crashed'] as const) {
    const one = replacementsLost(first, { observedMs: 1, why: 'crashed' });
    expect(one.after(CRASH_WAIT_MS + MIN - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['BRAKE_RELEASED']);
  }
});

test('a task stays back where another agent on it is alive, or the lost agent has come back', () => {
  const taken = braked('silent');
  const back = braked('silent');
  for (const i of [0, 1, 2]) {
    taken.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
    taken.receive(present(`c${i}`, { taskId: `task-a${i}`, host: 'h9' }));
    back.receive(present(`a${i}`, { taskId: 'another', host: 'h0' }));
    back.receive(present(`b${i}`, { taskId: `task-a${i}`, host: 'h9' }));
  }
  for (const one of [taken, back]) {
    one.after(30 * SEC);
    for (const i of [0, 1, 2]) one.receive(lost(`b${i}`, { taskId: `task-a${i}`, host: 'h9', observedMs: 1 }));
    expect(one.after(30 * SEC)).toEqual(['BRAKE_RELEASED']);
  }
});
