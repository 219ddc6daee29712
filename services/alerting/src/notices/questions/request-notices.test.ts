import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { utcTime } from '@vigil/policy';
import { laws } from '@vigil/stream/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alerting } from '../../alert/alerts.fixture.ts';
import { alerts } from '../../alert/alerts.ts';
import type { Input, Output } from '../../alert/messages.ts';
import { consoleOnly } from '../../alert/routing.ts';
import type { Notify } from '../notice.ts';
import { agentNotices, fleetNotices } from '../notices.fixture.ts';

const DEADLINE = EXAMPLE_TIME + 600_000;
const CHOICES = [
  { name: 'allow', label: 'Allow' },
  { name: 'deny', label: 'Deny' },
];
const asks = { requestId: 'r-1', agentId: 'worker-1', taskId: 'OMN-1' } as const;
const opened = (more: object = {}) =>
  agentNotices(
    example(Topic.agentRequest, 'REQUEST_OPENED', {
      ...{
        ...asks,
        kind: 'permission',
        text: 'Bash: rm -rf build',
        open: 1,
        deadlineAt: DEADLINE,
        ...{ choices: CHOICES, questions: [], atDeadline: 'no_decision', heldBy: 'gateway-1', ...more },
      },
    }),
  );
const withdrawn = (requestId: string, open: number) =>
  agentNotices(example(Topic.agentRequest, 'REQUEST_WITHDRAWN', { ...asks, requestId, why: 'its client ended', open }));
const over = (requestId: string, open: number) =>
  agentNotices(
    example(Topic.agentRequest, 'REQUEST_ANSWERED', { ...asks, requestId, option: 'allow', by: 'ada', open }),
  );
const overdue = () =>
  agentNotices(
    example(Topic.agentHealth, 'WAIT_OVERDUE', { agentId: 'worker-1', taskId: 'OMN-1', kind: 'permission' }),
  );
const waitEnded = () =>
  agentNotices(example(Topic.agentHealth, 'WAIT_ENDED', { agentId: 'worker-1', taskId: 'OMN-1' }));
const brake = () =>
  fleetNotices(example(Topic.fleetGovernance, 'BRAKE_ENGAGED', { scope: 'fleet', agentIds: ['worker-1'] }));

/** With a group wait of half a minute, a second between two notices. */
const alertOf = () => {
  const alert = alerting(
    { groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly },
    EXAMPLE_TIME,
  );
  let n = 0;
  const receive = (notices: readonly Notify[]): readonly Output[] =>
    notices.flatMap(({ payload, key }) => {
      n += 1;
      const at = EXAMPLE_TIME + n * 1000;
      const notice = { ...example(Topic.notify, 'NOTIFY', payload as never), key, eventId: `n${n}`, occurredAt: at };
      return alert.receive(notice as Input, at);
    });
  const acknowledge = () => alert.receive(example(Topic.controlAlerts, 'ACKNOWLEDGE_ALERT', { by: 'ada' }));
  return { ...alert, receive, acknowledge, input: alert.receive };
};
const delivered = (outputs: readonly Output[]) =>
  outputs.filter(({ payload }) => 'deliverAt' in payload && payload.deliverAt !== null);

test('people receive what is asked, its options, the item of the inbox, the deadline, and what happens then', () => {
  expect(opened()[0]?.payload).toMatchObject({
    ...{ alertKey: 'awaiting_input:OMN-1:worker-1', route: 'awaiting_input', severity: 'warning', requestId: 'r-1' },
    ...{ options: ['allow', 'deny'], deadlineAt: DEADLINE, onTimeout: 'no_decision' },
    title: 'worker-1 asks for a permission',
    text: `Bash: rm -rf build; request/r-1 of \`vigil inbox\`, until ${utcTime(DEADLINE)}, then the client decides itself`,
  });
  const choices = [
    { name: '1', label: 'Red' },
    { name: '2', label: 'Blue' },
  ];
  expect(opened({ kind: 'question', atDeadline: 'allow', choices })[0]?.payload).toMatchObject({
    ...{ title: 'worker-1 asks a question', options: ['1', '2'], onTimeout: 'allow' },
    text: expect.stringMatching(/^Bash: rm -rf build; 1: Red, 2: Blue; .* then it is allowed$/),
  });
});

test('several questions have no options, and the text has where they are answered', () => {
  const question = { header: '', text: 'Which?', isMultiple: false, options: [] };
  const questions = ['Database', 'Features'].map((name) => ({ ...question, name }));
  expect(opened({ kind: 'question', choices: [], questions })[0]?.payload).toMatchObject({
    ...{ title: 'worker-1 asks 2 questions', options: [], questions },
    text: expect.stringContaining('; answer it on the page, or by the command in `vigil inbox`; request/r-1 of'),
  });
});

test('a request is delivered at once, and its end at once, though alerts have a group wait', () => {
  const alert = alertOf();
  expect(alert.receive(opened())).toMatchObject([
    { type: 'ALERT_RAISED', payload: { requestId: 'r-1', deliverAt: EXAMPLE_TIME + 1000 } },
  ]);
  expect(alert.receive(over('r-1', 0))).toMatchObject([
    { type: 'ALERT_RESOLVED', payload: { deliverAt: EXAMPLE_TIME + 2000, text: 'worker-1: ada has answered allow' } },
  ]);
});

describe('the end of a request whose deadline has passed', () => {
  const expired = (outcome: 'no_decision' | 'allow', open = 0, requestId = 'r-1') =>
    agentNotices(
      example(Topic.agentRequest, 'REQUEST_EXPIRED', { ...asks, requestId, kind: 'permission', outcome, open }),
    );

  test.each([
    ['no_decision', 'its client decides itself: it shows the question in its own terminal, or denies'],
    ['allow', 'it was allowed'],
  ] as const)('has what was asked, and what followed: %s', (outcome, followed) => {
    const alert = alertOf();
    alert.receive(opened());
    expect(alert.receive(expired(outcome))).toMatchObject([
      {
        type: 'ALERT_RESOLVED',
        payload: {
          title: 'worker-1 asks for a permission: over',
          text: `worker-1: no answer came before the deadline, so ${followed}; it had asked: Bash: rm -rf build`,
        },
      },
    ]);
  });

  test('has the text of that request, not of one that was answered before', () => {
    const alert = alertOf();
    alert.receive(opened({ requestId: 'r-2', text: 'Bash: ls' }));
    alert.receive(opened());
    alert.receive(over('r-2', 1));
    expect(alert.receive(expired('no_decision'))).toMatchObject([
      { type: 'ALERT_RESOLVED', payload: { text: expect.stringMatching(/; it had asked: Bash: rm -rf build$/) } },
    ]);
  });
});

test('a request is delivered at once where a long wait has raised the alert, and within its group wait', () => {
  const alert = alertOf();
  expect(delivered(alert.receive(overdue()))).toEqual([]);
  expect(delivered(alert.receive(opened()))).toMatchObject([{ type: 'ALERT_UPDATED', payload: { requestId: 'r-1' } }]);
});

test('each further request is delivered, also after an acknowledgement', () => {
  const alert = alertOf();
  alert.receive(opened());
  alert.acknowledge();
  expect(delivered(alert.receive(opened({ requestId: 'r-2', text: 'Bash: ls' })))).toMatchObject([
    {
      type: 'ALERT_UPDATED',
      payload: {
        ...{ requestId: 'r-2', isQuiet: false, options: ['allow', 'deny'], text: expect.stringContaining('Bash: ls') },
        title: 'worker-1 asks for a permission (2 requests wait)',
      },
    },
  ]);
  expect(alert.receive(opened({ requestId: 'r-2', text: 'Bash: ls', heldBy: 'another' }))).toEqual([]);
});

test('after an answer the alert shows the newest request that waits, at once and without a noise', () => {
  const alert = alertOf();
  for (const requestId of ['r-1', 'r-2', 'r-3']) alert.receive(opened({ requestId, text: requestId }));
  expect(delivered(alert.receive(over('r-3', 2)))).toMatchObject([
    { payload: { requestId: 'r-2', isQuiet: true, title: 'worker-1 asks for a permission (2 requests wait)' } },
  ]);
  expect(delivered(alert.receive(withdrawn('r-1', 1)))).toMatchObject([
    { payload: { requestId: 'r-2', isQuiet: true, title: 'worker-1 asks for a permission' } },
  ]);
  expect(alert.receive(withdrawn('r-1', 1))).toEqual([]);
  expect(alert.receive(over('r-2', 0))).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('requests of an agent that has gone on to another task leave no alert behind', () => {
  const alert = alertOf();
  alert.receive(opened());
  expect(alert.receive(over('r-1', 1))).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('a flood of requests is one alert, that ends with the last of them', () => {
  const alert = alertOf();
  for (let n = 0; n < 30; n += 1) alert.receive(opened({ requestId: `r-${n}`, open: n + 1 }));
  for (let n = 0; n < 29; n += 1) alert.receive(over(`r-${n}`, 29 - n));
  const types = alert.all().map(({ type }) => type);
  expect(types.filter((type) => type === 'ALERT_RAISED')).toHaveLength(1);
  expect(types).not.toContain('ALERT_RESOLVED');
  expect(alert.receive(over('r-29', 0))).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('a request and a wait that takes too long are the same alert, which shows the request while it waits', () => {
  expect(overdue()[0]?.key).toBe(opened()[0]?.key);
  const alert = alertOf();
  alert.receive(opened());
  expect(delivered(alert.receive(overdue()))).toEqual([]);
  expect(alert.receive(waitEnded())).toEqual([]);
  expect(alert.receive(over('r-1', 0))).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('a request that is read after the later end of a wait is delivered', () => {
  const alert = alertOf();
  alert.receive(overdue());
  alert.receive(waitEnded());
  alert.passTo(EXAMPLE_TIME + 60_000);
  const [request] = opened();
  const notice = { ...example(Topic.notify, 'NOTIFY', request?.payload), key: request?.key ?? '' };
  const late = { ...notice, eventId: 'late', occurredAt: EXAMPLE_TIME + 1500 };
  expect(alert.input(late as Input)).toMatchObject([{ type: 'ALERT_RAISED', payload: { requestId: 'r-1' } }]);
});

test('the brake holds back no request of an agent that it names', () => {
  const alert = alertOf();
  alert.receive(brake().filter(({ payload }) => payload.action === 'inhibit'));
  expect(delivered(alert.receive(opened()))).toHaveLength(1);
  expect(delivered(alert.receive(opened({ requestId: 'r-2' })))).toHaveLength(1);
  expect(delivered(alert.receive(over('r-2', 1)))).toHaveLength(1);
});

test('requests obey the laws of deciders, in any order', () => {
  const ids = fc.constantFrom('r-1', 'r-2', 'r-3');
  const notices = fc.oneof(
    ids.map((requestId) => opened({ requestId })),
    fc.tuple(ids, fc.nat(2)).map(([requestId, open]) => over(requestId, open)),
    fc.constantFrom(overdue(), waitEnded()),
  );
  const inputs = fc.tuple(notices, fc.nat(60)).map(([[notice], s]) => ({
    ...example(Topic.notify, 'NOTIFY', notice?.payload),
    ...{ key: notice?.key ?? '', occurredAt: EXAMPLE_TIME + s * 1000 },
  }));
  laws(alerts({ groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }), inputs, {
    runs: 200,
  });
});

test('a refused answer, and a request too many, are no alert', () => {
  expect(agentNotices(example(Topic.agentRequest, 'ANSWER_REFUSED'))).toEqual([]);
  expect(agentNotices(example(Topic.agentRequest, 'REQUEST_REFUSED'))).toEqual([]);
});
