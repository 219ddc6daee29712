import { type EventOf, Topic } from '@vigil/events';
import { EXAMPLE_TIME, example } from '@vigil/events/examples';
import { given } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { agentNotices, taskNotices } from '../notices/notices.fixture.ts';
import type { Alert } from './alert-state.ts';
import { alerts } from './alerts.ts';
import { consoleOnly } from './routing.ts';

type AgentEvent = EventOf<typeof Topic.agentHealth | typeof Topic.agentIntervention>;
type OfTask = EventOf<typeof Topic.taskRecovery>;
const KEY = 'task_blocked:T-1';
const T0 = EXAMPLE_TIME;
const HOUR = 3_600_000;

/** The alert of the blocked task T-1, and the reports about its agents; each event is one second later. */
const alertOfTask = () => {
  const driver = given(alerts({ groupWaitMs: 0, endWaitMs: 0, repeatMs: 1e9, routing: consoleOnly }), T0);
  let at = T0;
  const receive = (notices: ReturnType<typeof agentNotices>, agoMs = 0) => {
    at += 1000;
    for (const { payload } of notices.filter(({ key }) => key === KEY))
      driver.receive({ ...example(Topic.notify, 'NOTIFY', payload), key: KEY, occurredAt: at - agoMs } as never, at);
  };
  return {
    report: (...events: readonly AgentEvent[]) => {
      for (const event of events) receive(agentNotices(event));
    },
    /** An event of an hour ago; `olderMs`: so much older than that. */
    readLate: (event: AgentEvent, olderMs = 0) => {
      receive(agentNotices(event), HOUR + olderMs);
    },
    ofTask: (event: OfTask) => receive(taskNotices(event)),
    isOpen: () => (driver.state() as Alert).open !== null,
    reason: () => driver.all().flatMap((outputs) => (outputs.type === 'ALERT_RESOLVED' ? [outputs.payload.text] : [])),
  };
};

const blocked = (agentId = 'w1') =>
  example(Topic.agentIntervention, 'TASK_BLOCKED', { agentId, taskId: 'T-1', reason: 'no way on' });
type EndReason = 'finished' | 'explicit' | 'crashed';
const ended = (endReason: EndReason, agentId = 'w1', endOrderId: string | null = null) =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
    ...{ agentId, taskId: 'T-1', to: 'TERMINATED', leftTaskId: null, evidence: [] },
    ...{ endReason, endOrderId, reason: `ended: ${endReason}` },
  });
const left = (agentId = 'w1') =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
    ...{ agentId, taskId: 'T-2', to: 'DEGRADED', leftTaskId: 'T-1', evidence: [], endReason: null, endOrderId: null },
  });

test.each([
  ['finishes', ended('finished'), 'w1 has ended: finished'],
  ['is stopped by a person', ended('explicit'), 'w1 has ended: explicit'],
  ['crashes', ended('crashed'), 'w1 has ended: crashed'],
  ['goes on to another task', left(), 'w1 has left it'],
])('a task is blocked no more when its agent %s, and the alert shows the reason', (_, sign, reason) => {
  const one = alertOfTask();
  one.report(blocked());
  expect(one.isOpen()).toBe(true);
  one.report(sign);
  expect(one.isOpen()).toBe(false);
  expect(one.reason()).toEqual([reason]);
});

test('a task that its plan leaves to people when its agent has been ended stays blocked, whichever is read first', () => {
  const byOrder = ended('explicit', 'w1', 'case-1-1');
  for (const events of [
    [blocked(), byOrder],
    [byOrder, blocked()],
  ]) {
    const one = alertOfTask();
    one.report(...events);
    expect(one.isOpen()).toBe(true);
  }
});

const healthy = (agentId: string, taskId = 'T-1') =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
    ...{ agentId, taskId, to: 'HEALTHY', leftTaskId: null, evidence: [], endReason: null, endOrderId: null },
  });
const began = (agentId: string, taskId: string | null = 'T-1') =>
  example(Topic.agentHealth, 'INSTANCE_STARTED', { agentId, taskId });
const stuck = (agentId: string) =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', {
    ...{ agentId, taskId: 'T-1', to: 'STUCK', leftTaskId: null, evidence: [], endReason: null, endOrderId: null },
  });

test.each([
  ['an agent starts on it', began('w2'), 'w2 has started on it'],
  ['another agent on it is HEALTHY', healthy('w2'), 'w2 works on it, and is HEALTHY'],
  ['another agent finishes it', ended('finished', 'w2'), 'w2 has finished it'],
])('a task that its plan left to people is blocked until %s', (_, sign, reason) => {
  const one = alertOfTask();
  one.report(blocked('w1'), ended('explicit', 'w1', 'case-1-1'));
  expect(one.isOpen()).toBe(true);
  one.report(sign);
  expect(one.isOpen()).toBe(false);
  expect(one.reason()).toEqual([reason]);
});

test('it stays blocked while an agent is well on another task, or not well on it, and by a start from before', () => {
  const order = ended('explicit', 'w1', 'case-1-1');
  for (const sign of [healthy('w2', 'T-2'), began('w2', 'T-2'), began('w2', null), stuck('w2')]) {
    const one = alertOfTask();
    one.report(blocked('w1'), order, sign);
    expect(one.isOpen()).toBe(true);
  }
  const later = alertOfTask();
  later.report(began('w1'), healthy('w1'), blocked('w1'), order);
  expect(later.isOpen()).toBe(true);
});

test('it is blocked again where the next agent on it is blocked, too', () => {
  const one = alertOfTask();
  one.report(blocked('w1'), ended('explicit', 'w1', 'case-1-1'), began('w2'), blocked('w2'));
  expect(one.isOpen()).toBe(true);
});

test('a task on which another agent is blocked stays blocked when the previous one ends or leaves', () => {
  for (const sign of [ended('crashed', 'w1'), left('w1')]) {
    const one = alertOfTask();
    one.report(blocked('w1'), blocked('w2'), sign);
    expect(one.isOpen()).toBe(true);
    one.report(ended('finished', 'w2'));
    expect(one.isOpen()).toBe(false);
  }
});

test.each([
  ['its agent has ended', ended('explicit')],
  ['another agent has started on it', began('w2')],
  ['another agent has finished it', ended('finished', 'w2')],
])(
  'a task does not stay blocked forever if alerting catches up and reads that %s before it reads of the block',
  (_, sign) => {
    const one = alertOfTask();
    one.readLate(sign);
    one.readLate(blocked('w1'), 30_000);
    expect(one.isOpen()).toBe(false);
  },
);

test('an end for the task is an end for all its agents', () => {
  const one = alertOfTask();
  one.report(blocked('w1'), blocked('w2'));
  one.ofTask(example(Topic.taskRecovery, 'REVIEW_DECIDED', { taskId: 'T-1' }));
  expect(one.isOpen()).toBe(false);
});
