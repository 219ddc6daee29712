import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { NEVER } from '@vigil/stream';
import { given, laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alerting, PLAIN } from './alerts.fixture.ts';
import { alerts } from './alerts.ts';
import { contentOf } from './content.ts';
import { type Open, sendFrom, sinksToSend } from './due.ts';
import { NO_GATES } from './gates.ts';
import type { Input } from './messages.ts';
import { SINK_FAILING } from './routing.ts';

type NoticeFields = Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>>;

const HOUR = 3_600_000;
const start = EXAMPLE_TIME;
const routing = { defaults: ['console', 'webhook'], configured: ['console', 'webhook', 'ops', 'files'] };
const settings = { groupWaitMs: 0, endWaitMs: 0, repeatMs: 4 * HOUR, routing };
const quiet = { ...PLAIN, options: [], deadlineAt: null, ticket: null, blocked: null, channels: ['default'] };
const notified = (fields: NoticeFields = {}): Input =>
  example(Topic.notify, 'NOTIFY', { route: 'stuck_agent', severity: 'warning', action: 'raise', ...quiet, ...fields });
const over = notified({ action: 'resolve', severity: 'info', text: 'HEALTHY' });
const open = (groupWaitMs = 0) => alerting({ ...settings, groupWaitMs }, start);
/** the sinks of each event that notifies any */
const sinksOf = (outputs: readonly { readonly payload: object }[]) =>
  outputs.flatMap(({ payload }) =>
    'deliverAt' in payload && payload.deliverAt !== null
      ? [(payload as PayloadOf<typeof Topic.alert, 'ALERT_UPDATED'>).sinks]
      : [],
  );

test('an alert goes to the channels that it names, or to the default ones', () => {
  expect(sinksOf(open().receive(notified()))).toEqual([['console', 'webhook']]);
  expect(sinksOf(open().receive(notified({ channels: ['ops'] })))).toEqual([['ops']]);
});

test('an unconfigured channel drops nothing: the default channels are notified, and the console', () => {
  expect(sinksOf(open().receive(notified({ channels: ['slack'] })))).toEqual([['console', 'webhook']]);
  const narrow = { ...settings, routing: { defaults: ['webhook'], configured: ['console', 'webhook'] } };
  expect(sinksOf(given(alerts(narrow), start).receive(notified({ channels: ['slack'] })))).toEqual([
    ['webhook', 'console'],
  ]);
});

test('the channel of a step is notified of an open alert after a second; the other channels are not notified again', () => {
  const alert = open();
  alert.receive(notified());
  expect(sinksOf(alert.receive(notified({ channels: ['ops'] })))).toEqual([]);
  expect(sinksOf(alert.passTo(start + 1000))).toEqual([['ops']]);
  expect(sinksOf(alert.receive(notified({ channels: ['ops'], text: 'more' })))).toEqual([]);
  expect(sinksOf(alert.passTo(start + 1000 + 4 * HOUR))).toEqual([['console', 'webhook', 'ops']]);
  expect(sinksOf(alert.receive(over))).toEqual([['console', 'webhook', 'ops']]);
});

test('a channel that a step adds gets one message together with the question of the same moment', () => {
  const alert = open();
  alert.receive(notified());
  expect(sinksOf(alert.receive(notified({ channels: ['ops'] })))).toEqual([]);
  const asking = notified({ channels: ['ops'], options: ['pardon'], caseId: 'case-1', urgency: 'high' });
  expect(sinksOf(alert.receive(asking))).toEqual([['console', 'webhook', 'ops']]);
  expect(sinksOf(alert.passTo(start + HOUR))).toEqual([]);
});

test('within the group wait channels gather, and all of them are notified once', () => {
  const alert = open(30_000);
  alert.receive(notified());
  expect(sinksOf(alert.receive(notified({ channels: ['ops'] })))).toEqual([]);
  expect(sinksOf(alert.passTo(start + 30_000))).toEqual([['console', 'webhook', 'ops']]);
});

test('a sink that did not receive the beginning does not receive the end', () => {
  const alert = open(30_000);
  alert.receive(notified({ caseId: null }));
  expect(sinksOf(alert.receive(over))).toEqual([]);
});

test('a sink that received the beginning receives the end in spite of a silence; no other sink does', () => {
  const alert = open();
  alert.receive(notified());
  const matchers = [{ field: 'route', value: 'stuck_agent' }];
  alert.receive(
    example(Topic.controlAlerts, 'SILENCE_ALERTS', {
      matchers,
      until: start + HOUR,
      by: 'ada',
      why: 'known',
      silenceId: 's1',
    }),
  );
  expect(sinksOf(alert.receive(over))).toEqual([['console', 'webhook']]);
  alert.receive(notified());
  expect(sinksOf(alert.receive(over))).toEqual([]);
});

test('a new question is sent at once, at any severity of the alert; the same one is not', () => {
  const alert = open();
  const asking = (deadlineAt: number | null) =>
    notified({ severity: 'critical', options: ['pardon'], deadlineAt, caseId: 'case-1', onTimeout: 'terminate' });
  expect(sinksOf(alert.receive(asking(5)))).toHaveLength(1);
  expect(sinksOf(alert.receive(asking(5)))).toHaveLength(0);
  const again = alert.receive(asking(900));
  expect(sinksOf(again)).toHaveLength(1);
  expect(again).toMatchObject([{ payload: { deadlineAt: 900, onTimeout: 'terminate' } }]);
  expect(alert.receive(asking(null))).toMatchObject([{ payload: { deadlineAt: null, deliverAt: start } }]);
});

test("a case's question stays with that case, whichever case reports later", () => {
  const alert = open();
  alert.receive(notified({ options: ['pardon'], deadlineAt: 5, caseId: 'case-1' }));
  const later = alert.receive(notified({ caseId: 'case-2', text: 'of another case' }));
  expect(later).toMatchObject([{ payload: { caseId: 'case-1', options: ['pardon'], deliverAt: null } }]);
});

test('all other sinks are notified of a failing sink, at once', () => {
  const failing = notified({ route: SINK_FAILING, labels: { sink: 'webhook' } });
  expect(sinksOf(open(30_000).receive(failing))).toEqual([['console', 'ops', 'files']]);
  const alone = { ...settings, routing: { defaults: ['console'], configured: ['console'] } };
  const console = notified({ route: SINK_FAILING, labels: { sink: 'console' } });
  expect(sinksOf(given(alerts(alone), start).receive(console))).toEqual([['console']]);
});

test('an open alert is sent to the sink that has replaced another, and only to that', () => {
  const content = contentOf(notified({ channels: ['pager'] }).payload as PayloadOf<typeof Topic.notify, 'NOTIFY'>);
  const sent = { severity: content.severity, urgency: content.urgency, to: ['console', 'old'], question: null };
  const about = {
    alertId: 'a',
    raisedAt: start,
    sendAt: start + HOUR,
    freshSince: null,
    acknowledgedBy: 'ada',
    ending: null,
  };
  const known: Open = { ...about, content, sent };
  expect(sendFrom(known, { gates: NO_GATES, routing, groupWaitMs: 0 })).toBe(1000);
  expect(sinksToSend(known, start, routing)).toEqual(['webhook']);
  const sentToAll = { ...known, sent: { ...sent, to: routing.configured } };
  expect(sendFrom(sentToAll, { gates: NO_GATES, routing, groupWaitMs: 0 })).toBe(NEVER);
});

test('alerting obeys the laws of deciders with any channels', () => {
  const channels = fc.constantFrom(['default'], ['ops'], ['slack', 'files'], []);
  const inputs = fc.oneof(
    fc
      .tuple(channels, fc.constantFrom('warning', 'critical'), fc.constantFrom([], ['pardon']), fc.nat(3))
      .map(([to, severity, options, n]) =>
        notified({ channels: to, severity: severity as 'warning', options, deadlineAt: n, caseId: `c${n}` }),
      ),
    fc.constant(over),
    fc.constant(example(Topic.controlAlerts, 'ACKNOWLEDGE_ALERT', { by: 'ada' })),
  );
  laws(alerts({ ...settings, groupWaitMs: 30_000 }), inputs, { runs: 300 });
});
