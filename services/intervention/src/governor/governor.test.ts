import type { DeadLetter } from '@vigil/stream';
import { expect, test } from 'vitest';
import {
  admitSpawn,
  admitStep,
  announces,
  controls,
  fleet,
  MIN,
  SEC,
  T0,
  withdrawSpawn,
  withdrawStep,
} from './fleet.fixture.ts';
import { usual } from './settings.ts';

test('a soft step is ruled at once', () => {
  const one = fleet();
  const [admitted] = one.drafts(admitStep('a0', 'soft'));
  expect(admitted).toMatchObject({
    key: 'a0',
    correlationId: 'correlation-1',
    payload: { requestId: 'case-a0-r1', caseId: 'case-a0', step: 'nudge', dryRun: false, validUntil: T0 + 30 * SEC },
  });
});

test('a destructive step is ruled when it has settled, not a moment earlier', () => {
  const one = fleet();
  expect(one.receive(admitStep('a0'))).toEqual([]);
  expect(one.after(5 * SEC - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a0']);
});

test('asked twice is ruled once, before the ruling and after it', () => {
  const one = fleet();
  one.receive(admitStep('a0'));
  one.receive(admitStep('a0'));
  expect(one.after(5 * SEC)).toEqual(['admits a0']);
  one.receive(admitStep('a0'));
  expect(one.after(10 * MIN)).toEqual([]);
});

test('ten destructive steps a minute, in order of arrival; the eleventh waits for the minute', () => {
  const one = fleet();
  for (let i = 0; i < 11; i++) one.receive(admitStep(`a${i}`));
  expect(one.after(5 * SEC)).toEqual(Array.from({ length: 10 }, (_, i) => `admits a${i}`));
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a10']);
});

test('a budget is of its scope', () => {
  const one = fleet(0, { stepsPerMinute: 1, scopeLabel: 'team' });
  one.receive(admitStep('a0', 'destructive', { labels: { team: 'red' } }));
  one.receive(admitStep('a1', 'destructive', { labels: { team: 'red' } }));
  one.receive(admitStep('a2', 'destructive', { labels: { team: 'blue' } }));
  expect(one.after(5 * SEC)).toEqual(['admits a0', 'admits a2']);
});

test('an agent has one destructive step within its cooldown; others are not kept waiting by it', () => {
  const one = fleet();
  one.receive(admitStep('a0'));
  one.after(5 * SEC);
  const again = { ...admitStep('a0'), payload: { ...admitStep('a0').payload, requestId: 'case-a0-r2' } };
  one.receive(again);
  one.receive(admitStep('a1'));
  expect(one.after(5 * SEC)).toEqual(['admits a1']);
  expect(one.after(5 * MIN - 5 * SEC - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits a0']);
});

test('a withdrawn request gets no answer; a withdrawn admission returns to the budget', () => {
  const one = fleet(0, { stepsPerMinute: 1 });
  one.receive(admitStep('a0'));
  expect(one.receive(withdrawStep('a0'))).toEqual([]);
  expect(one.after(MIN)).toEqual([]);
  one.receive(admitStep('a1'));
  one.receive(admitStep('a2'));
  expect(one.after(5 * SEC)).toEqual(['admits a1']);
  expect(one.receive(withdrawStep('a1'))).toEqual(['admits a2']);
});

test('an admission given back counts no more, however late: its step was not done', () => {
  for (const late of [20 * SEC, 40 * SEC, 4 * MIN]) {
    const one = fleet(0, { stepsPerMinute: 1 });
    one.receive(admitStep('a0'));
    expect(one.after(5 * SEC)).toEqual(['admits a0']);
    one.after(late);
    expect(one.receive(withdrawStep('a0'))).toEqual([]);
    const again = { ...admitStep('a0'), payload: { ...admitStep('a0').payload, requestId: 'case-a0-r2' } };
    one.receive(again);
    expect(one.after(5 * SEC)).toEqual(['admits a0']);
  }
});

test('an admission that is not given back stays used', () => {
  const one = fleet(0, { stepsPerMinute: 1 });
  one.receive(admitStep('a1'));
  one.receive(admitStep('a2'));
  one.after(5 * SEC);
  expect(one.after(MIN - 1)).toEqual([]);
});

test('a spawn given back late returns to its hour, and its room to its runtime', () => {
  const one = fleet(0, { spawnsPerHour: 1 });
  one.receive(announces('r1', { capacity: 1 }));
  one.after(SEC);
  expect(one.receive(admitSpawn('t1'))).toEqual(['spawns t1 on r1']);
  one.after(MIN);
  one.receive({ ...withdrawStep('t1'), payload: { ...withdrawStep('t1').payload, requestId: 'spawn-t1' } });
  expect(one.receive(admitSpawn('t2'))).toEqual(['spawns t2 on r1']);
});

test('halted, every step is withheld, and so is what waits; resumed, what waits is admitted', () => {
  const one = fleet();
  one.receive(admitStep('a0'));
  expect(one.receive(controls('HALT_FLEET'))).toEqual(['FLEET_HALTED', 'withholds a0 halted']);
  expect(one.receive(admitStep('a1', 'soft'))).toEqual(['withholds a1 halted']);
  expect(one.receive(admitSpawn('t1'))).toEqual(['withholds t1 halted']);
  expect(one.receive(controls('RESUME_FLEET'))).toEqual(['FLEET_RESUMED', 'admits a1']);
  expect(one.receive(admitStep('a2', 'soft'))).toEqual(['admits a2']);
});

test('in a dry run everything is admitted as such, and nothing is used up', () => {
  const one = fleet(0, { stepsPerMinute: 1, spawnsPerHour: 1 });
  expect(one.receive(controls('DRY_RUN_ON'))).toEqual(['DRY_RUN_CHANGED']);
  one.receive(announces('r1'));
  one.receive(admitStep('a0'));
  one.receive(admitStep('a1'));
  expect(one.after(5 * SEC)).toEqual(['admits a0 dry', 'admits a1 dry']);
  expect(one.receive(admitSpawn('t1'))).toEqual(['spawns t1 on r1 dry']);
  one.receive(controls('DRY_RUN_OFF'));
  expect(one.receive(admitSpawn('t2'))).toEqual(['spawns t2 on r1']);
});

test('five spawns an hour; the sixth is withheld at once, as its task goes to people', () => {
  const one = fleet();
  one.receive(announces('r1'));
  for (let i = 1; i <= 5; i++) expect(one.receive(admitSpawn(`t${i}`))).toEqual([`spawns t${i} on r1`]);
  expect(one.receive(admitSpawn('t6'))).toEqual(['withholds t6 budget']);
  one.after(60 * MIN);
  one.receive(announces('r1'));
  expect(one.receive(admitSpawn('t7'))).toEqual(['spawns t7 on r1']);
});

test('a spawn goes to the runtime of the dead, else to the one with most room', () => {
  const one = fleet();
  one.receive(announces('r1', { capacity: 2 }));
  one.receive(announces('r2', { capacity: 9 }));
  expect(one.receive(admitSpawn('t1', { preferRuntimeId: 'r1' }))).toEqual(['spawns t1 on r1']);
  expect(one.receive(admitSpawn('t2'))).toEqual(['spawns t2 on r2']);
  expect(one.receive(admitSpawn('t3', { preferRuntimeId: 'r2', notRuntimeIds: ['r2'] }))).toEqual(['spawns t3 on r1']);
});

test('a runtime is skipped where it is full, silent for 90 s, excluded, or of other labels', () => {
  const play = (rest: object, ask: object = {}, ms = 0) => {
    const one = fleet();
    one.receive(announces('r1', rest));
    one.after(ms);
    return one.receive(admitSpawn('t1', ask));
  };
  expect(play({ capacity: 1 })).toEqual(['spawns t1 on r1']);
  expect(play({ capacity: 1, agents: ['x'] })).toEqual(['withholds t1 no_runtime']);
  expect(play({}, {}, 90 * SEC - 1)).toEqual(['spawns t1 on r1']);
  expect(play({}, {}, 90 * SEC)).toEqual(['withholds t1 no_template']);
  expect(play({}, { notRuntimeIds: ['r1'] })).toEqual(['withholds t1 no_runtime']);
  expect(play({ labels: { team: 'red' } }, { labels: { team: 'red' } })).toEqual(['spawns t1 on r1']);
  expect(play({ labels: { team: 'red' } }, { labels: { team: 'blue' } })).toEqual(['withholds t1 no_runtime']);
  expect(play({ labels: { host: 'h2' } }, { labels: { host: 'h1' } })).toEqual(['spawns t1 on r1']);
});

test('where no runtime has room, the reason names the places of up to three, and the limit only where it applies', () => {
  const detail = (asked: object, ...runtimes: readonly object[]) => {
    const one = fleet(0, { mostCapacity: 2 });
    for (const [n, runtime] of runtimes.entries()) one.receive(announces(`r${n + 1}`, runtime));
    const [draft] = one.drafts(admitSpawn('t1', asked));
    return (draft?.payload as { readonly detail?: string } | undefined)?.detail;
  };
  const full = { capacity: 1, agents: ['x'] };
  expect(detail({}, full)).toBe(
    'no runtime with a template for it has room: r1 has 1 of 1 places taken: start another, or raise its capacity',
  );
  expect(detail({}, { capacity: 9, agents: ['x', 'y', 'z'] })).toBe(
    'no runtime with a template for it has room: r1 has 3 of 2 places taken: start another, or raise its capacity (VIGIL_GOVERNOR_MOST_CAPACITY counts at most 2 of a runtime)',
  );
  expect(detail({}, full, full, full, full)).toContain('r3 has 1 of 1 places taken, 1 more: start another');
  expect(detail({ notRuntimeIds: ['r1'] }, {}, full)).toContain(
    'has room: 1 of 2 runtimes with a template for it have failed to start it; r2 has 1 of 1 places taken: start another, or raise',
  );
  expect(detail({ notRuntimeIds: ['r1'] }, {})).toMatch(/have failed to start it: start another$/);
});

const templatesFor = (task: string, labels: Readonly<Record<string, string>> = {}) => ({
  templates: [{ task, labels }],
});

test('a runtime that lacks a label of the task gets no spawn of it, unless the agent ran there; its template may carry the label', () => {
  const labels = { team: 'core', host: 'h1' };
  const play = (runtime: object, ask: object = {}) => {
    const one = fleet();
    one.receive(announces('r1', runtime));
    return one.receive(admitSpawn('t1', { labels, ...ask }));
  };
  expect(play({ labels: {} })).toEqual(['withholds t1 no_runtime']);
  expect(play({ labels: { team: 'other' } })).toEqual(['withholds t1 no_runtime']);
  expect(play({ labels: {} }, { preferRuntimeId: 'r1' })).toEqual(['spawns t1 on r1']);
  expect(play({ templates: [{ task: '*', labels: { team: 'core' } }] })).toEqual(['spawns t1 on r1']);
});

test('a runtime that announces an enormous capacity draws no spawn of tasks whose labels it lacks, and counts with the largest capacity', () => {
  const one = fleet();
  one.receive(announces('build-1', { capacity: 1, agents: ['x'], labels: { team: 'core' } }));
  one.receive(announces('build-2', { capacity: 8, labels: { team: 'core' } }));
  one.receive(announces('mallory', { capacity: 2 ** 31 - 1 }));
  const core = { labels: { team: 'core' } };
  expect(one.receive(admitSpawn('t1', { preferRuntimeId: 'build-1', ...core }))).toEqual(['spawns t1 on build-2']);
  expect(one.receive(admitSpawn('t2', { notRuntimeIds: ['build-1'], ...core }))).toEqual(['spawns t2 on build-2']);
  expect(one.state().runtimes).toMatchObject({ mallory: { capacity: usual.mostCapacity } });
});

test('of several runtimes one uses at most half of a budget, rounded up; alone in the fleet it uses all of it', () => {
  const flapping = { preferRuntimeId: 'flapping' };
  const one = fleet();
  one.receive(announces('flapping'));
  one.receive(announces('calm'));
  for (const id of ['t1', 't2', 't3'])
    expect(one.receive(admitSpawn(id, flapping))).toEqual([`spawns ${id} on flapping`]);
  expect(one.receive(admitSpawn('t4', flapping))).toEqual(['withholds t4 budget']);
  for (const id of ['t5', 't6'])
    expect(one.receive(admitSpawn(id, { preferRuntimeId: 'calm' }))).toEqual([`spawns ${id} on calm`]);
  expect(one.receive(admitSpawn('t7', { preferRuntimeId: 'calm' }))).toEqual(['withholds t7 budget']);
  const alone = fleet();
  alone.receive(announces('flapping'));
  for (const id of ['t1', 't2', 't3', 't4', 't5'])
    expect(alone.receive(admitSpawn(id, flapping))).toEqual([`spawns ${id} on flapping`]);
});

const POLICY = { name: 'coditect', hash: '0123456789abcdef' };
const recovers = (taskId: string, rest: Parameters<typeof admitSpawn>[1] = {}, policy = POLICY) => ({
  ...admitSpawn(taskId, { maxPerHour: 2, ...rest }),
  policy,
});

test('a policy has a number of spawns an hour of its own; the next goes to people, and other policies continue', () => {
  const one = fleet();
  one.receive(announces('r1'));
  for (const id of ['t1', 't2']) expect(one.receive(recovers(id))).toEqual([`spawns ${id} on r1`]);
  const [withheld] = one.drafts(recovers('t3'));
  expect(withheld?.payload).toMatchObject({
    why: 'budget',
    detail: expect.stringMatching(/^2 spawns an hour for fleet by policy coditect, .*; free in 60 min$/),
  });
  expect(one.receive(recovers('t4', {}, { ...POLICY, name: 'other' }))).toEqual(['spawns t4 on r1']);
  expect(one.receive(recovers('t5', { maxPerHour: null }, { ...POLICY, name: 'without' }))).toEqual([
    'spawns t5 on r1',
  ]);
  one.after(60 * MIN - 1);
  one.receive(announces('r1'));
  expect(one.receive(recovers('t6'))).toEqual(['withholds t6 budget']);
  one.after(1);
  expect(one.receive(recovers('t7'))).toEqual(['spawns t7 on r1']);
});

test('a changed document of a policy has the same count', () => {
  const one = fleet();
  one.receive(announces('r1'));
  for (const id of ['t1', 't2']) one.receive(recovers(id));
  expect(one.receive(recovers('t3', {}, { ...POLICY, hash: 'fedcba9876543210' }))).toEqual(['withholds t3 budget']);
});

test("the number of a policy counts in each scope, and below the fleet's own", () => {
  const one = fleet(0, { scopeLabel: 'team', spawnsPerHour: 3 });
  one.receive(announces('r1', { labels: { team: 'red' } }));
  one.receive(announces('r1', { labels: {} }));
  const of = (team: string) => ({ labels: { team }, preferRuntimeId: 'r1' });
  for (const id of ['a1', 'a2']) expect(one.receive(recovers(id, of('red')))).toEqual([`spawns ${id} on r1`]);
  expect(one.receive(recovers('a3', of('red')))).toEqual(['withholds a3 budget']);
  for (const id of ['b1', 'b2']) expect(one.receive(recovers(id, of('blue')))).toEqual([`spawns ${id} on r1`]);
  const generous = { ...of('green'), maxPerHour: 9 };
  for (const id of ['c1', 'c2', 'c3']) expect(one.receive(recovers(id, generous))).toEqual([`spawns ${id} on r1`]);
  const [withheld] = one.drafts(recovers('c4', generous));
  expect(withheld?.payload).toMatchObject({ detail: expect.stringMatching(/^3 spawns an hour for green, /) });
});

test('of several runtimes one uses at most half of the number of a policy, rounded up', () => {
  const flapping = { preferRuntimeId: 'flapping', maxPerHour: 3 };
  const one = fleet(0, { spawnsPerHour: 100 });
  one.receive(announces('flapping'));
  one.receive(announces('calm'));
  for (const id of ['t1', 't2']) expect(one.receive(recovers(id, flapping))).toEqual([`spawns ${id} on flapping`]);
  expect(one.receive(recovers('t3', flapping))).toEqual(['withholds t3 budget']);
  expect(one.receive(recovers('t4', { ...flapping, preferRuntimeId: 'calm' }))).toEqual(['spawns t4 on calm']);
});

test('a spawn that is given back returns to the number of its policy', () => {
  const one = fleet();
  one.receive(announces('r1'));
  for (const id of ['t1', 't2']) one.receive(recovers(id));
  one.receive(withdrawSpawn('t2'));
  expect(one.receive(recovers('t3'))).toEqual(['spawns t3 on r1']);
});

test('destructive steps are shared in the same way: those of the other runtimes do not wait for a flapping one', () => {
  const one = fleet(0, { stepsPerMinute: 4 });
  one.receive(announces('calm'));
  for (const id of ['f1', 'f2', 'f3', 'f4']) one.receive(admitStep(id, 'destructive', { runtimeId: 'flapping' }));
  for (const id of ['c1', 'c2']) one.receive(admitStep(id, 'destructive', { runtimeId: 'calm' }));
  expect(one.after(5 * SEC)).toEqual(['admits f1', 'admits f2', 'admits c1', 'admits c2']);
  expect(one.after(MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['admits f3', 'admits f4']);
});

test('a spawn goes only to a runtime that has a template for the task, also where that has less room or another is preferred', () => {
  const one = fleet();
  one.receive(announces('demo', { capacity: 9, ...templatesFor('DEMO-*') }));
  one.receive(announces('none', { capacity: 9, templates: [] }));
  one.receive(announces('able', { capacity: 2, labels: { model: 'm' }, ...templatesFor('NB-*', { team: 'red' }) }));
  const labels = { team: 'red', model: 'm' };
  expect(one.receive(admitSpawn('NB-1', { preferRuntimeId: 'demo', labels }))).toEqual(['spawns NB-1 on able']);
  expect(one.receive(admitSpawn('NB-2', { labels: { team: 'blue' } }))).toEqual(['withholds NB-2 no_template']);
  expect(one.receive(admitSpawn('NB-3'))).toEqual(['withholds NB-3 no_template']);
  expect(one.receive(admitSpawn('DEMO-1'))).toEqual(['spawns DEMO-1 on demo']);
});

test('that no runtime can start a task is announced once, with the lines to write', () => {
  const one = fleet();
  one.receive(announces('demo', templatesFor('DEMO-*')));
  const [withheld, ...more] = one.drafts(admitSpawn('NB-2'));
  expect(more).toEqual([]);
  const lines = [
    /^no runtime can start NB-2: no runtime has a template for it\. /,
    /`vigil runtime --config FILE`/,
    /- task: "NB-2"/,
  ];
  for (const line of lines)
    expect(withheld?.payload).toMatchObject({ why: 'no_template', attempt: 1, detail: expect.stringMatching(line) });
  for (let minute = 0; minute < 60; minute += 1) {
    expect(one.after(30 * SEC)).toEqual([]);
    expect(one.receive(announces('demo', templatesFor('DEMO-*')))).toEqual([]);
    expect(one.receive(admitSpawn('NB-2'))).toEqual([]);
  }
});

test('it is spawned when a runtime announces a template that fits, and not after it is withdrawn', () => {
  for (const isWithdrawn of [false, true]) {
    const one = fleet();
    expect(one.receive(admitSpawn('NB-2'))).toEqual(['withholds NB-2 no_template']);
    if (isWithdrawn) one.receive(withdrawSpawn('NB-2'));
    expect(one.receive(announces('able', templatesFor('NB-*')))).toEqual(isWithdrawn ? [] : ['spawns NB-2 on able']);
  }
});

test('a runtime that is full is one that can: the spawn is asked for again, and nothing is announced', () => {
  const one = fleet();
  one.receive(announces('able', { capacity: 1, agents: ['x'], ...templatesFor('NB-*') }));
  expect(one.receive(admitSpawn('NB-2'))).toEqual(['withholds NB-2 no_runtime']);
});

test('a spawn takes its place until its runtime lists the agent, or two minutes are over', () => {
  const one = fleet();
  const names = (newAgentId: string) => ({ newAgentId });
  one.receive(announces('b1', { capacity: 1 }));
  expect(one.receive(admitSpawn('T1', names('T1-r1')))).toEqual(['spawns T1 on b1']);
  one.after(SEC);
  one.receive(announces('b1', { capacity: 1 }));
  expect(one.receive(admitSpawn('T2', names('T2-r1')))).toEqual(['withholds T2 no_runtime']);
  one.receive(announces('b1', { capacity: 2, agents: ['T1-r1'] }));
  expect(one.receive(admitSpawn('T3', names('T3-r1')))).toEqual(['spawns T3 on b1']);
  one.after(2 * MIN - 1);
  one.receive(announces('b1', { capacity: 2, agents: ['T1-r1'] }));
  expect(one.receive(admitSpawn('T4', names('T4-r1')))).toEqual(['withholds T4 no_runtime']);
  one.after(1);
  expect(one.receive(admitSpawn('T5', names('T5-r1')))).toEqual(['spawns T5 on b1']);
});

/** A governor that counts the announcements that it refuses, by reason. */
const withRuntimes = () => {
  const one = fleet(0);
  const refused: string[] = [];
  const announce = (runtimeId: string, rest: Parameters<typeof announces>[1] = {}) => {
    try {
      one.receive(announces(runtimeId, rest));
    } catch (error) {
      refused.push((error as DeadLetter).reason);
    }
  };
  return { ...one, announce, refused };
};

/** Labels of so many characters as JSON. */
const labelsOf = (characters: number) => ({ labels: { x: 'y'.repeat(characters) } });

test('invented runtimes never make the state larger than a broker accepts, and take no place from those before them', () => {
  const one = withRuntimes();
  one.announce('first');
  for (let i = 0; i < 1500; i++) one.announce(`invented-${'x'.repeat(100)}-${i}`, labelsOf(100));
  expect(JSON.stringify(one.state()).length).toBeLessThan(260_000);
  expect(new Set(one.refused)).toEqual(new Set(['too_many_runtimes']));
  one.announce('first');
  expect(one.receive(admitSpawn('t1'))).toEqual([expect.stringContaining('spawns t1 on')]);
  expect(Object.keys(one.state().runtimes)).toContain('first');
});

test('a runtime that ends, or falls silent for 90 s, makes room for another', () => {
  const one = withRuntimes();
  for (let i = 0; i < 40; i++) one.announce(`full-${i}`, labelsOf(9000));
  const known = Object.keys(one.state().runtimes).length;
  expect(known).toBeLessThan(40);
  one.announce('full-0', { capacity: 0 });
  one.announce('next', labelsOf(9000));
  expect(Object.keys(one.state().runtimes)).toContain('next');
  one.after(90_000);
  const before = one.refused.length;
  for (let i = 0; i < known; i++) one.announce(`later-${i}`, labelsOf(9000));
  expect(one.refused).toHaveLength(before);
});

test('a runtime with more than 10,000 bytes of labels and templates is refused, and one with fewer is not', () => {
  const one = withRuntimes();
  const rest = JSON.stringify({ capacity: 100, busy: 0, templates: [{ task: '*', labels: {} }], announcedAt: T0 });
  const room = 10_000 - rest.length - ',"labels":{"x":""}'.length;
  one.announce('large', labelsOf(room + 1));
  one.announce('fits', labelsOf(room));
  one.announce('wide', { labels: { x: '漢'.repeat(room / 2) } });
  expect(one.refused).toEqual(['too_large', 'too_large']);
  expect(Object.keys(one.state().runtimes)).toEqual(['fits']);
});
