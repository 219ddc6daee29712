import { expect, test } from 'vitest';
import type { CaseDraft } from './state.ts';
import {
  agent,
  answered,
  changed,
  died,
  escalate,
  filed,
  ladder,
  lapsed,
  MIN,
  nudge,
  RECEIPT_DUE,
  receipt,
  recover,
  renewed,
  started,
  T0,
  terminate,
} from './story.fixture.ts';

test('a case takes the steps of the usual plan, one by one, each with its own ruling', () => {
  const one = agent();
  expect(one.receive(filed())).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/3']);
  expect(one.after(10 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual(['order 2 NUDGE_AGENT', 'NUDGE_SENT 2/3']);
  expect(one.after(10 * MIN)).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual(['order 3 NUDGE_AGENT', 'NUDGE_SENT 3/3']);
  expect(one.after(10 * MIN)).toEqual(['ESCALATION_TRIGGERED terminate']);
  expect(one.after(15 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
  expect(one.admit()).toEqual(['order 4 TERMINATE_AGENT']);
  expect(one.receive(receipt('done', 'case-warrant-1-4'))).toEqual([
    'AGENT_TERMINATED',
    'RECOVER_TASK',
    'CASE_CLOSED executed',
  ]);
  expect(one.situation()).toBe('quiet');
});

test('an order carries what its finding awaits, by the newest renewal', () => {
  const one = agent();
  const findingOf = (drafts: readonly CaseDraft[]) =>
    drafts.flatMap((draft) => (draft.type === 'NUDGE_AGENT' ? [draft.payload] : []));
  one.receive(filed(ladder, { awaits: [['checkpoint']], foldedSequence: 5 }));
  expect(findingOf(one.drafts(one.admitted()))).toMatchObject([{ awaits: [['checkpoint']], foldedSequence: 5 }]);
  one.receive(renewed(ladder, { awaits: [['checkpoint'], ['call']], foldedSequence: 8 }));
  one.after(10 * MIN);
  expect(findingOf(one.drafts(one.admitted()))).toMatchObject([
    { awaits: [['checkpoint'], ['call']], foldedSequence: 8 },
  ]);
});

test('an order names its agent, its deadline, and what its finding had seen', () => {
  const one = agent();
  one.receive(filed());
  const [, order, sent] = one.drafts(one.admitted());
  expect(order).toMatchObject({
    key: 'worker-1',
    correlationId: 'correlation-1',
    payload: {
      orderId: 'case-warrant-1-1',
      number: 1,
      instanceId: 'worker-1.i1',
      runtimeId: 'host-1',
      ttlMs: 10 * MIN,
      axes: ['absence'],
      attempt: 1,
      message: 'working for 12 minutes',
    },
  });
  expect(sent?.payload).toMatchObject({ orderId: 'case-warrant-1-1', message: 'working for 12 minutes', of: 3 });
});

test('each nudge names the time at which it is sent, and not the time of the finding', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  one.after(9 * MIN);
  one.receive(renewed(ladder, { workedMinutes: 21 }));
  one.after(MIN);
  one.admit();
  one.after(10 * MIN);
  one.admit();
  const sent = one.all().flatMap((draft) => (draft.type === 'NUDGE_SENT' ? [draft.payload.message] : []));
  expect(sent).toEqual(['working for 12 minutes', 'working for 22 minutes', 'working for 32 minutes']);
});

test('recovery gets the checkpoint and the work that the receipt reports', () => {
  const one = agent();
  one.receive(filed([terminate, recover]));
  one.admit();
  one.admit();
  const done = receipt('done', 'case-warrant-1-1', { completedWork: ['parse'], remainingWork: ['print'] });
  const [, order] = one.drafts(done);
  expect(order).toMatchObject({
    key: 'OMN-1234',
    payload: {
      agentId: 'worker-1',
      confirmed: true,
      immediate: false,
      by: null,
      completedWork: ['parse'],
      remainingWork: ['print'],
      idleMinutes: 12,
      checkpoint: { checkpointId: 'checkpoint-1' },
    },
  });
});

test('an agent that progresses closes its case as recovered at any step, and nothing follows', () => {
  const waits: readonly ((one: ReturnType<typeof agent>) => unknown)[] = [
    (one) => one.admit(),
    (one) => [one.admit(), one.after(10 * MIN)],
    (one) => [one.admit(), one.after(10 * MIN), one.admit(), one.after(10 * MIN), one.admit(), one.after(10 * MIN)],
  ];
  for (const go of waits) {
    const one = agent();
    one.receive(filed());
    go(one);
    expect(one.receive(lapsed('progress')).at(-1)).toBe('CASE_CLOSED recovered');
    expect(one.all().at(-1)?.payload).toMatchObject({ why: 'the finding has ended' });
    expect(one.after(24 * 60 * MIN)).toEqual([]);
  }
});

test('progress before the first admission opens no case', () => {
  const one = agent();
  one.receive(filed());
  expect(one.receive(lapsed('progress'))).toEqual(['withdraws case-warrant-1-r1']);
  expect(one.admit()).toEqual([]);
  expect(one.situation()).toBe('quiet');
});

test('a terminate that waits for its ruling is withdrawn when the agent progresses', () => {
  const one = agent();
  one.receive(filed([terminate, recover]));
  expect(one.admit()).toEqual(['CASE_OPENED', 'asks terminate destructive']);
  expect(one.receive(lapsed('progress'))).toEqual(['withdraws case-warrant-1-r2', 'CASE_CLOSED recovered']);
  expect(one.admit()).toEqual([]);
});

test('a lapse of another warrant changes nothing', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  expect(one.receive(lapsed('progress', 'warrant-0'))).toEqual([]);
  expect(one.situation()).toBe('open');
});

test('an answer ends the nudging; the waits continue', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  expect(one.receive(answered())).toEqual([]);
  expect(one.after(30 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['ESCALATION_TRIGGERED terminate']);
});

test('an answer while a nudge is asked for withdraws it', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  one.after(10 * MIN);
  one.receive(answered());
  expect(one.admit()).toEqual(['withdraws case-warrant-1-r2']);
  expect(one.after(30 * MIN)).toEqual(['ESCALATION_TRIGGERED terminate']);
});

test('a lease that is not renewed ends the case as expired, and its next renewal opens another', () => {
  const one = agent();
  one.receive(filed(ladder, { voidAt: T0 + 3 * MIN }));
  one.admit();
  expect(one.after(3 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['CASE_CLOSED expired']);
  expect(one.receive(renewed())).toEqual(['asks nudge soft']);
  expect(one.drafts(one.admitted())[0]?.payload).toMatchObject({ caseId: 'case-warrant-1-2' });
});

test('a renewal keeps the case going, and opens none after one was worked', () => {
  const one = agent();
  one.receive(filed([nudge], { voidAt: T0 + 3 * MIN }));
  one.admit();
  one.after(2 * MIN);
  expect(one.receive(renewed([nudge]))).toEqual([]);
  one.after(8 * MIN);
  one.admit();
  one.after(10 * MIN);
  one.admit();
  expect(one.after(10 * MIN)).toEqual(['CASE_CLOSED executed']);
  expect(one.receive(renewed([nudge]))).toEqual([]);
  expect(one.receive(renewed([nudge], { episodeId: 'worker-1.e2', warrantId: 'warrant-2' }))).toEqual([
    'asks nudge soft',
  ]);
});

test('a renewal opens a case where none was opened for its episode', () => {
  const one = agent();
  expect(one.receive(renewed())).toEqual(['asks nudge soft']);
});

test('the same warrant, received twice, opens one case', () => {
  const one = agent();
  one.receive(filed());
  expect(one.receive(filed())).toEqual([]);
  one.admit();
  expect(one.receive(filed())).toEqual([]);
  expect(one.all().filter(({ type }) => type === 'CASE_OPENED')).toHaveLength(1);
});

test('a worse state continues with the first step of its plan that has not been done', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  expect(one.receive(renewed([terminate, recover], { state: 'FAILING' }))).toEqual(['asks terminate destructive']);
  expect(one.admit()).toEqual(['order 2 TERMINATE_AGENT']);
});

test('a step that is under way in both plans continues where it is', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  one.after(5 * MIN);
  expect(one.receive(renewed([nudge, terminate], { state: 'FAILING' }))).toEqual([]);
  expect(one.after(5 * MIN)).toEqual(['asks nudge soft']);
  one.admit();
  one.after(10 * MIN);
  expect(one.admit()).toEqual(['order 3 NUDGE_AGENT', 'NUDGE_SENT 3/3']);
  expect(one.after(10 * MIN)).toEqual(['asks terminate destructive']);
});

test('a worse state takes back what was asked under the previous plan', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  one.after(10 * MIN);
  expect(one.receive(renewed([escalate, terminate], { state: 'FAILING' }))).toEqual([
    'withdraws case-warrant-1-r2',
    'ESCALATION_TRIGGERED terminate',
  ]);
});

test('a state that is not worse keeps the plan that the case began with', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  expect(one.receive(renewed([terminate, recover], { state: 'STUCK' }))).toEqual([]);
  expect(one.receive(renewed([terminate, recover], { state: 'DEGRADED' }))).toEqual([]);
});

test('the end of the instance closes the case as superseded; the crash files its own warrant', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  expect(one.receive(died())).toEqual(['CASE_CLOSED superseded']);
  const crash = filed([recover], { warrantId: 'warrant-2', state: 'TERMINATED', endReason: 'crashed' });
  expect(one.receive(crash)).toEqual(['asks recover soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', 'RECOVER_TASK', 'CASE_CLOSED executed']);
});

test('the warrant of a crash may come before the end itself', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  const crash = filed([recover], { warrantId: 'warrant-2', state: 'TERMINATED', endReason: 'crashed' });
  expect(one.receive(crash)).toEqual(['CASE_CLOSED superseded', 'asks recover soft']);
  expect(one.receive(died())).toEqual([]);
  expect(one.admit()).toEqual(['CASE_OPENED', 'RECOVER_TASK', 'CASE_CLOSED executed']);
  expect(one.receive(filed([recover], { warrantId: 'warrant-3', state: 'TERMINATED', endReason: 'crashed' }))).toEqual(
    [],
  );
});

test('another instance ends the case, and later events about the previous one change nothing', () => {
  const one = agent();
  one.receive(filed());
  one.admit();
  expect(one.receive(started('worker-1.i2'))).toEqual(['CASE_CLOSED superseded']);
  expect(one.receive(filed(ladder, { warrantId: 'warrant-9' }))).toEqual([]);
  expect(one.receive(filed(ladder, { warrantId: 'warrant-2', instanceId: 'worker-1.i2' }))).toEqual([
    'asks nudge soft',
  ]);
  one.admit();
  expect(one.receive(died())).toEqual([]);
  expect(one.receive(changed({ to: 'DEGRADED', instanceId: 'worker-1.i1' }))).toEqual([]);
  expect(one.situation()).toBe('open');
});

test('numbers rise from case to case, and start again with another instance', () => {
  const one = agent();
  one.receive(filed([nudge]));
  one.admit();
  one.receive(lapsed('progress'));
  one.receive(filed([nudge], { warrantId: 'warrant-2' }));
  expect(one.admit()).toContain('order 2 NUDGE_AGENT');
  one.receive(started('worker-1.i2'));
  one.receive(filed([nudge], { warrantId: 'warrant-3', instanceId: 'worker-1.i2' }));
  expect(one.admit()).toContain('order 1 NUDGE_AGENT');
});

test('halted, no case opens: the request is kept, the renewal asks no second time, and the case opens when the halt is over', () => {
  const one = agent();
  one.receive(filed());
  expect(one.withhold('halted')).toEqual([]);
  expect(one.receive(renewed())).toEqual([]);
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/3']);
});

test('halted, a finding that lapses before its case opens withdraws the request', () => {
  const one = agent();
  one.receive(filed());
  one.withhold('halted');
  expect(one.receive(lapsed('progress'))).toEqual(['withdraws case-warrant-1-r1']);
  expect(one.situation()).toBe('quiet');
});

test('a ruling that comes after its time opens no case, and the renewal asks again', () => {
  const one = agent();
  one.receive(filed([terminate]));
  expect(one.admit({ validUntil: T0 - 1 })).toEqual(['withdraws case-warrant-1-r1']);
  expect(one.receive(renewed([terminate]))).toEqual(['asks terminate soft']);
  expect(one.admit({ validUntil: T0 })).toEqual(['CASE_OPENED', 'asks terminate destructive']);
});

test('a ruling that comes after its time within a case is given back, and asked for again 10 s later: nothing that was done is done again', () => {
  const one = agent();
  one.receive(filed([{ ...nudge, attempts: 1 }, terminate]));
  expect(one.admit()).toEqual(['CASE_OPENED', 'order 1 NUDGE_AGENT', 'NUDGE_SENT 1/1']);
  expect(one.after(nudge.intervalMs)).toEqual(['asks terminate destructive']);
  const requestId = 'case-warrant-1-r2';
  expect(one.admit({ validUntil: one.clock().now - 1 })).toEqual([`withdraws ${requestId}`]);
  expect(one.receive(renewed([{ ...nudge, attempts: 1 }, terminate]))).toEqual([]);
  expect(one.after(9_999)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
  expect(one.admit()).toEqual(['order 2 TERMINATE_AGENT']);
});

test('a ruling on something else is ignored', () => {
  const one = agent();
  one.receive(filed());
  expect(one.admit({ requestId: 'case-warrant-0-r7' })).toEqual([]);
  expect(one.situation()).toBe('asking');
});

test('an agent without runtime or instance is nudged and escalated, and people decide on the rest', () => {
  for (const [rest, why] of [
    [{ runtimeId: null }, 'no_runtime'] as const,
    [{ instanceId: null }, 'no_instance'] as const,
  ]) {
    const one = agent();
    one.receive(filed([nudge, escalate, terminate, recover], rest));
    const [opened] = one.drafts(one.admitted());
    expect(opened?.payload).toMatchObject({ note: expect.stringContaining('nudges, escalations and alerts only') });
    one.after(10 * MIN);
    one.admit();
    one.after(10 * MIN);
    one.admit();
    one.after(10 * MIN);
    expect(one.after(15 * MIN)).toEqual([`STEP_SKIPPED terminate ${why}`, 'ESCALATION_TRIGGERED hold']);
    expect(one.after(10 * 60 * MIN)).toEqual([]);
  }
});

test('alerts and blocks are emitted at once', () => {
  const one = agent();
  one.receive(
    filed([
      { step: 'alert', channel: 'ops', severity: 'warning' },
      { step: 'block', reason: 'see {task}' },
    ]),
  );
  expect(one.admit()).toEqual(['CASE_OPENED', 'ALERT_REQUESTED', 'TASK_BLOCKED', 'CASE_CLOSED executed']);
});

test('a block reports the attempt of the task', () => {
  const one = agent();
  one.receive(filed([{ step: 'block', reason: 'no way on' }], { attempt: 2 }));
  const blocked = one.drafts(one.admitted()).filter(({ type }) => type === 'TASK_BLOCKED');
  expect(blocked).toMatchObject([{ payload: { attempt: 2 } }]);
});

test.each([
  [null, false],
  ['crashed', true],
  ['lost', true],
] as const)('a recovery and a block report whether the agent ended by itself: %s, %s', (endReason, endedByItself) => {
  for (const [plan, type] of [
    [[{ step: 'block', reason: 'ended: {task}' }], 'TASK_BLOCKED'],
    [[terminate, recover], 'RECOVER_TASK'],
  ] as const) {
    const one = agent();
    one.receive(filed(plan as never, endReason === null ? {} : { state: 'TERMINATED', endReason }));
    const drafts = [
      ...one.drafts(one.admitted()),
      ...(endReason === null && type === 'RECOVER_TASK'
        ? [...one.drafts(one.admitted()), ...one.drafts(receipt('done', 'case-warrant-1-1'))]
        : []),
    ];
    expect(drafts.find((draft) => draft.type === type)?.payload).toMatchObject({ endedByItself });
  }
});

test('a quiet state is small after any history', () => {
  const one = agent();
  for (let i = 1; i <= 30; i++) {
    one.receive(filed([terminate, recover], { warrantId: `warrant-${i}`, episodeId: `e${i}`, instanceId: `i${i}` }));
    one.admit();
    one.admit();
    one.receive(receipt('done', `case-warrant-${i}-1`));
    one.after(RECEIPT_DUE);
  }
  expect(one.situation()).toBe('quiet');
  expect(JSON.stringify(one.state()).length).toBeLessThan(600);
});

test('the recovery, the alert and the question about an ended agent carry the last lines that it printed', () => {
  const lastOutput = ['Traceback (most recent call last):', 'KeyError: 7'];
  const crash = (plan: Parameters<typeof filed>[0]) =>
    filed(plan, { state: 'TERMINATED', endReason: 'crashed', lastOutput });
  const emitted = (plan: Parameters<typeof filed>[0]) => {
    const one = agent();
    one.receive(crash(plan));
    return one.drafts(one.admitted());
  };
  expect(emitted([recover]).find(({ type }) => type === 'RECOVER_TASK')?.payload).toMatchObject({ lastOutput });
  const alerted = emitted([{ step: 'alert', channel: null, severity: 'warning' }]);
  const text = expect.stringMatching(/\. Its last output:\nTraceback \(most recent call last\):\nKeyError: 7$/);
  expect(alerted.find(({ type }) => type === 'ALERT_REQUESTED')?.payload).toMatchObject({ text });
  const asked = emitted([escalate]);
  expect(asked.find(({ type }) => type === 'ESCALATION_TRIGGERED')?.payload).toMatchObject({ reason: text });
});
