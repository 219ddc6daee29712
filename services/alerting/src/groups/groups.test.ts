import { type PayloadOf, Topic } from '@vigil/events';
import { example, EXAMPLE_TIME as START } from '@vigil/events/examples';
import { given, laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alerting, PLAIN } from '../alert/alerts.fixture.ts';
import { consoleOnly } from '../alert/routing.ts';
import { COUNT_MS, GROUP_WINDOW_MS, type GroupSettings, groups } from './groups.ts';

const SETTINGS: GroupSettings = { least: 3, waitMs: 5000 };

type Raised = PayloadOf<typeof Topic.alert, 'ALERT_RAISED'>;
const raised = (n: number, afterMs = 0, fields: Partial<Raised> = {}) => {
  const about = { route: 'stuck_agent', agentId: `w${n}`, alertId: `a${n}`, labels: {}, channels: ['pager'] } as const;
  const quiet = { options: [], requestId: null, severity: 'warning', raisedAt: START + afterMs } as const;
  return example(Topic.alert, 'ALERT_RAISED', { ...about, ...quiet, ...fields });
};
const CASE = { options: ['pardon', 'terminate'], caseId: 'case-1', askedAt: START } as const;
const changed = (n: number, fields: Partial<PayloadOf<typeof Topic.alert, 'ALERT_UPDATED'>>) =>
  example(Topic.alert, 'ALERT_UPDATED', { ...(raised(n).payload as Raised), firstFor: [], isQuiet: false, ...fields });
const asks = (n: number, askedAt = START) => changed(n, { ...CASE, askedAt });
const answered = (n: number) => changed(n, { caseId: 'case-1' });
const over = (n: number) => example(Topic.alert, 'ALERT_RESOLVED', { alertId: `a${n}`, route: 'stuck_agent' });

const open = (settings = SETTINGS) => {
  const decider = given(groups(settings), START);
  const receive = (event: Parameters<typeof decider.receive>[0], afterMs = 0) =>
    decider.receive(event, START + afterMs).flatMap(({ type, payload }) => (type === 'NOTIFY' ? [payload] : []));
  const passTo = (afterMs: number) =>
    decider.passTo(START + afterMs).flatMap(({ type, payload }) => (type === 'NOTIFY' ? [payload] : []));
  return { receive, passTo, state: decider.state, all: decider.all };
};
/** So many at once. */
const massOf = (count: number, settings = SETTINGS) => {
  const group = open(settings);
  const outputs = Array.from({ length: count }, (_, n) => group.receive(raised(n))).flat();
  return { ...group, outputs };
};

test('as many alerts of a route as the limit are one: they are withheld, and people are notified after the group wait', () => {
  const { outputs, passTo } = massOf(3);
  expect(outputs).toMatchObject([{ action: 'hold', scope: 'stuck_agent', heldFrom: START, heldTo: null }]);
  expect(passTo(4999)).toEqual([]);
  expect(passTo(5000)).toMatchObject([
    {
      ...{ action: 'raise', route: 'alert_group', severity: 'warning', channels: ['pager'], groupWaitMs: 0 },
      title: '3 agents are STUCK or FAILING',
    },
  ]);
});

test('one alert fewer makes none', () => {
  const { outputs, passTo } = massOf(2);
  expect([...outputs, ...passTo(3_600_000)]).toEqual([]);
});

test.each([
  ['of another route', { route: 'clock_drift' }],
  ['that ask a question without a case', { options: ['pardon'], caseId: null }],
  ['that are requests', { requestId: 'r-1' }],
  ['that are requests with a case', { ...CASE, requestId: 'r-1' }],
  ['about reviews', { route: 'recovery_failed' }],
  ['about no agent', { agentId: null }],
] as const)('alerts %s do not count', (_, fields) => {
  const group = massOf(2);
  expect(group.receive(raised(2, 0, fields))).toEqual([]);
});

test('alerts half a minute apart form no group; just below half a minute they do', () => {
  for (const [last, count] of [
    [GROUP_WINDOW_MS, 0],
    [GROUP_WINDOW_MS - 1, 1],
  ] as const) {
    const group = massOf(2);
    expect(group.receive(raised(2, last), last).filter(({ action }) => action === 'hold')).toHaveLength(count);
  }
});

test('one agent that flaps makes no group', () => {
  const group = open();
  for (let n = 0; n < 20; n += 1) expect([...group.receive(raised(n)), ...group.receive(over(n))]).toEqual([]);
});

test('500 agents are one alert with all of them, which is over with the last of them', () => {
  const group = massOf(500);
  expect(group.outputs).toHaveLength(1);
  expect(group.passTo(5000)).toMatchObject([
    { title: '500 agents are STUCK or FAILING', text: expect.stringContaining('w9 and 490 more') },
  ]);
  for (let n = 0; n < 499; n += 1)
    expect(group.receive(over(n), 6000).filter(({ action }) => action !== 'hold')).toEqual([]);
  expect(group.receive(over(499), 6000)).toMatchObject([
    { action: 'resolve', route: 'alert_group', title: '500 agents are STUCK or FAILING: over' },
    { action: 'unhold' },
  ]);
  expect(group.state().groups).toEqual([]);
});

test('a group whose alerts are over within the group wait notifies no person', () => {
  const group = massOf(3);
  const outputs = [0, 1, 2].flatMap((n) => group.receive(over(n), 1000));
  expect(outputs.filter(({ action }) => action === 'raise' || action === 'resolve')).toEqual([]);
  expect(outputs.at(-1)).toMatchObject({ action: 'unhold', heldFrom: START });
});

test('a group takes no more alerts once few are raised, and a later one is an alert of its own', () => {
  const group = massOf(3);
  group.passTo(5000);
  expect(group.passTo(GROUP_WINDOW_MS)).toMatchObject([{ action: 'hold', heldTo: START + GROUP_WINDOW_MS }]);
  const later = GROUP_WINDOW_MS + 1000;
  expect([3, 4].flatMap((n) => group.receive(raised(n, later), later))).toEqual([]);
  expect(group.receive(raised(5, later), later)).toMatchObject([{ action: 'hold', heldFrom: START + later }]);
});

test('without a group wait the alert of the group follows at once', () => {
  expect(massOf(3, { ...SETTINGS, waitMs: 0 }).outputs).toMatchObject([{ action: 'hold' }, { action: 'raise' }]);
});

test('a critical alert makes its group critical', () => {
  const group = massOf(2);
  group.receive(raised(2, 0, { severity: 'critical' }));
  expect(group.passTo(5000)).toMatchObject([{ severity: 'critical' }]);
});

test('the decider of groups obeys the laws of deciders', () => {
  const inputs = fc.oneof(
    fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 90_000 })).map(([n, at]) => raised(n, at)),
    fc.integer({ min: 0, max: 8 }).map(over),
    fc.integer({ min: 0, max: 8 }).map((n) => asks(n)),
    fc.integer({ min: 0, max: 8 }).map(answered),
  );
  laws(groups(SETTINGS), inputs, { runs: 300 });
});

/** Alerts that were sent by themselves, and ask so many questions later. */
const questionsOf = (count: number) => {
  const group = open();
  const outputs = Array.from({ length: count }, (_, n) => group.receive(asks(n, START + 60_000), 60_000)).flat();
  return { ...group, outputs };
};

test('as many questions of cases as the limit are one alert, which people get after two seconds of the group wait', () => {
  const { outputs, passTo } = questionsOf(3);
  expect(outputs).toMatchObject([{ action: 'hold', scope: 'stuck_agent:questions', heldFrom: START + 60_000 }]);
  expect(passTo(61_999)).toEqual([]);
  expect(passTo(62_000)).toMatchObject([
    {
      ...{
        action: 'raise',
        route: 'alert_group',
        labels: { route: 'stuck_agent', agents: 'w0 w1 w2', asks: 'decision' },
      },
      title: "3 agents wait for a decision: vigil inbox, or the page's Inbox",
    },
  ]);
});

test('one question fewer is a message of its own, also where one of them is asked twice', () => {
  const { outputs, receive, passTo } = questionsOf(2);
  expect([...outputs, ...receive(asks(1, START + 60_000), 60_000), ...passTo(3_600_000)]).toEqual([]);
});

test('the alert of questions has those that wait still, and is over with the last answer', () => {
  const group = questionsOf(3);
  group.passTo(62_000);
  const outputs = [...group.receive(answered(0), 62_100), ...group.passTo(62_000 + COUNT_MS - 1)];
  expect(outputs.filter(({ action }) => action !== 'hold')).toEqual([]);
  expect(group.passTo(62_000 + COUNT_MS)).toMatchObject([
    {
      action: 'raise',
      title: expect.stringMatching(/^2 agents wait/),
      text: expect.stringContaining('them: w1, w2. '),
    },
  ]);
  expect(group.receive(answered(1), 67_100)).toEqual([]);
  expect(group.receive(answered(2), 67_200)).toMatchObject([
    { action: 'resolve', title: '3 agents wait for a decision: over' },
    { action: 'unhold' },
  ]);
});

test('an agent that is asked about again counts once', () => {
  const group = questionsOf(3);
  group.passTo(62_000);
  for (const n of [0, 1]) group.receive(answered(n), 62_100);
  group.receive(asks(0, START + 62_200), 62_200);
  for (const n of [0, 2]) group.receive(answered(n), 62_300);
  expect(group.all().filter(({ payload }) => 'action' in payload && payload.action === 'resolve')).toMatchObject([
    { payload: { title: '3 agents wait for a decision: over' } },
  ]);
});

test('questions name the first ten agents, and how many more wait', () => {
  const textAt = (count: number) => questionsOf(count).passTo(62_000)[0]?.text;
  expect(textAt(10)).toMatch(/^The first of them: w0, .*w9\. While/);
  expect(textAt(11)).toMatch(/^The first of them: w0, .*w9 and 1 more\. While/);
  const group = questionsOf(12);
  for (let n = 0; n < 10; n += 1) group.receive(answered(n), 60_100);
  expect(group.passTo(62_000)[0]).toMatchObject({
    ...{ title: expect.stringMatching(/^2 agents wait/), text: expect.stringMatching(/^While/) },
  });
});

test('agents that all ask are one alert, that of their questions; once answered, those that are still stuck are one', () => {
  const group = massOf(3);
  for (const n of [0, 1, 2]) group.receive(asks(n), 100);
  const titles = group.passTo(10_000).map(({ title }) => title);
  expect(titles).toEqual([expect.stringContaining('3 agents wait for a decision')]);
  const outputs = [0, 1, 2].flatMap((n) => group.receive(answered(n), 10_000));
  expect(outputs.filter(({ action }) => action === 'raise').map(({ title }) => title)).toEqual([
    expect.stringMatching(/^2 agents wait/),
    '3 agents are STUCK or FAILING',
  ]);
});

test('the alert of a group follows the count of its alerts, once in five seconds', () => {
  const group = massOf(3);
  group.passTo(5000);
  for (let n = 3; n < 500; n += 1) expect(group.receive(raised(n, 5500), 5500)).toEqual([]);
  expect(group.passTo(5000 + COUNT_MS - 1)).toEqual([]);
  expect(group.passTo(5000 + COUNT_MS)).toMatchObject([{ action: 'raise', title: '500 agents are STUCK or FAILING' }]);
  expect(group.passTo(20_000)).toEqual([]);
});

test('a group whose alert a person has ended raises it no more', () => {
  const group = massOf(3);
  const [alert] = group.passTo(5000);
  group.receive(
    example(Topic.alert, 'ALERT_RESOLVED', { alertId: 'g', route: 'alert_group', alertKey: alert?.alertKey ?? '' }),
    5500,
  );
  expect([...group.receive(raised(3, 6000), 6000), ...group.passTo(20_000)]).toEqual([]);
});

/** An alert of an agent, and what holds it back. */
const stuck = (fields: Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>> = {}) =>
  example(Topic.notify, 'NOTIFY', {
    ...{ ...PLAIN, route: 'stuck_agent', action: 'raise', severity: 'warning', options: [], deadlineAt: null },
    ...{ caseId: null, ticket: null, blocked: null, channels: ['default'], agentId: 'w1', labels: {} },
    ...fields,
  });
const titled = (count: number, more: object = {}) =>
  stuck({
    ...{ route: 'alert_group', agentId: null, labels: { route: 'stuck_agent', agents: 'w0 w1' }, groupWaitMs: 0 },
    ...{ title: `${count} agents are STUCK or FAILING`, ...more },
  });
const channels = () =>
  alerting({ groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }, START);

test('another count goes to the channels that have the alert without a noise, also after an acknowledgement', () => {
  const driver = channels();
  driver.receive(titled(10));
  const quiet = { deliverAt: START, isQuiet: true, firstFor: [], sinks: ['console'] };
  expect(driver.receive(titled(40))).toMatchObject([
    { type: 'ALERT_UPDATED', payload: { title: '40 agents are STUCK or FAILING', ...quiet } },
  ]);
  driver.receive(example(Topic.controlAlerts, 'ACKNOWLEDGE_ALERT', { by: 'ada' }));
  expect(driver.receive(titled(41))).toMatchObject([{ type: 'ALERT_UPDATED', payload: quiet }]);
});

test('a count that makes the group critical disturbs people, and that of any other alert is not delivered', () => {
  const driver = channels();
  driver.receive(titled(10));
  expect(driver.receive(titled(40, { severity: 'critical' }))).toMatchObject([
    { payload: { isQuiet: false, deliverAt: START } },
  ]);
  const other = channels();
  other.receive(titled(10, { route: 'circuit_breaker_open' }));
  expect(other.receive(titled(40, { route: 'circuit_breaker_open' }))).toMatchObject([
    { payload: { deliverAt: null } },
  ]);
});

test('a silenced group is sent no count', () => {
  const driver = channels();
  driver.receive(titled(10));
  const matchers = [{ field: 'route', value: 'alert_group' }];
  driver.receive(example(Topic.controlAlerts, 'SILENCE_ALERTS', { silenceId: '', matchers, until: START + 60_000 }));
  expect(driver.receive(titled(40))).toMatchObject([{ payload: { deliverAt: null } }]);
});

test('the end of a group has the number of all that were in it', () => {
  const driver = channels();
  driver.receive(titled(10));
  const end = titled(0, { action: 'resolve', title: '40 agents are STUCK or FAILING: over' });
  expect(driver.receive(end)).toMatchObject([
    { type: 'ALERT_RESOLVED', payload: { title: '40 agents are STUCK or FAILING: over', deliverAt: START } },
  ]);
});

const held = (action: 'hold' | 'unhold', heldFrom: number, heldTo: number | null = null, scope = 'stuck_agent') =>
  stuck({ route: 'gates', action, scope, heldFrom, heldTo, agentId: null });
const sentAfter = (gate: ReturnType<typeof held>, alert: ReturnType<typeof stuck>): number => {
  const driver = alerting({ groupWaitMs: 1000, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }, START);
  driver.receive(gate);
  driver.receive(alert);
  return driver.passTo(START + 60_000).filter(({ payload }) => 'deliverAt' in payload && payload.deliverAt !== null)
    .length;
};

test.each([
  ['of its time', held('hold', START), stuck(), 0],
  ['of its last moment', held('hold', START - 1000, START), stuck(), 0],
  ['from before it', held('hold', START + 1), stuck(), 1],
  ['from after it', held('hold', START - 1000, START - 1), stuck(), 1],
  ['of another route', held('hold', START), stuck({ route: 'clock_drift' }), 1],
  ['that asks a question', held('hold', START), stuck(CASE), 1],
  ['of the questions', held('hold', START, null, 'stuck_agent:questions'), stuck(CASE), 0],
  ['asked before them', held('hold', START + 1, null, 'stuck_agent:questions'), stuck(CASE), 1],
  ['that asks nothing, of questions', held('hold', START, null, 'stuck_agent:questions'), stuck(), 1],
] as const)('a group holds back the alerts that it replaces: one %s', (_, gate, alert, count) => {
  expect(sentAfter(gate, alert)).toBe(count);
});

test('an alert that is still open when its group is over is sent', () => {
  const driver = alerting({ groupWaitMs: 1000, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }, START);
  driver.receive(held('hold', START));
  driver.receive(stuck());
  expect(driver.passTo(START + 60_000)).toEqual([]);
  driver.receive(held('unhold', START));
  expect(driver.passTo(START + 62_000)).toHaveLength(1);
});

test('the brake of one of its first agents holds back the alert of a group, and that of questions never', () => {
  const group = stuck({ route: 'alert_group', agentId: null, labels: { route: 'stuck_agent', agents: 'w0 w1' } });
  expect(sentAfter(stuck({ action: 'inhibit', scope: 'fleet', agentIds: ['w1'], agentId: null }), group)).toBe(0);
  expect(sentAfter(stuck({ action: 'inhibit', scope: 'fleet', agentIds: ['w2'], agentId: null }), group)).toBe(1);
  const labels = { route: 'stuck_agent', agents: 'w0 w1', asks: 'decision' };
  const questions = stuck({ route: 'alert_group', agentId: null, labels });
  expect(sentAfter(stuck({ action: 'inhibit', scope: 'fleet', agentIds: ['w1'], agentId: null }), questions)).toBe(1);
});
