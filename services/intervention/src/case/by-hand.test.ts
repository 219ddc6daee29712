import { type RecoverySettings, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import type { CaseDraft } from './state.ts';
import {
  agent,
  answered,
  asking,
  changed,
  decides,
  died,
  filed,
  ladder,
  lapsed,
  MIN,
  nudge,
  pause,
  receipt,
  recover,
  renewed,
  requests,
  T0,
  terminate,
} from './story.fixture.ts';

/** A person nudges by hand in the middle of a case; that takes two minutes. */
const nudged = (one: ReturnType<typeof agent>) => {
  expect(one.receive(requests('nudge'))).toEqual(['CASE_CLOSED superseded', 'asks nudge soft']);
  expect(one.admit()).toEqual(['CASE_OPENED', expect.stringMatching(/NUDGE_AGENT/), 'NUDGE_SENT 1/1']);
  expect(one.after(2 * MIN)).toEqual(['CASE_CLOSED executed']);
  return one;
};

test('nudged by hand while people are asked, the case continues with their question, its deadline and no further nudge', () => {
  const one = nudged(asking());
  expect(one.receive(renewed(ladder))).toEqual(['asks terminate soft']);
  const emitted = one.drafts(one.admitted());
  const deadlines = one
    .all()
    .flatMap((emitted) => (emitted.type === 'ESCALATION_TRIGGERED' ? [emitted.payload.deadlineAt] : []));
  expect(emitted).toMatchObject([
    { type: 'CASE_OPENED', payload: { note: 'continues with the question to people, where its case stood' } },
    { type: 'ESCALATION_TRIGGERED', payload: { caseId: 'case-warrant-1-2', options: expect.any(Array) } },
  ]);
  expect(deadlines).toEqual([deadlines[0], deadlines[0]]);
  expect(one.after(13 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

test('a case by hand has who requested it, and the reason', () => {
  const one = agent();
  one.receive(changed({}));
  one.receive(requests('nudge'));
  const [opened] = one.drafts(one.admitted());
  expect(opened).toMatchObject({ type: 'CASE_OPENED', payload: { requestedBy: expect.any(String), note: 'it hangs' } });
});

test('a request that is written twice under one id is executed once: while it is asked, while it is open, and after it', () => {
  const one = agent();
  one.receive(changed({}));
  const request = requests('nudge');
  expect(one.receive(request)).toEqual(['asks nudge soft']);
  expect(one.receive(request)).toEqual([]);
  one.admit();
  expect(one.receive(request)).toEqual([]);
  expect(one.after(2 * MIN)).toEqual(['CASE_CLOSED executed']);
  expect(one.receive(request)).toEqual([]);
});

test('the answer of people counts for the case that continues', () => {
  const one = nudged(asking());
  one.receive(renewed(ladder));
  one.admit();
  expect(one.receive(decides('pardon', { caseId: 'case-warrant-1-2' }))).toEqual([
    'ESCALATION_DECIDED pardon',
    'CASE_CLOSED pardoned',
  ]);
  expect(one.receive(renewed(ladder))).toEqual([]);
});

test('an agent that answers meanwhile leaves the question to people as it is', () => {
  const one = asking();
  one.receive(requests('nudge'));
  one.admit();
  one.receive(answered());
  one.after(2 * MIN);
  one.receive(renewed(ladder));
  expect(one.admit()).toEqual(['CASE_OPENED', 'ESCALATION_TRIGGERED terminate']);
});

test('a question whose time is over meanwhile is not put again', () => {
  const one = nudged(asking());
  one.after(13 * MIN);
  one.receive(renewed(ladder));
  expect(one.admit()).toEqual(['CASE_OPENED', 'asks terminate destructive']);
});

test('what only people can decide stays with them after any request by hand', () => {
  const plan = [nudge, { ...terminate, requires: ['hard'] }] as const;
  const one = agent();
  one.receive(filed(plan));
  one.admit();
  for (const _ of [2, 3]) {
    one.after(10 * MIN);
    one.admit();
  }
  expect(one.after(10 * MIN)).toEqual(['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold']);
  nudged(one);
  one.receive(renewed(plan));
  expect(one.admit()).toEqual(['CASE_OPENED', 'ESCALATION_TRIGGERED hold']);
  expect(one.after(60 * MIN)).toEqual([]);
});

test('nudged by hand between two nudges, the case continues with the next, when its time has come', () => {
  const one = agent();
  one.receive(filed(ladder));
  one.admit();
  one.after(4 * MIN);
  nudged(one);
  one.receive(renewed(ladder));
  expect(one.admit()).toEqual(['CASE_OPENED', 'withdraws case-warrant-1-2-r3']);
  expect(one.after(4 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks nudge soft']);
  expect(one.admit()).toEqual([expect.stringMatching(/NUDGE_AGENT/), 'NUDGE_SENT 2/3']);
});

test('more time that people have given is not taken back by a nudge by hand, nor given more often', () => {
  const one = agent();
  one.receive(filed([terminate]));
  one.admit();
  for (const _ of [1, 2]) one.receive(decides('allow_more_time', { forMs: 60 * MIN }));
  nudged(one);
  one.receive(renewed([terminate]));
  expect(one.admit()).toEqual(['CASE_OPENED']);
  const [refused] = one.receive(decides('allow_more_time', { caseId: 'case-warrant-1-2' }));
  expect(refused).toMatch(/^DECISION_REFUSED it has had more time 2 times/);
  expect(one.after(58 * MIN - 1)).toEqual([]);
  expect(one.after(1)).toEqual(['asks terminate destructive']);
});

const settings: RecoverySettings = {
  ...example(Topic.recoverTask, 'RECOVER_TASK').payload.recovery,
  onProbationFailure: 'review',
  maxAttempts: 1,
  emitHealthcheck: true,
};
const policy = { name: 'coditect', hash: 'abc' };
const handed = (drafts: readonly CaseDraft[]) =>
  drafts.flatMap((emitted) =>
    emitted.topic === Topic.recoverTask ? [{ recovery: emitted.payload.recovery, policy: emitted.policy }] : [],
  );

test('recovered by hand, a task is recovered by its policy’s settings, which the request or the open case has', () => {
  const requested = agent();
  requested.receive(died());
  requested.receive({ ...requests('terminate_and_recover', { recovery: settings }), policy });
  expect(handed(requested.drafts(requested.admitted()))).toEqual([{ recovery: settings, policy }]);
  const activeCase = agent();
  activeCase.receive({ ...filed([nudge, terminate, recover], { recovery: settings }), policy });
  activeCase.admit();
  activeCase.receive({ ...requests('terminate_and_recover'), policy: null });
  activeCase.admit();
  activeCase.admit();
  expect(handed(activeCase.drafts(receipt('done', 'case-event-1-2')))).toEqual([{ recovery: settings, policy }]);
});

test.each([T0 + 180 * MIN, null])(
  'a task is handed over with the end of the limit that its agent had reached: %s',
  (limitedUntil) => {
    const one = agent();
    one.receive(died());
    one.receive(filed([recover], { state: 'TERMINATED', endReason: 'crashed', limitedUntil }));
    one.admit();
    const handedOver = one
      .all()
      .flatMap((emitted) => (emitted.topic === Topic.recoverTask ? [emitted.payload.notBefore] : []));
    expect(handedOver).toEqual([limitedUntil]);
  },
);

test('without the policy’s settings, a task is recovered by CODITECT’s usual settings', () => {
  const one = agent();
  one.receive(died());
  one.receive(requests('terminate_and_recover'));
  const [emitted] = handed(one.drafts(one.admitted()));
  expect(emitted?.recovery).toMatchObject({ maxAttempts: 3, onProbationFailure: 'retry' });
});

test('an agent that is found alive before the ruling is ended first: no agent has died', () => {
  const one = agent();
  one.receive(died({ endReason: 'lost' }));
  expect(one.receive(requests('terminate_and_recover'))).toEqual(['asks terminate soft']);
  expect(one.receive(changed({ from: 'TERMINATED', to: 'HEALTHY' }))).toEqual([]);
  expect(one.admit()).toEqual(['CASE_OPENED', 'asks terminate destructive']);
  expect(one.admit()).toEqual(['order 1 TERMINATE_AGENT']);
});

test('more time that is given during a pause does not make it longer', () => {
  for (const ends of [false, true]) {
    const one = agent();
    one.receive(filed([pause, terminate, recover]));
    one.admit();
    one.receive(decides('allow_more_time', { forMs: 60 * MIN }));
    if (ends) one.receive(lapsed('progress'));
    expect(one.after(MIN - 1)).toEqual([]);
    const closed = ends ? ['CASE_CLOSED recovered'] : [];
    expect(one.after(1)).toEqual(['order 2 RESUME_AGENT', 'AGENT_RESUMED', ...closed]);
  }
});

test('a request that a later one replaces before its ruling is refused in its own chain, not in that of the later one', () => {
  const one = agent();
  one.receive({ ...requests('nudge'), correlationId: 'the first' });
  const [refused] = one.drafts({ ...requests('terminate'), eventId: 'event-9', correlationId: 'the second' });
  expect(refused).toMatchObject({ type: 'DECISION_REFUSED', correlationId: 'the first' });
});

test('a person whose request has no effect is notified of the reason, also before the ruling', () => {
  const one = agent();
  one.receive(requests('nudge'));
  expect(one.receive({ ...requests('terminate'), eventId: 'event-9' })).toEqual([
    expect.stringMatching(/^DECISION_REFUSED .* asks for terminate$/),
    'withdraws case-event-1-r1',
    'asks terminate soft',
  ]);
  expect(one.receive(died())).toEqual(['withdraws case-event-9-r2', 'DECISION_REFUSED the instance has ended']);
  expect(one.situation()).toBe('quiet');
  const warranted = agent();
  warranted.receive(filed());
  expect(warranted.receive(lapsed('progress'))).toEqual(['withdraws case-warrant-1-r1']);
});

test('a restart by hand is one terminate, whose runtime starts the same command again; nothing recovers the task', () => {
  const restarts = (step: 'restart' | 'terminate') => {
    const one = agent();
    expect(one.receive(requests(step))).toEqual(['asks terminate soft']);
    one.admit();
    const orders = one.drafts(one.admitted()).filter(({ type }) => type === 'TERMINATE_AGENT');
    expect(orders).toMatchObject([{ payload: { restart: step === 'restart' } }]);
    return { one, orderId: orders[0]?.type === 'TERMINATE_AGENT' ? orders[0].payload.orderId : '' };
  };
  restarts('terminate');
  const { one, orderId } = restarts('restart');
  const after = one.receive(receipt('done', orderId));
  expect(after).toContain('CASE_CLOSED executed');
  expect(after.join()).not.toContain('RECOVER_TASK');
});

const orderOf = (one: ReturnType<typeof agent>): string =>
  one.drafts(one.admitted()).flatMap((draft) => ('orderId' in draft.payload ? [draft.payload.orderId] : []))[0] ?? '';

describe.each([
  ['nudge', MIN],
  ['handoff', 5 * MIN],
] as const)('a %s by hand', (step, waitMs) => {
  const ordered = () => {
    const one = agent();
    one.receive(changed({}));
    one.receive(requests(step));
    return { one, orderId: orderOf(one) };
  };
  const endOf = (drafts: readonly CaseDraft[]) =>
    drafts.flatMap((draft) => (draft.type === 'CASE_CLOSED' ? [[draft.payload.ending, draft.payload.why]] : []));

  test.each(['expired', 'failed', 'superseded'] as const)(
    'that is %s ends so, with the reason of its runtime',
    (outcome) => {
      const { one, orderId } = ordered();
      one.after(waitMs - 10_000);
      const reported = one.drafts(receipt(outcome, orderId, { why: 'the agent asks a question' }));
      expect(endOf(reported)).toEqual([[outcome, 'it has not reached the agent: the agent asks a question']]);
    },
  );

  test('that its runtime could not deliver ends at once', () => {
    const { one, orderId } = ordered();
    expect(one.receive(receipt('failed', orderId, { why: null }))).toEqual(['CASE_CLOSED failed']);
  });

  test.each(['delivered', 'uncertain'] as const)('that is %s ends as executed when its time is over', (outcome) => {
    const { one, orderId } = ordered();
    expect(one.receive(receipt(outcome, orderId))).toEqual([]);
    expect(one.after(waitMs - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['CASE_CLOSED executed']);
  });

  test('waits for its receipt until its time is over, and its order expires before, so that the runtime can report it', () => {
    const one = agent();
    one.receive(changed({}));
    one.receive(requests(step));
    const ttls = one.drafts(one.admitted()).flatMap(({ payload }) => ('ttlMs' in payload ? [payload.ttlMs] : []));
    expect(ttls).toEqual([waitMs - 10_000]);
    expect(one.after(waitMs - 1)).toEqual([]);
    expect(one.after(1)).toEqual(['CASE_CLOSED executed']);
  });
});

const blocks = (eventId = 'event-7') => ({
  ...example(Topic.decideCase, 'BLOCK_TASK', {
    agentId: 'worker-1',
    taskId: 'T-1',
    attempts: 3,
    checkpoint: 'file:///c-1',
    why: 'stalled',
  }),
  eventId,
});

test('a task that a person blocks is left to people, with its attempts and checkpoint; an open case continues as before', () => {
  const one = asking();
  const [blocked, ...others] = one.drafts(blocks());
  expect(blocked).toMatchObject({
    type: 'TASK_BLOCKED',
    payload: { taskId: 'T-1', attempt: 2, reason: 'stalled', checkpoint: { uri: 'file:///c-1' } },
  });
  expect(others).toEqual([]);
  expect(one.receive(decides('pardon'))).toEqual(['ESCALATION_DECIDED pardon', 'CASE_CLOSED pardoned']);
});

test('a task is blocked also after its agent has ended, and while its terminate is under way', () => {
  const ended = agent();
  ended.receive(died());
  expect(ended.drafts(blocks()).map(({ type }) => type)).toEqual(['TASK_BLOCKED']);
  const ending = agent();
  ending.receive(requests('terminate'));
  ending.admit();
  ending.admit();
  expect(ending.drafts(blocks()).map(({ type }) => type)).toEqual(['TASK_BLOCKED']);
});
