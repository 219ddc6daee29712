import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import type { Alert } from '../alert/alert-state.ts';
import { alerts } from '../alert/alerts.ts';
import { consoleOnly } from '../alert/routing.ts';
import { agentNotices } from '../notices/notices.fixture.ts';

const filed = (severity: 'low' | 'medium' | 'high' | 'critical', steps = 3) => {
  const event = example(Topic.agentHealth, 'WORKER_ESCALATION_TICKET');
  const { ticket, findings } = event.payload;
  const quiet = { ...findings, transient: false, progressAt: null, unrecoverable: false, loop: false };
  const payload = {
    ...event.payload,
    ticket: { ...ticket, ticket_id: 't-1', severity, steps_since_last_accept: steps, stall_minutes: null },
    findings: quiet,
  };
  return { ...event, payload };
};
const notices = (severity: Parameters<typeof filed>[0], steps?: number) => agentNotices(filed(severity, steps));
const notify = (payload: PayloadOf<typeof Topic.notify, 'NOTIFY'>, eventId = 'n1') => ({
  ...example(Topic.notify, 'NOTIFY', payload),
  key: payload.alertKey,
  eventId,
});
const operator = (more: Partial<PayloadOf<typeof Topic.controlAlerts, 'NOTIFY_OPERATOR'>> = {}) => ({
  ...example(Topic.controlAlerts, 'NOTIFY_OPERATOR', {
    ...{ ticket_id: 't-9', analysis: 'look at it', urgency: 'critical', by: 'judge', ...more },
  }),
  key: 'escalation_ticket:OMN-1234',
});
const open = () =>
  given(alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly }), EXAMPLE_TIME);

test.each([
  ['high', 'warning'],
  ['critical', 'critical'],
] as const)('a %s ticket becomes one notice, %s, with its ticket', (severity, as) => {
  const [notice, ...more] = notices(severity);
  expect(more).toEqual([]);
  expect(notice).toMatchObject({ key: 'escalation_ticket:OMN-1234', payload: { severity: as, action: 'raise' } });
  expect(notice?.payload.ticket).toMatchObject({ ticket_id: 't-1', severity });
});

test('a dismissed ticket does not reach people, and the event has the reason', () => {
  const [notice, ...more] = notices('low', 3);
  if (!notice) throw new Error('no notice');
  expect(more).toEqual([]);
  const story = open();
  expect(story.receive(notify(notice.payload))).toMatchObject([
    {
      type: 'TICKET_DISMISSED',
      key: 'escalation_ticket:OMN-1234',
      payload: {
        ...{ alertKey: 'escalation_ticket:OMN-1234', agentId: 'worker-1', taskId: 'OMN-1234' },
        ...{
          ticket_id: 't-1',
          severity: 'low',
          analysis: expect.stringMatching(/^low severity, 3 steps without an ACCEPT: /),
        },
      },
    },
  ]);
  expect((story.state() as Alert).open).toBeNull();
});

test('an alert that is open stays as it is when a further ticket is dismissed', () => {
  const [raised] = notices('high');
  const [dismissed] = notices('low', 3);
  if (!raised || !dismissed) throw new Error('no notice');
  const story = open();
  story.receive(notify(raised.payload));
  const before = (story.state() as Alert).open;
  expect(story.receive(notify(dismissed.payload))).toMatchObject([{ type: 'TICKET_DISMISSED' }]);
  expect((story.state() as Alert).open).toEqual(before);
});

test('people are asked to review and notified, and the alert is raised under the key that the request names', () => {
  const [notice] = notices('high');
  if (!notice) throw new Error('no notice');
  const outputs = open().receive(notify(notice.payload));
  expect(outputs).toMatchObject([
    {
      type: 'QUEEN_INTERVENTION_REQUESTED',
      key: 'escalation_ticket:OMN-1234',
      payload: {
        ticket_id: 't-1',
        severity: 'high',
        queen_graph_id: 'vigil-alerting',
        queen_stream_id: 'escalation_ticket:OMN-1234',
      },
    },
    { type: 'ALERT_RAISED', payload: { severity: 'warning', deliverAt: EXAMPLE_TIME } },
  ]);
  expect(outputs[1]?.payload).not.toHaveProperty('ticket');
});

test('a worse ticket of the episode asks again, and updates the alert in place', () => {
  const alert = open();
  for (const severity of ['high', 'critical'] as const) {
    const [notice] = notices(severity);
    if (notice) alert.receive(notify(notice.payload, severity));
  }
  expect(alert.all().map(({ type }) => type)).toEqual([
    'QUEEN_INTERVENTION_REQUESTED',
    'ALERT_RAISED',
    'QUEEN_INTERVENTION_REQUESTED',
    'ALERT_UPDATED',
  ]);
});

test('other alerts request no review', () => {
  const stuck = agentNotices(example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to: 'STUCK' }))[0];
  if (!stuck) throw new Error('no notice');
  expect(
    open()
      .receive(notify(stuck.payload))
      .map(({ type }) => type),
  ).toEqual(['ALERT_RAISED']);
});

test('a request for the operator is published, and raises an alert if none is open', () => {
  expect(open().receive(operator())).toMatchObject([
    {
      type: 'QUEEN_INTERVENTION_REQUESTED',
      payload: { ticket_id: 't-9', analysis: 'look at it', severity: 'critical' },
    },
    { type: 'ALERT_RAISED', payload: { severity: 'critical', text: 'look at it', route: 'escalation_ticket' } },
  ]);
});

test('on an open alert it keeps the subject, and never lowers the severity', () => {
  const alert = open();
  const [notice] = notices('critical');
  if (notice) alert.receive(notify(notice.payload));
  expect(alert.receive(operator({ urgency: 'low' }))).toMatchObject([
    { type: 'QUEEN_INTERVENTION_REQUESTED', payload: { severity: 'low' } },
    { type: 'ALERT_UPDATED', payload: { taskId: 'OMN-1234', severity: 'critical', text: 'look at it' } },
  ]);
});

test('the alert of a ticket is over with the episode', () => {
  for (const to of ['HEALTHY', 'TERMINATED'] as const) {
    const over = agentNotices(example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { to }));
    expect(over.map(({ key, payload }) => `${payload.action} ${key}`)).toContain('resolve escalation_ticket:OMN-1234');
  }
});
