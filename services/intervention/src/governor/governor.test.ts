import { expect, test } from 'vitest';
import { announces, asks, fleet, MIN, SEC, spawns, steers, T0, withdraws } from './fleet.fixture.ts';

test('a soft step is ruled at once', () => {
  const one = fleet();
  const [admitted] = one.drafts(asks('a0', 'soft'));
  expect(admitted).toMatchObject({
    key: 'a0',
    correlationId: 'correlation-1',
    payload: { requestId: 'case-a0-r1', caseId: 'case-a0', step: 'nudge', dryRun: false, validUntil: T0 + 30 * SEC },
  });
});

test('a destructive step is ruled when it has settled, not a moment earlier', () => {
  const one = fleet();
  expect(one.tell(asks('a0'))).toEqual([]);
  expect(one.after(5 * SEC - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a0']);
});

test('asked twice is ruled once, before the ruling and after it', () => {
  const one = fleet();
  one.tell(asks('a0'));
  one.tell(asks('a0'));
  expect(one.after(5 * SEC)).toEqual(['admits a0']);
  one.tell(asks('a0'));
  expect(one.after(10 * MIN)).toEqual([]);
});

test('ten destructive steps a minute, in order of arrival; the eleventh waits for the minute', () => {
  const one = fleet();
  for (let i = 0; i < 11; i++) one.tell(asks(`a${i}`));
  expect(one.after(5 * SEC)).toEqual(Array.from({ length: 10 }, (_, i) => `admits a${i}`));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a10']);
});

test('a budget is of its scope', () => {
  const one = fleet(0, { stepsPerMinute: 1, scopeLabel: 'team' });
  one.tell(asks('a0', 'destructive', { labels: { team: 'red' } }));
  one.tell(asks('a1', 'destructive', { labels: { team: 'red' } }));
  one.tell(asks('a2', 'destructive', { labels: { team: 'blue' } }));
  expect(one.after(5 * SEC)).toEqual(['admits a0', 'admits a2']);
});

test('an agent has one destructive step within its cooldown; others are not kept waiting by it', () => {
  const one = fleet();
  one.tell(asks('a0'));
  one.after(5 * SEC);
  const again = { ...asks('a0'), payload: { ...asks('a0').payload, requestId: 'case-a0-r2' } };
  one.tell(again);
  one.tell(asks('a1'));
  expect(one.after(5 * SEC)).toEqual(['admits a1']);
  expect(one.after(5 * MIN - 5 * SEC - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a0']);
});

test('what is withdrawn is not ruled; an admission withdrawn returns to the budget', () => {
  const one = fleet(0, { stepsPerMinute: 1 });
  one.tell(asks('a0'));
  expect(one.tell(withdraws('a0'))).toEqual([]);
  expect(one.after(MIN)).toEqual([]);
  one.tell(asks('a1'));
  one.tell(asks('a2'));
  expect(one.after(5 * SEC)).toEqual(['admits a1']);
  expect(one.tell(withdraws('a1'))).toEqual(['admits a2']);
});

test('an admission given back counts no more, however late: its step was not done', () => {
  for (const late of [20 * SEC, 40 * SEC, 4 * MIN]) {
    const one = fleet(0, { stepsPerMinute: 1 });
    one.tell(asks('a0'));
    expect(one.after(5 * SEC)).toEqual(['admits a0']);
    one.after(late);
    expect(one.tell(withdraws('a0'))).toEqual([]);
    const again = { ...asks('a0'), payload: { ...asks('a0').payload, requestId: 'case-a0-r2' } };
    one.tell(again);
    expect(one.after(5 * SEC)).toEqual(['admits a0']);
  }
});

test('an admission that nobody gives back stays used', () => {
  const one = fleet(0, { stepsPerMinute: 1 });
  one.tell(asks('a1'));
  one.tell(asks('a2'));
  one.after(5 * SEC);
  expect(one.after(MIN - 1)).toEqual([]);
});

test('a spawn given back late returns to its hour, and its room to its runtime', () => {
  const one = fleet(0, { spawnsPerHour: 1 });
  one.tell(announces('r1', { capacity: 1 }));
  one.after(SEC);
  expect(one.tell(spawns('t1'))).toEqual(['spawns t1 on r1']);
  one.after(MIN);
  one.tell({ ...withdraws('t1'), payload: { ...withdraws('t1').payload, requestId: 'spawn-t1' } });
  expect(one.tell(spawns('t2'))).toEqual(['spawns t2 on r1']);
});

test('halted, every step is withheld, and so is what waits; resumed, the next is ruled', () => {
  const one = fleet();
  one.tell(asks('a0'));
  expect(one.tell(steers('HALT_FLEET'))).toEqual(['FLEET_HALTED', 'withholds a0 halted']);
  expect(one.tell(asks('a1', 'soft'))).toEqual(['withholds a1 halted']);
  expect(one.tell(spawns('t1'))).toEqual(['withholds t1 halted']);
  expect(one.tell(steers('RESUME_FLEET'))).toEqual(['FLEET_RESUMED']);
  expect(one.tell(asks('a2', 'soft'))).toEqual(['admits a2']);
});

test('in a dry run everything is admitted as such, and nothing is used up', () => {
  const one = fleet(0, { stepsPerMinute: 1, spawnsPerHour: 1 });
  expect(one.tell(steers('DRY_RUN_ON'))).toEqual(['DRY_RUN_CHANGED']);
  one.tell(announces('r1'));
  one.tell(asks('a0'));
  one.tell(asks('a1'));
  expect(one.after(5 * SEC)).toEqual(['admits a0 dry', 'admits a1 dry']);
  expect(one.tell(spawns('t1'))).toEqual(['spawns t1 on r1 dry']);
  one.tell(steers('DRY_RUN_OFF'));
  expect(one.tell(spawns('t2'))).toEqual(['spawns t2 on r1']);
});

test('five spawns an hour; the sixth is withheld at once, as its task goes to people', () => {
  const one = fleet();
  one.tell(announces('r1'));
  for (let i = 1; i <= 5; i++) expect(one.tell(spawns(`t${i}`))).toEqual([`spawns t${i} on r1`]);
  expect(one.tell(spawns('t6'))).toEqual(['withholds t6 budget']);
  one.after(60 * MIN);
  one.tell(announces('r1'));
  expect(one.tell(spawns('t7'))).toEqual(['spawns t7 on r1']);
});

test('a spawn goes to the runtime of the dead, else to the one with most room', () => {
  const one = fleet();
  one.tell(announces('r1', { capacity: 2 }));
  one.tell(announces('r2', { capacity: 9 }));
  expect(one.tell(spawns('t1', { preferRuntimeId: 'r1' }))).toEqual(['spawns t1 on r1']);
  expect(one.tell(spawns('t2'))).toEqual(['spawns t2 on r2']);
  expect(one.tell(spawns('t3', { preferRuntimeId: 'r2', notRuntimeIds: ['r2'] }))).toEqual(['spawns t3 on r1']);
});

test('a runtime is passed over where it is full, silent for 90 s, excluded, or of other labels', () => {
  const play = (rest: object, ask: object = {}, ms = 0) => {
    const one = fleet();
    one.tell(announces('r1', rest));
    one.after(ms);
    return one.tell(spawns('t1', ask));
  };
  expect(play({ capacity: 1 })).toEqual(['spawns t1 on r1']);
  expect(play({ capacity: 1, agents: ['x'] })).toEqual(['withholds t1 no_runtime']);
  expect(play({}, {}, 90 * SEC - 1)).toEqual(['spawns t1 on r1']);
  expect(play({}, {}, 90 * SEC)).toEqual(['withholds t1 no_runtime']);
  expect(play({}, { notRuntimeIds: ['r1'] })).toEqual(['withholds t1 no_runtime']);
  expect(play({ labels: { team: 'red' } }, { labels: { team: 'red', model: 'm' } })).toEqual(['spawns t1 on r1']);
  expect(play({ labels: { team: 'red' } }, { labels: { team: 'blue' } })).toEqual(['withholds t1 no_runtime']);
  expect(play({ labels: { host: 'h2' } }, { labels: { host: 'h1' } })).toEqual(['spawns t1 on r1']);
});

test('room that was given away counts until the runtime announces itself again', () => {
  const one = fleet();
  one.tell(announces('r1', { capacity: 1 }));
  one.after(SEC);
  expect(one.tell(spawns('t1'))).toEqual(['spawns t1 on r1']);
  expect(one.tell(spawns('t2'))).toEqual(['withholds t2 no_runtime']);
  one.after(SEC);
  one.tell(announces('r1', { capacity: 2, agents: ['t1'] }));
  expect(one.tell(spawns('t3'))).toEqual(['spawns t3 on r1']);
});

test('a withheld spawn says what to do', () => {
  const [withheld] = fleet().drafts(spawns('t1'));
  expect(withheld?.payload).toMatchObject({ detail: expect.stringContaining('vigil runtime'), attempt: 1 });
});
