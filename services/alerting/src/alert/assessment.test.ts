import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { PLAIN } from './alerts.fixture.ts';
import { alerts } from './alerts.ts';
import type { Input } from './messages.ts';
import { consoleOnly } from './routing.ts';

const KEY = 'escalation_ticket:OMN-1234';
const SECOND = 1000;
type Severity = 'low' | 'high' | 'critical';

const ticketNotice = (
  action: 'raise' | 'dismiss' | 'resolve',
  severity: Severity = 'high',
  ticket_id = 't-1',
): Input => ({
  ...example(Topic.notify, 'NOTIFY', {
    ...{ ...PLAIN, action, alertKey: KEY, route: 'escalation_ticket', agentId: 'worker-1', taskId: 'OMN-1234' },
    ...{ caseId: null, options: [], deadlineAt: null, blocked: null, channels: ['default'], severity: 'warning' },
    ...{ title: `worker-1: ${severity} ticket`, text: 'it stalls' },
    ticket: action === 'resolve' ? null : { ticket_id, analysis: `severity is ${severity}: it stalls`, severity },
  }),
  key: KEY,
  eventId: `${action}-${ticket_id}`,
  occurredAt: EXAMPLE_TIME,
});
const answer = (fields: Partial<PayloadOf<typeof Topic.notify, 'ASSESS_TICKET'>>, eventId = 'answer-1'): Input => ({
  ...example(Topic.notify, 'ASSESS_TICKET', {
    ...{ alertKey: KEY, agentId: 'worker-1', taskId: 'OMN-1234', ticket_id: 't-1', model: 'small-model' },
    ...{ outcome: 'answered', opinion: 'keep', reason: 'it waits for a build', durationMs: 900, ...fields },
  }),
  key: KEY,
  eventId,
});
const open = (groupWaitMs = 30 * SECOND) =>
  given(alerts({ groupWaitMs, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly }), EXAMPLE_TIME);
const kinds = (outputs: readonly { readonly type: string }[]) => outputs.map(({ type }) => type);
const sent = (outputs: readonly { readonly payload: object }[]) =>
  outputs.filter(({ payload }) => 'deliverAt' in payload && payload.deliverAt !== null);

test('a dismissal before people are notified ends the alert without a notification', () => {
  const story = open();
  story.receive(ticketNotice('raise'));
  expect(story.receive(answer({ opinion: 'dismiss' }), EXAMPLE_TIME + SECOND)).toMatchObject([
    {
      type: 'TICKET_ASSESSED',
      payload: {
        model: 'small-model',
        opinion: 'dismiss',
        reason: 'it waits for a build',
        durationMs: 900,
        isApplied: true,
      },
    },
    { type: 'TICKET_DISMISSED', payload: { ticket_id: 't-1', analysis: 'small-model: it waits for a build' } },
    { type: 'ALERT_RESOLVED', payload: { deliverAt: null } },
  ]);
  expect(sent(story.passTo(EXAMPLE_TIME + 3600 * SECOND))).toEqual([]);
});

test('a dismissal after people are notified is recorded and changes nothing', () => {
  const story = open(0);
  story.receive(ticketNotice('raise'));
  const outputs = story.receive(answer({ opinion: 'dismiss' }), EXAMPLE_TIME + SECOND);
  expect(outputs).toMatchObject([{ type: 'TICKET_ASSESSED', payload: { isApplied: false } }]);
  expect(outputs).toHaveLength(1);
});

test('a critical ticket is never dismissed by a model', () => {
  const story = open();
  story.receive(ticketNotice('raise', 'critical'));
  expect(story.receive(answer({ opinion: 'dismiss' }), EXAMPLE_TIME + SECOND)).toMatchObject([
    { type: 'TICKET_ASSESSED', payload: { isApplied: false } },
  ]);
  expect(sent(story.passTo(EXAMPLE_TIME + 60 * SECOND))).toHaveLength(1);
});

test('a ticket that the rules dismiss is raised, with the severity of the ticket', () => {
  const story = open();
  story.receive(ticketNotice('dismiss', 'low'));
  expect(story.receive(answer({ opinion: 'raise', reason: 'it repeats itself' }), EXAMPLE_TIME + SECOND)).toMatchObject(
    [
      { type: 'TICKET_ASSESSED', payload: { opinion: 'raise', isApplied: true } },
      { type: 'QUEEN_INTERVENTION_REQUESTED', payload: { ticket_id: 't-1', severity: 'low', queen_stream_id: KEY } },
      { type: 'ALERT_RAISED', payload: { title: 'worker-1: low ticket', severity: 'warning', agentId: 'worker-1' } },
    ],
  );
  expect(sent(story.passTo(EXAMPLE_TIME + 60 * SECOND))).toHaveLength(1);
});

test.each([
  ['raise', 'raise'],
  ['dismiss', 'dismiss'],
] as const)('what the rules decide as %s is not changed by the same opinion', (ruling, opinion) => {
  const story = open();
  story.receive(ticketNotice(ruling));
  const outputs = story.receive(answer({ opinion }), EXAMPLE_TIME + SECOND);
  expect(kinds(outputs)).toEqual(['TICKET_ASSESSED']);
  expect(outputs[0]?.payload).toMatchObject({ isApplied: false });
});

test.each(['failed', 'refused', 'malformed', 'late', 'UNKNOWN'] as const)(
  'the outcome %s is recorded, and the ticket goes out as and when the rules decide',
  (outcome) => {
    const [asked, alone] = [open(), open()];
    asked.receive(ticketNotice('raise'));
    alone.receive(ticketNotice('raise'));
    const outputs = asked.receive(answer({ outcome, opinion: 'dismiss', reason: '429' }), EXAMPLE_TIME + SECOND);
    expect(outputs).toMatchObject([{ type: 'TICKET_ASSESSED', payload: { outcome, isApplied: false } }]);
    expect(asked.passTo(EXAMPLE_TIME + 60 * SECOND)).toEqual(alone.passTo(EXAMPLE_TIME + 60 * SECOND));
  },
);

test('a second answer to the same ticket is nothing', () => {
  for (const opinion of ['dismiss', 'keep'] as const) {
    const story = open();
    story.receive(ticketNotice('raise'));
    story.receive(answer({ opinion }), EXAMPLE_TIME + SECOND);
    expect(story.receive(answer({ opinion: 'dismiss' }, 'answer-2'), EXAMPLE_TIME + 2 * SECOND)).toEqual([]);
  }
});

test('an answer about another ticket, or after the episode, is nothing', () => {
  const story = open();
  story.receive(ticketNotice('raise'));
  expect(story.receive(answer({ ticket_id: 't-0', opinion: 'dismiss' }))).toEqual([]);
  story.receive(ticketNotice('resolve'));
  expect(story.receive(answer({ opinion: 'dismiss' }))).toEqual([]);
  expect(open().receive(answer({ opinion: 'raise' }))).toEqual([]);
});

test('the dismissal of a later ticket does not end the alert of an earlier one', () => {
  const story = open();
  story.receive(ticketNotice('raise', 'high', 't-0'));
  story.receive(ticketNotice('raise', 'high', 't-1'));
  expect(kinds(story.receive(answer({ opinion: 'dismiss' })))).toEqual(['TICKET_ASSESSED']);
});

test('a ticket that a person has forwarded to the operator is not dismissed', () => {
  const story = open();
  story.receive(ticketNotice('raise'));
  story.receive({
    ...example(Topic.controlAlerts, 'NOTIFY_OPERATOR', {
      ticket_id: 't-1',
      analysis: 'look',
      urgency: 'high',
      by: 'ada',
    }),
    key: KEY,
  });
  expect(story.receive(answer({ opinion: 'dismiss' }))).toEqual([]);
});

test('a dismissed ticket leaves nothing behind an hour later, and until then a model may answer', () => {
  const rule = alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly });
  const story = given(rule, EXAMPLE_TIME);
  story.receive(ticketNotice('dismiss', 'low'));
  const until = EXAMPLE_TIME + 3600 * SECOND;
  const forgets = (now: number) => rule.forgets?.(story.state(), { ...story.clock(), now });
  expect(rule.dueAt(story.state(), story.clock())).toBe(until);
  expect([forgets(until - 1), forgets(until)]).toEqual([false, true]);
  story.receive(ticketNotice('dismiss', 'low', 't-2'), EXAMPLE_TIME + 60 * SECOND);
  expect(forgets(until)).toBe(false);
  expect(kinds(story.receive(answer({ ticket_id: 't-2', opinion: 'raise' }), EXAMPLE_TIME + 61 * SECOND))).toContain(
    'ALERT_RAISED',
  );
  expect(forgets(until + 3600 * SECOND)).toBe(false);
});

test('a resolved alert leaves nothing behind an hour after its end', () => {
  const rule = alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 3_600_000, routing: consoleOnly });
  const story = given(rule, EXAMPLE_TIME);
  story.receive(ticketNotice('raise'));
  story.receive({ ...ticketNotice('resolve'), occurredAt: EXAMPLE_TIME + SECOND }, EXAMPLE_TIME + SECOND);
  const until = EXAMPLE_TIME + 3601 * SECOND;
  const forgets = (now: number) => rule.forgets?.(story.state(), { ...story.clock(), now });
  expect([forgets(until - 1), forgets(until)]).toEqual([false, true]);
});
