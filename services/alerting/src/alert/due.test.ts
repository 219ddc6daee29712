import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { NEVER } from '@vigil/stream';
import { given, laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alerts } from './alert.ts';
import type { Input } from './alert-state.ts';
import { type Open, sendFrom, sinksToSend } from './due.ts';
import { SINK_FAILING } from './routing.ts';

type Told = Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>>;

const hour = 3_600_000;
const start = EXAMPLE_TIME;
const routing = { defaults: ['console', 'webhook'], configured: ['console', 'webhook', 'ops', 'files'] };
const settings = { groupWaitMs: 0, repeatMs: 4 * hour, routing };
const quiet = { options: [], deadlineAt: null, ticket: null, blocked: null, channels: ['default'] };
const notified = (told: Told = {}): Input =>
  example(Topic.notify, 'NOTIFY', { route: 'stuck_agent', severity: 'warning', action: 'raise', ...quiet, ...told });
const over = notified({ action: 'resolve', severity: 'info', text: 'HEALTHY' });
const open = (groupWaitMs = 0) => given(alerts({ ...settings, groupWaitMs }), start);
/** who is told by each event that tells anybody */
const heard = (said: readonly { readonly payload: object }[]) =>
  said.flatMap(({ payload }) =>
    'deliverAt' in payload && payload.deliverAt !== null
      ? [(payload as PayloadOf<typeof Topic.alert, 'ALERT_UPDATED'>).sinks]
      : [],
  );

test('an alert goes to the channels that it asks for, or to the default ones', () => {
  expect(heard(open().receive(notified()))).toEqual([['console', 'webhook']]);
  expect(heard(open().receive(notified({ channels: ['ops'] })))).toEqual([['ops']]);
});

test('a channel that nobody has configured drops nothing: the default ones are told, and the console', () => {
  expect(heard(open().receive(notified({ channels: ['slack'] })))).toEqual([['console', 'webhook']]);
  const narrow = { ...settings, routing: { defaults: ['webhook'], configured: ['console', 'webhook'] } };
  expect(heard(given(alerts(narrow), start).receive(notified({ channels: ['slack'] })))).toEqual([
    ['webhook', 'console'],
  ]);
});

test('a step’s channel hears at once of an alert that others know; they are not sent again', () => {
  const alert = open();
  alert.receive(notified());
  expect(heard(alert.receive(notified({ channels: ['ops'] })))).toEqual([['ops']]);
  expect(heard(alert.receive(notified({ channels: ['ops'], text: 'more' })))).toEqual([]);
  expect(heard(alert.passTo(start + 4 * hour))).toEqual([['console', 'webhook', 'ops']]);
  expect(heard(alert.receive(over))).toEqual([['console', 'webhook', 'ops']]);
});

test('within the group wait channels gather, and all of them are told once', () => {
  const alert = open(30_000);
  alert.receive(notified());
  expect(heard(alert.receive(notified({ channels: ['ops'] })))).toEqual([]);
  expect(heard(alert.passTo(start + 30_000))).toEqual([['console', 'webhook', 'ops']]);
});

test('who was not notified of the beginning is not notified of the end', () => {
  const alert = open(30_000);
  alert.receive(notified({ caseId: null }));
  expect(heard(alert.receive(over))).toEqual([]);
});

test('who was notified of the beginning is notified of the end in spite of a silence; who was not is not', () => {
  const alert = open();
  alert.receive(notified());
  const matchers = [{ field: 'route', value: 'stuck_agent' }];
  alert.receive(
    example(Topic.controlAlerts, 'SILENCE_ALERTS', { matchers, until: start + hour, by: 'ada', why: 'known' }),
  );
  expect(heard(alert.receive(over))).toEqual([['console', 'webhook']]);
  alert.receive(notified());
  expect(heard(alert.receive(over))).toEqual([]);
});

test('a new question is told at once, however severe the alert is already; the same one is not', () => {
  const alert = open();
  const asked = (deadlineAt: number | null) =>
    notified({ severity: 'critical', options: ['pardon'], deadlineAt, caseId: 'case-1', onTimeout: 'terminate' });
  expect(heard(alert.receive(asked(5)))).toHaveLength(1);
  expect(heard(alert.receive(asked(5)))).toHaveLength(0);
  const again = alert.receive(asked(900));
  expect(heard(again)).toHaveLength(1);
  expect(again).toMatchObject([{ payload: { deadlineAt: 900, onTimeout: 'terminate' } }]);
  expect(alert.receive(asked(null))).toMatchObject([{ payload: { deadlineAt: null, deliverAt: start } }]);
});

test('what a case asks stays with that case, whichever is told of later', () => {
  const alert = open();
  alert.receive(notified({ options: ['pardon'], deadlineAt: 5, caseId: 'case-1' }));
  const later = alert.receive(notified({ caseId: 'case-2', text: 'of another case' }));
  expect(later).toMatchObject([{ payload: { caseId: 'case-1', options: ['pardon'], deliverAt: null } }]);
});

test('of a sink that fails all the others hear, at once', () => {
  const failing = notified({ route: SINK_FAILING, labels: { sink: 'webhook' } });
  expect(heard(open(30_000).receive(failing))).toEqual([['console', 'ops', 'files']]);
  const alone = { ...settings, routing: { defaults: ['console'], configured: ['console'] } };
  const console = notified({ route: SINK_FAILING, labels: { sink: 'console' } });
  expect(heard(given(alerts(alone), start).receive(console))).toEqual([['console']]);
});

test('an open alert is told to the sink that has come in the place of another, and only to that', () => {
  const {
    alertKey: _,
    action: __,
    timeAgeMs: ___,
    ticket: ____,
    ...content
  } = notified({ channels: ['pager'] }).payload as PayloadOf<typeof Topic.notify, 'NOTIFY'>;
  const told = { sentSeverity: content.severity, sentTo: ['console', 'old'], asked: null, sendAt: start + hour };
  const known: Open = { alertId: 'a', raisedAt: start, content, ...told, acknowledgedBy: 'ada' };
  expect(sendFrom({ silence: null }, known, routing)).toBe(0);
  expect(sinksToSend(known, start, routing)).toEqual(['webhook']);
  expect(sendFrom({ silence: null }, { ...known, sentTo: routing.configured }, routing)).toBe(NEVER);
});

test('alerting obeys the laws of deciders whatever the channels', () => {
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
