import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { alerts } from '../../alert/alerts.ts';
import { consoleOnly } from '../../alert/routing.ts';
import { notify } from '../notice.ts';
import { noPolicies } from '../policy-alerts.ts';
import { LIMIT_MS, warrantNotices } from './warrant-notices.ts';

const T = 1_795_305_600_000;
const about = { agentId: 'w1', taskId: 'T-1' };
const filed = example(Topic.agentHealth, 'WARRANT_FILED', { ...about, endReason: null });

/** The alert of w1's warrant; events are received when they happen. */
const story = () => {
  const alert = given(alerts({ groupWaitMs: 30_000, endWaitMs: 0, repeatMs: 4 * 3_600_000, routing: consoleOnly }), T);
  return {
    ...alert,
    report: (event: Parameters<typeof warrantNotices>[0], at: number) =>
      warrantNotices(event).flatMap((one) => {
        const draft = notify(one, null, noPolicies);
        const input = { ...example(Topic.notify, 'NOTIFY', draft.payload), key: draft.key, occurredAt: at };
        return alert.receive(input, at);
      }),
  };
};

test('a warrant without a step is an alert after five minutes, not a moment before', () => {
  const alert = story();
  expect(alert.report(filed, T)).toEqual([]);
  expect(alert.passTo(T + LIMIT_MS - 1)).toEqual([]);
  expect(alert.passTo(T + LIMIT_MS)).toMatchObject([
    { type: 'ALERT_RAISED', key: 'warrant_waiting:T-1:w1', payload: { severity: 'critical', agentId: 'w1' } },
  ]);
});

test.each([
  example(Topic.agentIntervention, 'NUDGE_SENT', about),
  example(Topic.agentIntervention, 'CASE_WITHHELD', about),
  example(Topic.agentIntervention, 'STEP_SKIPPED', about),
  example(Topic.agentIntervention, 'AGENT_TERMINATED', about),
  example(Topic.agentHealth, 'WARRANT_LAPSED', about),
])('$type answers it: no alert follows', (answer) => {
  const alert = story();
  alert.report(filed, T);
  alert.report(answer, T + 1000);
  expect(alert.passTo(T + 24 * 3_600_000)).toEqual([]);
});

test('the warrant of an ended instance raises no alert: a case may have ended it, and answers no such warrant', () => {
  expect(warrantNotices({ ...filed, payload: { ...filed.payload, endReason: 'lost' } })).toEqual([]);
});

test('a case that is only opened does not answer it, nor does a step for another agent of the task', () => {
  const alert = story();
  alert.report(filed, T);
  alert.report(example(Topic.agentIntervention, 'CASE_OPENED', about), T + 1000);
  expect(warrantNotices(example(Topic.agentIntervention, 'NUDGE_SENT', { ...about, agentId: 'w2' }))).toMatchObject([
    { about: { of: 'w2' } },
  ]);
  expect(alert.passTo(T + LIMIT_MS)).toHaveLength(1);
});

test('a step after the alert resolves it', () => {
  const alert = story();
  alert.report(filed, T);
  alert.passTo(T + LIMIT_MS + 60_000);
  const at = T + LIMIT_MS + 61_000;
  alert.report(example(Topic.agentIntervention, 'NUDGE_SENT', about), at);
  expect(alert.passTo(at + 30_000)).toMatchObject([{ type: 'ALERT_RESOLVED' }]);
});

test('a warrant without a plan to act by awaits nothing', () => {
  expect(warrantNotices({ ...filed, payload: { ...filed.payload, plan: [] } } as typeof filed)).toEqual([]);
});

test('a warrant that is filed again while its case is at work needs no further step; after the case it does', () => {
  const alert = story();
  alert.report(filed, T);
  alert.report(example(Topic.agentIntervention, 'HANDOFF_REQUESTED', { ...about, caseId: 'c-1' }), T + 1000);
  alert.report(example(Topic.agentHealth, 'WARRANT_LAPSED', about), T + 2000);
  alert.report(filed, T + 3000);
  expect(alert.passTo(T + 24 * 3_600_000)).toEqual([]);
  const closedAt = T + 25 * 3_600_000;
  alert.report(example(Topic.agentIntervention, 'CASE_CLOSED', { ...about, caseId: 'c-1' }), closedAt);
  alert.report(filed, closedAt + 1000);
  expect(alert.passTo(closedAt + 1000 + LIMIT_MS)).toMatchObject([{ type: 'ALERT_RAISED' }]);
});
