import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alerting, PLAIN } from './alerts.fixture.ts';
import { alerts } from './alerts.ts';
import type { Input } from './messages.ts';
import { consoleOnly } from './routing.ts';

type NoticeFields = Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>>;

const HOUR = 3_600_000;
const settings = { groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 4 * HOUR, routing: consoleOnly };
const start = EXAMPLE_TIME;

const quiet = {
  ...PLAIN,
  options: [],
  deadlineAt: null,
  caseId: null,
  ticket: null,
  blocked: null,
  channels: ['default'],
};
const raised = (fields: NoticeFields = {}, eventId = 'n1'): Input => {
  const about = { route: 'stuck_agent', severity: 'warning', title: 'worker-1 is STUCK', text: 'no call' } as const;
  return { ...example(Topic.notify, 'NOTIFY', { ...about, ...quiet, action: 'raise', ...fields }), eventId };
};
const resolved = (): Input => raised({ action: 'resolve', severity: 'info', title: 'over', text: 'HEALTHY' }, 'n2');
const acknowledged = example(Topic.controlAlerts, 'ACKNOWLEDGE_ALERT', { by: 'ada' });
const silenced = (until: number, value = 'stuck_agent', silenceId = 'silence-1'): Input =>
  example(Topic.controlAlerts, 'SILENCE_ALERTS', {
    matchers: [{ field: 'route', value }],
    until,
    by: 'ada',
    why: 'known',
    silenceId,
  });

const open = (groupWaitMs = settings.groupWaitMs) => alerting({ ...settings, groupWaitMs }, start);
const sent = (outputs: readonly { readonly payload: object }[]) =>
  outputs.filter(({ payload }) => 'deliverAt' in payload && payload.deliverAt !== null);

test('an alert is raised at once, and sinks are notified after the group wait, not a moment before', () => {
  const alert = open();
  expect(alert.receive(raised())).toMatchObject([
    {
      type: 'ALERT_RAISED',
      key: 'stuck_agent:OMN-1234',
      payload: { alertKey: 'stuck_agent:OMN-1234', alertId: 'n1', severity: 'warning', deliverAt: null },
    },
  ]);
  expect(alert.passTo(start + 29_999)).toEqual([]);
  expect(alert.passTo(start + 30_000)).toMatchObject([
    { type: 'ALERT_UPDATED', payload: { alertId: 'n1', deliverAt: start + 30_000 } },
  ]);
});

test('the end of an alert is titled by what is over', () => {
  const alert = open(0);
  alert.receive(raised());
  expect(alert.receive(resolved())).toMatchObject([
    { type: 'ALERT_RESOLVED', payload: { title: 'worker-1 is STUCK: over', text: 'HEALTHY' } },
  ]);
});

test('without a group wait sinks are notified with the raise', () => {
  expect(open(0).receive(raised())).toMatchObject([{ type: 'ALERT_RAISED', payload: { deliverAt: start } }]);
});

test('a question with a deadline waits for two seconds of the group wait; one without a deadline waits with it', () => {
  const question = { options: ['pardon', 'terminate'], caseId: 'c-1', deadlineAt: start + 10_000 };
  const first = open();
  expect(first.receive(raised(question))).toMatchObject([{ type: 'ALERT_RAISED', payload: { deliverAt: null } }]);
  expect(first.passTo(start + 1999)).toEqual([]);
  expect(first.passTo(start + 2000)).toMatchObject([
    { type: 'ALERT_UPDATED', payload: { deliverAt: start + 2000, options: question.options } },
  ]);
  const later = open();
  expect(later.receive(raised())).toMatchObject([{ payload: { deliverAt: null } }]);
  expect(later.receive(raised(question, 'n3'), start + 5000)).toMatchObject([
    { type: 'ALERT_UPDATED', payload: { deliverAt: start + 5000, options: question.options } },
  ]);
  const asked = { ...question, askedAt: start + 6000, caseId: 'c-2' };
  expect(later.receive(raised(asked, 'n4'), start + 6000)).toMatchObject([{ payload: { deliverAt: null } }]);
  expect(later.passTo(start + 8000)).toMatchObject([{ payload: { deliverAt: start + 8000, caseId: 'c-2' } }]);
  const unhurried = open();
  unhurried.receive(raised());
  expect(unhurried.receive(raised({ ...question, deadlineAt: null }, 'n3'))).toMatchObject([
    { payload: { deliverAt: null } },
  ]);
});

test('a repeated notice is emitted once', () => {
  const alert = open(0);
  alert.receive(raised());
  expect(alert.receive(raised({}, 'n9'))).toEqual([]);
});

test('more about the same episode updates it in place, without a message; getting worse is one', () => {
  const alert = open(0);
  alert.receive(raised());
  expect(alert.receive(raised({ text: 'still no call' }))).toMatchObject([
    { type: 'ALERT_UPDATED', payload: { alertId: 'n1', deliverAt: null } },
  ]);
  const worse = alert.receive(
    raised({ severity: 'critical', title: 'decide', options: ['pardon'], deadlineAt: start + 5 }),
  );
  expect(worse).toMatchObject([
    { type: 'ALERT_UPDATED', payload: { severity: 'critical', options: ['pardon'], deliverAt: start } },
  ]);
  expect(alert.receive(raised())).toMatchObject([
    { payload: { severity: 'critical', options: ['pardon'], deadlineAt: start + 5, deliverAt: null } },
  ]);
});

test('what gets worse within the group wait waits with it', () => {
  const alert = open();
  alert.receive(raised());
  expect(sent(alert.receive(raised({ severity: 'critical' })))).toEqual([]);
  expect(sent(alert.passTo(start + 30_000))).toMatchObject([{ payload: { severity: 'critical' } }]);
});

test('the end is sent under the same key and id, to the sinks that received the beginning', () => {
  const alert = open(0);
  alert.receive(raised());
  expect(alert.receive(resolved())).toMatchObject([
    {
      type: 'ALERT_RESOLVED',
      key: 'stuck_agent:OMN-1234',
      payload: { alertId: 'n1', raisedAt: start, severity: 'warning', text: 'HEALTHY', deliverAt: start },
    },
  ]);
  const short = open();
  short.receive(raised());
  expect(short.receive(resolved())).toMatchObject([{ type: 'ALERT_RESOLVED', payload: { deliverAt: null } }]);
  expect(short.passTo(start + HOUR)).toEqual([]);
});

test('the end of what never began is nothing', () => {
  expect(open().receive(resolved())).toEqual([]);
});

test('what rises again after its end is a new alert', () => {
  const alert = open(0);
  alert.receive(raised());
  alert.receive(resolved());
  expect(alert.receive(raised({}, 'n3'))).toMatchObject([
    { type: 'ALERT_RAISED', payload: { alertId: 'n3', deliverAt: start } },
  ]);
});

test('sinks are notified every four hours until the alert is acknowledged', () => {
  const alert = open(0);
  alert.receive(raised());
  expect(alert.passTo(start + 4 * HOUR - 1)).toEqual([]);
  for (const due of [4, 8]) {
    const urgency = due === 4 ? 'high' : 'highest';
    const payload = { deliverAt: start + due * HOUR, urgency, severity: 'warning' };
    expect(sent(alert.passTo(start + due * HOUR))).toMatchObject([{ payload }]);
  }
  expect(alert.receive(acknowledged)).toMatchObject([
    {
      type: 'ALERT_ACKNOWLEDGED',
      payload: { alertId: 'n1', by: 'ada', sinks: ['console'], deliverAt: start + 8 * HOUR },
    },
  ]);
  expect(alert.receive(acknowledged)).toMatchObject([{ type: 'ALERT_ACKNOWLEDGED', payload: { deliverAt: null } }]);
  expect(alert.passTo(start + 24 * HOUR)).toEqual([]);
  expect(sent(alert.receive(raised({ severity: 'critical' })))).toHaveLength(1);
});

test.each([
  ['a worse severity', { severity: 'critical' }],
  ['another ticket', { itemId: 'ticket/t-2' }],
] as const)(
  'an acknowledgement does not cover %s that comes after it: it is repeated until it is acknowledged',
  (_, fields) => {
    const alert = open(0);
    alert.receive(raised({ itemId: 'ticket/t-1' }));
    alert.receive(acknowledged);
    alert.receive(raised({ itemId: 'ticket/t-1', ...fields }));
    expect(sent(alert.passTo(start + 9 * HOUR)).length).toBeGreaterThan(0);
    expect(alert.receive(acknowledged)).toMatchObject([{ type: 'ALERT_ACKNOWLEDGED' }]);
    expect(sent(alert.passTo(start + 30 * HOUR))).toEqual([]);
  },
);

test('the same ticket in other words stays acknowledged', () => {
  const alert = open(0);
  alert.receive(raised({ itemId: 'ticket/t-1' }));
  alert.receive(acknowledged);
  alert.receive(raised({ itemId: 'ticket/t-1', text: 'still no call' }));
  expect(sent(alert.receive(acknowledged))).toEqual([]);
  expect(sent(alert.passTo(start + 30 * HOUR))).toEqual([]);
});

test('after days without time sinks are notified once, not once for each repeat that was missed', () => {
  const alert = open(0);
  alert.receive(raised());
  alert.unwatched(48 * HOUR);
  expect(sent(alert.passTo(start + 48 * HOUR + 1000))).toHaveLength(1);
});

test('a silenced alert exists, and is sent when the silence ends if it is still open', () => {
  const alert = open(0);
  expect(alert.receive(silenced(start + HOUR))).toMatchObject([
    { type: 'SILENCE_CHANGED', payload: { until: start + HOUR } },
  ]);
  expect(alert.receive(raised())).toMatchObject([{ type: 'ALERT_RAISED', payload: { deliverAt: null } }]);
  expect(sent(alert.receive(raised({ severity: 'critical' })))).toEqual([]);
  expect(alert.passTo(start + HOUR - 1)).toEqual([]);
  expect(sent(alert.passTo(start + HOUR))).toHaveLength(1);
});

test('a silence that matches something else silences nothing; ending one early notifies at once', () => {
  const other = open(0);
  other.receive(silenced(start + HOUR, 'recovery_failed'));
  expect(sent(other.receive(raised()))).toHaveLength(1);
  const alert = open(0);
  alert.receive(silenced(start + HOUR));
  alert.receive(raised());
  expect(alert.receive(silenced(start))).toMatchObject([{ type: 'SILENCE_CHANGED', key: 'gates' }]);
  expect(alert.passTo(start + 1000)).toMatchObject([{ type: 'ALERT_UPDATED', payload: { deliverAt: start + 1000 } }]);
});

test('a silence that a person ends is reported as ended, and a new one is not, although it may be short', () => {
  const alert = open(0);
  const ends = (until: number, silenceId: string) =>
    alert.receive(silenced(until, 'stuck_agent', silenceId)).map(({ payload }) => payload);
  expect(ends(start, '')).toMatchObject([{ silenceEnds: false }]);
  expect(ends(start + HOUR, '')).toMatchObject([{ silenceEnds: false }]);
  expect(ends(start, 'silence-1')).toMatchObject([{ silenceId: 'silence-1', silenceEnds: true }]);
});

test('100 flaps: one alert open at a time, a message for each beginning and each end', () => {
  const alert = open(0);
  let opened = 0;
  for (let flap = 0; flap < 100; flap += 1) {
    const outputs = [
      ...alert.receive(raised({}, `n${flap}`)),
      ...alert.receive(raised({ text: `again ${flap}` })),
      ...alert.receive(resolved()),
      ...alert.passTo(start + flap * 1000),
    ];
    for (const { type } of outputs) opened += type === 'ALERT_RAISED' ? 1 : type === 'ALERT_RESOLVED' ? -1 : 0;
    expect(opened).toBe(0);
    expect(sent(outputs).map(({ payload }) => (payload as { alertId: string }).alertId)).toEqual([
      `n${flap}`,
      `n${flap}`,
    ]);
  }
});

test('100 flaps shorter than the group wait send no message', () => {
  const alert = open();
  for (let flap = 0; flap < 100; flap += 1) {
    alert.receive(raised({}, `n${flap}`), start + flap * 10_000);
    alert.receive(resolved(), start + flap * 10_000 + 5000);
  }
  expect(sent(alert.all())).toEqual([]);
  expect(alert.all()).toHaveLength(200);
});

test.each([0, 30_000])('alerting obeys the laws of deciders, with a group wait of %d ms', (groupWaitMs) => {
  const severity = fc.constantFrom('info', 'warning', 'critical');
  const inputs = fc.oneof(
    fc
      .tuple(severity, fc.constantFrom('a', 'b'), fc.uuid())
      .map(([one, text, id]) => raised({ severity: one, text }, id)),
    fc.constant(resolved()),
    fc.constant(acknowledged),
    fc.integer({ min: -1000, max: 3 * HOUR }).map((ms) => silenced(start + ms)),
  );
  laws(alerts({ ...settings, groupWaitMs }), inputs, { runs: 500 });
});

const asking = (caseId = 'case-1', deadlineAt: number | null = start + HOUR) =>
  raised({ caseId, title: 'worker-1 waits for a decision', options: ['pardon'], deadlineAt }, 'n3');
const settled = (caseId = 'case-1') =>
  raised({ action: 'settle', caseId, title: 'worker-1: its case is closed as pardoned', text: 'ada: known' }, 'n4');

test('a question that is answered is taken from the alert, which stays open until the agent is well', () => {
  const alert = open(0);
  alert.receive(raised());
  alert.receive(asking());
  expect(alert.receive(settled())).toMatchObject([
    {
      type: 'ALERT_UPDATED',
      payload: {
        ...{ title: 'worker-1: its case is closed as pardoned', options: [], deadlineAt: null },
        ...{ deliverAt: start, isQuiet: true, sinks: ['console'] },
      },
    },
  ]);
  expect(alert.receive(settled())).toEqual([]);
  expect(sent(alert.passTo(start + 5 * HOUR))).toMatchObject([{ payload: { options: [] } }]);
});

test('a question that comes again after more time is delivered, also after an acknowledgement', () => {
  const alert = open(0);
  alert.receive(raised());
  alert.receive(asking());
  alert.receive(acknowledged);
  alert.receive(settled());
  expect(sent(alert.receive(asking()))).toMatchObject([{ payload: { options: ['pardon'], isQuiet: false } }]);
});

test('the answer to a question delays no repetition of the alert', () => {
  const alert = open(0);
  alert.receive(raised());
  alert.receive(asking());
  alert.receive(settled(), start + HOUR);
  expect(sent(alert.passTo(start + 4 * HOUR - 1))).toEqual([]);
  expect(sent(alert.passTo(start + 4 * HOUR))).toMatchObject([{ payload: { isQuiet: false } }]);
});

const pardoned = (caseId = 'case-1') =>
  raised({ action: 'settle', isPardon: true, caseId, title: 'worker-1: pardon, decided by ada', text: 'known' }, 'n4');

test('an alert whose agent is pardoned is not repeated, and stays open until the agent is well', () => {
  const alert = open(0);
  alert.receive(raised());
  alert.receive(asking());
  expect(alert.receive(pardoned())).toMatchObject([{ payload: { options: [], isQuiet: true, isPardoned: true } }]);
  expect(alert.receive(settled())).toEqual([]);
  expect(alert.passTo(start + 100 * HOUR)).toEqual([]);
  expect(alert.receive(resolved())).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('a pardoned alert is sent at once of another question, and repeated after a worse state of its agent', () => {
  const asked = open(0);
  asked.receive(asking());
  asked.receive(pardoned());
  expect(sent(asked.receive(asking('case-2', start + 2 * HOUR)))).toMatchObject([
    { payload: { caseId: 'case-2', isPardoned: false } },
  ]);
  expect(sent(asked.passTo(start + 4 * HOUR))).toHaveLength(1);
  const worse = open(0);
  worse.receive(raised({ caseId: 'case-1', severity: 'critical', options: ['pardon'] }, 'n3'));
  worse.receive(pardoned());
  worse.receive(raised({ severity: 'critical', title: 'worker-1 is FAILING' }, 'n5'));
  expect(sent(worse.passTo(start + 4 * HOUR))).toMatchObject([{ payload: { title: 'worker-1 is FAILING' } }]);
});

test('a pardon by hand, of a case that asks nothing, reaches the channels as well', () => {
  const alert = open(0);
  alert.receive(raised({ caseId: 'case-1' }));
  expect(alert.receive(pardoned())).toMatchObject([
    { payload: { title: 'worker-1: pardon, decided by ada', isQuiet: true, isPardoned: true } },
  ]);
  expect(alert.receive(settled())).toEqual([]);
  expect(alert.passTo(start + 100 * HOUR)).toEqual([]);
});

test('the pardon of an alert that is about to be over is followed by its end', () => {
  const alert = alerting({ ...settings, groupWaitMs: 0, endWaitMs: 30_000 }, start);
  alert.receive(asking());
  alert.receive(resolved());
  expect(alert.receive(pardoned())).toMatchObject([{ payload: { isPardoned: true } }]);
  expect(sent(alert.passTo(start + HOUR))).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('the pardon of another case does not end the repetition of an alert', () => {
  const alert = open(0);
  alert.receive(asking('case-2'));
  expect(alert.receive(pardoned('case-1'))).toEqual([]);
  expect(sent(alert.passTo(start + 5 * HOUR))).toHaveLength(1);
});

test('an alert that sinks have not received when its agent is pardoned is sent once', () => {
  const alert = open();
  alert.receive(asking('case-1', null));
  alert.receive(pardoned());
  expect(sent(alert.passTo(start + 100 * HOUR))).toMatchObject([{ payload: { isQuiet: false, isPardoned: true } }]);
});

test('a question that sinks have not received is not taken from them', () => {
  const alert = open();
  alert.receive(asking('case-1', null));
  expect(alert.receive(settled())).toMatchObject([{ payload: { options: [], deliverAt: null, isQuiet: false } }]);
});

test('the question of another case stays, and an alert without a question is unchanged', () => {
  const alert = open(0);
  expect(alert.receive(settled())).toEqual([]);
  alert.receive(raised());
  expect(alert.receive(settled())).toEqual([]);
  alert.receive(asking('case-2'));
  expect(alert.receive(settled('case-1'))).toEqual([]);
});

test('agents of one task share its alert: an end for one of them is not an end for the others', () => {
  const of = (agentId: string, fields: NoticeFields = {}) =>
    raised({ agentId, ...fields }, `${agentId}${fields.action ?? ''}`);
  const alert = open(0);
  alert.receive(of('w1'));
  expect(alert.receive(of('w2', { action: 'resolve' }))).toEqual([]);
  alert.receive(of('w2', { text: 'also' }));
  expect(alert.receive(of('w2', { action: 'resolve' }))).toEqual([]);
  expect(alert.receive(of('w1', { action: 'resolve' }))).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
  alert.receive(of('w1'));
  const ofTask = raised({ agentId: null, action: 'resolve' }, 'n8');
  expect(alert.receive(ofTask)).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});
