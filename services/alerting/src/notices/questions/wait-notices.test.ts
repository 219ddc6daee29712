import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { utcTime } from '@vigil/policy';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { alerts } from '../../alert/alerts.ts';
import { consoleOnly } from '../../alert/routing.ts';
import type { Notify } from '../notice.ts';
import { agentNotices } from '../notices.fixture.ts';

const SINCE = EXAMPLE_TIME;
const asks = { agentId: 'worker-1', taskId: 'OMN-1', since: SINCE, limitMs: 1_800_000 } as const;
const overdue = (more: object = {}) =>
  agentNotices(
    example(Topic.agentHealth, 'WAIT_OVERDUE', { ...asks, kind: 'permission', text: 'Run rm -rf build?', ...more }),
  );
const ended = (more: object = {}) =>
  agentNotices(example(Topic.agentHealth, 'WAIT_ENDED', { ...asks, why: 'it waits no longer', ...more }));
const payloads = (notices: readonly Notify[]) => notices.map(({ key, payload }) => ({ key, ...payload }));

test('people receive who waits, since when, and the question', () => {
  expect(payloads(overdue())).toEqual([
    expect.objectContaining({
      ...{ key: 'awaiting_input:OMN-1:worker-1', route: 'awaiting_input', action: 'raise', severity: 'warning' },
      title: 'worker-1 waits for a permission',
      text: `since ${utcTime(SINCE)}, for more than 30 min: Run rm -rf build?`,
      options: [],
    }),
  ]);
});

test('the question may be unknown', () => {
  expect(payloads(overdue({ kind: null, text: null }))[0]).toMatchObject({
    title: 'worker-1 waits for input',
    text: expect.stringMatching(/: it does not report its question$/),
  });
  expect(payloads(overdue({ kind: 'prompt', text: null }))[0]?.text).toMatch(/: it stands at its prompt$/);
});

test('agents of one task wait each for themselves, and an agent without a task for itself', () => {
  const keys = [overdue(), overdue({ agentId: 'worker-2' }), overdue({ taskId: null })].map((one) => one[0]?.key);
  expect(keys).toEqual(['awaiting_input:OMN-1:worker-1', 'awaiting_input:OMN-1:worker-2', 'awaiting_input:worker-1']);
  const long = (end: string) => overdue({ agentId: `${'w'.repeat(60)}-${end}` })[0]?.key;
  expect(long('1')).not.toBe(long('2'));
});

/** The texts of the alerts that are raised, after a request whose text is `asked` has ended. */
const textsAfter = (asked: string, end: 'REQUEST_EXPIRED' | 'REQUEST_WITHDRAWN', wait: object = {}) => {
  const alert = given(
    alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }),
    EXAMPLE_TIME,
  );
  const request = { agentId: 'worker-1', taskId: 'OMN-1', requestId: 'r-1' };
  const receive = ([notice]: readonly Notify[], occurredAt: number) =>
    alert.receive({
      ...{ ...example(Topic.notify, 'NOTIFY', notice?.payload), occurredAt },
      ...{ key: notice?.key ?? '', eventId: `n-${occurredAt}` },
    });
  receive(agentNotices(example(Topic.agentRequest, 'REQUEST_OPENED', { ...request, text: asked })), SINCE + 1);
  receive(agentNotices(example(Topic.agentRequest, end, { ...request, open: 0 })), EXPIRED_AT);
  return receive(overdue({ text: 'Bash', ...wait }), EXPIRED_AT + 1).map((event) =>
    event.type === 'ALERT_RAISED' ? event.payload.text.replace(/^since .*? min: /, '') : event.type,
  );
};
const EXPIRED_AT = SINCE + 600_000;

test('a wait that outlasts the deadline of its request has what the request asks', () => {
  expect(textsAfter('Bash: rm -rf build', 'REQUEST_EXPIRED')).toEqual(['Bash: rm -rf build']);
});

test('a wait that began at the end of the request or later has only what its client reports', () => {
  const begun = (since: number) => textsAfter('Bash: rm -rf build', 'REQUEST_EXPIRED', { since });
  expect(begun(EXPIRED_AT - 1)).toEqual(['Bash: rm -rf build']);
  expect(begun(EXPIRED_AT)).toEqual(['Bash']);
});

test('a wait for another tool, or after a request that ended otherwise, has only what its client reports', () => {
  expect(textsAfter('Edit: src/main.ts', 'REQUEST_EXPIRED')).toEqual(['Bash']);
  expect(textsAfter('Bash: rm -rf build', 'REQUEST_WITHDRAWN')).toEqual(['Bash']);
});

test('a wait that is reported twice is one alert, which its end resolves', () => {
  const alert = given(
    alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }),
    EXAMPLE_TIME,
  );
  const receive = ([notice]: readonly Notify[], eventId: string) =>
    alert.receive({ ...example(Topic.notify, 'NOTIFY', notice?.payload), key: notice?.key ?? '', eventId });
  const outputs = [receive(overdue(), 'n1'), receive(overdue(), 'n1'), receive(ended(), 'n2'), receive(ended(), 'n2')];
  expect(outputs.map((events) => events.map(({ type }) => type))).toEqual([
    ['ALERT_RAISED'],
    [],
    ['ALERT_RESOLVED'],
    [],
  ]);
});
