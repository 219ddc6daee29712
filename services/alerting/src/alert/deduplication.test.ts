import { type PayloadOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { keyOf } from '../notices/notice.ts';
import { alerting, PLAIN } from './alerts.fixture.ts';
import type { Input } from './messages.ts';
import { consoleOnly } from './routing.ts';

/**
 * The truth table of Alertmanager's deduplication (notify/dedup). There, a group of alerts is one notification, and a new
 * alert in it is a message. In Vigil, each alert is a notification of its own. The agents of one task are causes of one
 * alert, so another agent of the same task adds no message.
 */

type NoticeFields = Partial<PayloadOf<typeof Topic.notify, 'NOTIFY'>>;

const MINUTE = 60_000;
const REPEAT = 4 * 60 * MINUTE;
const start = EXAMPLE_TIME;

const notice = (at: number, fields: NoticeFields): Input => ({
  ...example(Topic.notify, 'NOTIFY', {
    ...{ ...PLAIN, route: 'stuck_agent', taskId: 'T-1', labels: {}, caseId: null, options: [], deadlineAt: null },
    ...{ ticket: null, blocked: null, channels: ['default'], severity: 'warning', ...fields },
  }),
  occurredAt: start + at,
});
const firing = (at: number, agentId: string) => notice(at, { action: 'raise', agentId, text: `${agentId}: no call` });
const over = (at: number, agentId: string) => notice(at, { action: 'resolve', agentId, text: 'HEALTHY' });

/** The messages after these notices, up to a moment; each notice is received when it occurs. */
const messages = (notices: readonly Input[], until: number): readonly string[] => {
  const alert = alerting({ groupWaitMs: 0, endWaitMs: 0, repeatMs: REPEAT, routing: consoleOnly }, start);
  for (const one of notices) alert.receive(one, one.occurredAt);
  alert.passTo(start + until);
  return alert
    .all()
    .filter(({ payload }) => 'deliverAt' in payload && payload.deliverAt !== null)
    .map(({ type }) => type.replace('ALERT_', '').toLowerCase());
};

test.each([
  ['nothing sent, nothing firing: no message', [], REPEAT, []],
  ['nothing sent, firing: a message', [firing(0, 'w1')], 0, ['raised']],
  ['nothing sent, only resolved: no message', [over(0, 'w1')], REPEAT, []],
  ['the same set before the repeat: no message', [firing(0, 'w1'), firing(MINUTE, 'w1')], REPEAT - 1000, ['raised']],
  ['the same set at the repeat: a message', [firing(0, 'w1')], REPEAT, ['raised', 'updated']],
  [
    'a subset that still fires: no message',
    [firing(0, 'w1'), firing(1000, 'w2'), over(MINUTE, 'w1')],
    MINUTE,
    ['raised'],
  ],
  ['another agent of the same task: no message', [firing(0, 'w1'), firing(MINUTE, 'w2')], MINUTE, ['raised']],
  ['all resolved: a message', [firing(0, 'w1'), over(MINUTE, 'w1')], MINUTE, ['raised', 'resolved']],
  [
    'all resolved of several: one message',
    [firing(0, 'w1'), firing(1000, 'w2'), over(MINUTE, 'w1'), over(2 * MINUTE, 'w2')],
    REPEAT,
    ['raised', 'resolved'],
  ],
  [
    'firing again after all were resolved: a new alert',
    [firing(0, 'w1'), over(MINUTE, 'w1'), firing(2 * MINUTE, 'w1')],
    2 * MINUTE,
    ['raised', 'resolved', 'raised'],
  ],
] as const)('%s', (_, notices, until, expected) => {
  expect(messages(notices, until)).toEqual(expected);
});

test('a new alert beside one that was sent: a message of its own, and none of the other', () => {
  const keys = ['T-1', 'T-2'].map((taskId) => keyOf('stuck_agent', { agentId: 'w1', taskId }));
  const both = keys.map((alertKey, n) => notice(n * MINUTE, { action: 'raise', agentId: 'w1', alertKey }));
  const ofKey = (key: string) => both.filter(({ payload }) => 'alertKey' in payload && payload.alertKey === key);
  expect(keys.map((key) => messages(ofKey(key), MINUTE))).toEqual([['raised'], ['raised']]);
});
