import { Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { alerts } from '../../alert/alerts.ts';
import { consoleOnly } from '../../alert/routing.ts';
import { type Notify, notify } from '../notice.ts';
import { AS_CONFIGURED, agentNotices, fleetNotices, taskNotices } from '../notices.fixture.ts';
import { fleetNotices as noticesOf } from './fleet-notices.ts';

const MIDNIGHT = Date.UTC(2026, 10, 24);
const used = { tokens: 120, usd: null, limitTokens: 100, limitUsd: null, until: null } as const;
const reached = (scope: 'agent' | 'task' | 'day', scopeId: string, more: object = {}) =>
  example(Topic.spending, 'SPENDING_LIMIT_REACHED', { ...used, scope, scopeId, ...more });
const lifted = (scope: 'agent' | 'task' | 'day', scopeId: string) =>
  example(Topic.spending, 'SPENDING_LIMIT_LIFTED', { scope, scopeId, why: 'the limit was raised' });
const keys = (notices: readonly Notify[]) => notices.map(({ key, payload }) => `${payload.action} ${key}`);

test('people are notified whose limit is reached, how much is used of how much, and how to allow more', () => {
  expect(fleetNotices(reached('task', 'OMN-1'))[0]?.payload).toMatchObject({
    ...{ route: 'spending_limit', severity: 'warning', taskId: 'OMN-1' },
    title: 'the spending limit of task OMN-1 is reached',
    text: '120 of 100 tokens are used; calls are refused; to allow more, raise spending.task in the policy and apply it (vigil policy apply)',
  });
  const dollars = { usd: 2.5, limitUsd: 2, limitTokens: null, until: MIDNIGHT };
  expect(fleetNotices(reached('day', 'vigil', dollars))[0]?.payload).toMatchObject({
    title: 'the spending limit of the day of policy vigil is reached',
    text: expect.stringMatching(
      /^2\.50 of 2\.00 US dollars are used; calls are refused until 2026-11-24 00:00:00 UTC;/,
    ),
  });
});

test.each([
  ['task', 'OMN-1', 'spending_limit:OMN-1'],
  ['agent', 'worker-1', 'spending_limit:worker-1:agent'],
  ['day', 'vigil', 'spending_limit:fleet:vigil'],
] as const)('the alert of a %s is over under the key that it was raised with', (scope, id, key) => {
  expect(keys(fleetNotices(reached(scope, id)))).toEqual([`raise ${key}`]);
  expect(keys(fleetNotices(lifted(scope, id)))).toEqual([`resolve ${key}`]);
});

test('a policy sets the severity and the channels', () => {
  const policy = { name: 'builders', hash: 'h1' };
  const of = (_: unknown, route: string) =>
    route === 'spending_limit' ? ({ severity: 'critical', channels: ['ops'], ...AS_CONFIGURED } as const) : null;
  const [notice] = noticesOf(reached('task', 'OMN-1')).map((one) => notify(one, policy, { of }));
  expect(notice?.payload).toMatchObject({ severity: 'critical', channels: ['ops'], ...AS_CONFIGURED });
});

test('a limit that is announced twice is one alert, and a raised limit that is reached again updates it', () => {
  const alert = given(
    alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 14_400_000, routing: consoleOnly }),
    EXAMPLE_TIME,
  );
  const receive = ([notice]: readonly Notify[], eventId: string) =>
    alert
      .receive({ ...example(Topic.notify, 'NOTIFY', notice?.payload), key: notice?.key ?? '', eventId })
      .map(({ type }) => type);
  const one = fleetNotices(reached('task', 'OMN-1'));
  expect([receive(one, 'n1'), receive(one, 'n1')]).toEqual([['ALERT_RAISED'], []]);
  expect(receive(fleetNotices(reached('task', 'OMN-1', { limitTokens: 110 })), 'n2')).toEqual(['ALERT_UPDATED']);
  expect(receive(fleetNotices(lifted('task', 'OMN-1')), 'n3')).toEqual(['ALERT_RESOLVED']);
});

test('the alert of a task is over when the task is finished, left or released; not when its agent only dies, or another takes it', () => {
  const resolves = (notices: readonly Notify[]) => keys(notices).includes('resolve spending_limit:OMN-1');
  const ended = (endReason: 'finished' | 'crashed' | 'explicit') =>
    agentNotices(
      example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
        ...{ to: 'TERMINATED', taskId: 'OMN-1', leftTaskId: null, endReason },
      }),
    );
  const left = { to: 'HEALTHY', taskId: 'OMN-2', leftTaskId: 'OMN-1' } as const;
  const released = (why: 'finished' | 'abandoned' | 'reassigned') =>
    taskNotices(example(Topic.taskRecovery, 'TASK_RELEASED', { taskId: 'OMN-1', why }));
  expect([ended('finished'), ended('crashed'), ended('explicit')].map(resolves)).toEqual([true, false, false]);
  expect(resolves(agentNotices(example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', left)))).toBe(true);
  expect([released('finished'), released('abandoned'), released('reassigned')].map(resolves)).toEqual([
    ...[true, true, false],
  ]);
});
