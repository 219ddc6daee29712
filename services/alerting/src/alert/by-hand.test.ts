import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alerting, PLAIN } from './alerts.fixture.ts';
import { alerts } from './alerts.ts';
import type { Input } from './messages.ts';

type NoticeFields = Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>>;

const HOUR = 3_600_000;
const start = EXAMPLE_TIME;
const settings = {
  groupWaitMs: 30_000,
  endWaitMs: 0,
  repeatMs: 4 * HOUR,
  routing: { defaults: ['console'], configured: ['console', 'ops'] },
};

const notice = (fields: NoticeFields, at = start): Input => ({
  ...example(Topic.notify, 'NOTIFY', {
    ...{ ...PLAIN, route: 'stuck_agent', agentId: 'w1', taskId: 'T-1', labels: {}, caseId: null, options: [] },
    ...{ deadlineAt: null, ticket: null, blocked: null, channels: ['default'], severity: 'warning', ...fields },
  }),
  occurredAt: at,
});
const raised = (fields: NoticeFields = {}, at = start) => notice({ action: 'raise', ...fields }, at);
const over = (at: number) => notice({ action: 'resolve', text: 'HEALTHY' }, at);
const resolvedByHand = example(Topic.controlAlerts, 'RESOLVE_ALERT', { by: 'ada', why: 'a test run' });

const open = (more = {}) => alerting({ ...settings, ...more }, start);
const sent = <Event extends { readonly payload: object }>(outputs: readonly Event[]): readonly Event[] =>
  outputs.filter(({ payload }) => 'deliverAt' in payload && payload.deliverAt !== null);
const typesOf = (outputs: readonly { readonly type: string }[]) => outputs.map(({ type }) => type);

test('a person ends an alert at once, and a later report of the same condition raises a new one', () => {
  const alert = open();
  alert.receive(raised());
  alert.passTo(start + 30_000);
  expect(alert.receive(resolvedByHand)).toMatchObject([
    { type: 'ALERT_RESOLVED', payload: { text: 'a test run', deliverAt: start + 30_000, sinks: ['console'] } },
  ]);
  expect(alert.receive(resolvedByHand)).toEqual([]);
  expect(alert.receive(over(start + 31_000))).toEqual([]);
  expect(typesOf(alert.receive(raised({}, start + 40_000)))).toEqual(['ALERT_RAISED']);
});

test('an alert of several agents of a task is over for all of them', () => {
  const alert = open({ groupWaitMs: 0 });
  alert.receive(raised({ agentId: 'w1' }));
  alert.receive(raised({ agentId: 'w2', text: 'also' }));
  expect(typesOf(alert.receive(resolvedByHand))).toEqual(['ALERT_RESOLVED']);
  alert.receive(raised({ agentId: 'w2', text: 'again' }, start + 1000));
  expect(typesOf(alert.receive(notice({ action: 'resolve', agentId: 'w2' }, start + 2000)))).toEqual([
    'ALERT_RESOLVED',
  ]);
});

test('a test of a channel is one message and its end, to that channel alone', () => {
  const tested = example(Topic.controlAlerts, 'TEST_CHANNEL', { channel: 'ops', by: 'ada', why: 'first try' });
  const alert = open();
  expect(alert.receive(tested)).toMatchObject([
    { type: 'ALERT_RAISED', payload: { sinks: ['ops'], severity: 'info', text: 'ada: first try', deliverAt: start } },
    { type: 'ALERT_RESOLVED', payload: { sinks: ['ops'], deliverAt: start } },
  ]);
  expect(alert.passTo(start + HOUR)).toEqual([]);
});

test('a test of an unknown channel goes to no sink, and names the channels', () => {
  const alert = open();
  const text = 'channel "nosuch" does not exist; channels: console, ops';
  expect(alert.receive(example(Topic.controlAlerts, 'TEST_CHANNEL', { channel: 'nosuch' }))).toMatchObject([
    { type: 'ALERT_RAISED', payload: { route: 'channel_test', sinks: [], text, deliverAt: null } },
    { type: 'ALERT_RESOLVED', payload: { sinks: [], deliverAt: null } },
  ]);
  expect(alert.passTo(start + HOUR)).toEqual([]);
});

test('with a group wait of 0, 100 flaps are one incident, too: a beginning at once, and one end after the wait', () => {
  const alert = open({ groupWaitMs: 0, endWaitMs: 30_000 });
  expect(typesOf(sent(alert.receive(raised())))).toEqual(['ALERT_RAISED']);
  for (let flap = 0; flap < 100; flap += 1) {
    const at = start + 1000 + flap * 20_000;
    expect(sent(alert.receive(over(at), at))).toEqual([]);
    expect(sent(alert.receive(raised({ text: `flap ${flap}` }, at + 10_000), at + 10_000))).toEqual([]);
  }
  const end = start + 1000 + 100 * 20_000;
  expect(sent(alert.receive(over(end), end))).toEqual([]);
  expect(sent(alert.passTo(end + 29_999))).toEqual([]);
  expect(typesOf(sent(alert.passTo(end + 30_000)))).toEqual(['ALERT_RESOLVED']);
});

test('a flapping agent is one incident: an end is sent after the group wait, if the alert does not rise again', () => {
  const alert = open();
  alert.receive(raised());
  expect(typesOf(sent(alert.passTo(start + 30_000)))).toEqual(['ALERT_UPDATED']);
  for (let flap = 0; flap < 100; flap += 1) {
    const at = start + 40_000 + flap * 20_000;
    expect(sent(alert.receive(over(at), at))).toEqual([]);
    expect(sent(alert.receive(raised({ text: `flap ${flap}` }, at + 10_000), at + 10_000))).toEqual([]);
  }
  const at = start + 40_000 + 100 * 20_000;
  alert.receive(over(at), at);
  expect(alert.passTo(at + 29_999)).toEqual([]);
  expect(typesOf(sent(alert.passTo(at + 30_000)))).toEqual(['ALERT_RESOLVED']);
  expect(alert.all().filter(({ type }) => type === 'ALERT_RAISED')).toHaveLength(1);
});

test('an agent that is STUCK after it was FAILING sends no message of its own', () => {
  const alert = open({ groupWaitMs: 0 });
  alert.receive(raised({ title: 'w1 is FAILING', urgency: 'high' }));
  expect(sent(alert.receive(raised({ title: 'w1 is STUCK' })))).toEqual([]);
  expect(alert.alert().open?.content.urgency).toBe('high');
});

test('a policy sets the group wait and the repeat of its route', () => {
  const alert = open();
  alert.receive(raised({ groupWaitMs: 5000, repeatMs: HOUR }));
  expect(sent(alert.passTo(start + 4999))).toEqual([]);
  expect(sent(alert.passTo(start + 5000))).toHaveLength(1);
  expect(sent(alert.passTo(start + 5000 + HOUR - 1))).toEqual([]);
  expect(sent(alert.passTo(start + 5000 + HOUR))).toMatchObject([{ payload: { urgency: 'high' } }]);
});

test('what is awaited is raised at its time, not a moment before, and not if its end arrives sooner', () => {
  const waiting = raised({ route: 'warrant_waiting', afterMs: 300_000 });
  const alert = open();
  expect(alert.receive(waiting)).toEqual([]);
  expect(alert.passTo(start + 299_999)).toEqual([]);
  expect(typesOf(alert.passTo(start + 300_000))).toEqual(['ALERT_RAISED']);
  const answered = open();
  answered.receive(waiting);
  answered.receive(over(start + 1000), start + 1000);
  expect(answered.passTo(start + HOUR)).toEqual([]);
  const late = open();
  late.receive(over(start + 1000), start + 20_000);
  late.receive(waiting);
  expect(late.passTo(start + HOUR)).toEqual([]);
});

test('the first of several awaited reports counts, and an open alert is updated in place', () => {
  const waiting = (at: number) => raised({ route: 'warrant_waiting', afterMs: 300_000 }, at);
  const alert = open({ groupWaitMs: 0 });
  alert.receive(waiting(start));
  alert.receive(waiting(start + 60_000), start + 60_000);
  expect(typesOf(alert.passTo(start + 300_000))).toEqual(['ALERT_RAISED']);
  const again = raised({ route: 'warrant_waiting', afterMs: 300_000, text: 'for longer' }, start + 300_500);
  expect(typesOf(alert.receive(again, start + 300_500))).toEqual(['ALERT_UPDATED']);
  expect(typesOf(alert.receive(over(start + 301_000), start + 301_000))).toEqual(['ALERT_RESOLVED']);
});

test('with commands of people and awaited reports alerting obeys the laws of deciders', () => {
  const inputs = fc.oneof(
    fc.integer({ min: -60_000, max: HOUR }).map((ms) => raised({}, start + ms)),
    fc.integer({ min: -60_000, max: HOUR }).map((ms) => raised({ afterMs: 300_000 }, start + ms)),
    fc.integer({ min: -60_000, max: HOUR }).map((ms) => over(start + ms)),
    fc.constant(resolvedByHand),
    fc.constant(example(Topic.controlAlerts, 'TEST_CHANNEL', { channel: 'ops' })),
  );
  laws(alerts(settings), inputs, { runs: 400 });
});
