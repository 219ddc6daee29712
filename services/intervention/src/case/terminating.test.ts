import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import {
  agent,
  answered,
  died,
  escalate,
  filed,
  handoff,
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
  terminating,
} from './story.fixture.ts';

const unconfirmed = ['TERMINATION_UNCONFIRMED', 'ALERT_REQUESTED', 'CASE_CLOSED failed'];
const acknowledgedDeath = ['AGENT_TERMINATED', 'RECOVER_TASK', 'CASE_CLOSED executed'];

test('from the order of a terminate on, only its receipt moves the case', () => {
  const one = terminating();
  expect(one.receive(lapsed('progress'))).toEqual([]);
  expect(one.receive(answered())).toEqual([]);
  expect(one.receive(renewed([terminate], { state: 'FAILING' }))).toEqual([]);
  expect(one.receive(started('worker-1.i2'))).toEqual([]);
  expect(one.receive(receipt('delivered', 'case-warrant-1-1'))).toEqual([]);
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual(acknowledgedDeath);
});

test('a terminate that is superseded or expired where it is delivered ends the case as that', () => {
  for (const outcome of ['superseded', 'expired'] as const) {
    const one = terminating();
    expect(one.receive(receipt(outcome, 'case-warrant-1-1'))).toEqual([`CASE_CLOSED ${outcome}`]);
    expect(one.after(RECEIPT_DUE)).toEqual([]);
  }
});

test('a terminate that failed, is uncertain, or done without a death seen goes to people, and nothing is spawned', () => {
  for (const outcome of ['failed', 'uncertain', 'done'] as const) {
    const one = terminating();
    expect(one.receive(receipt(outcome, 'case-warrant-1-1', { confirmed: false }))).toEqual(unconfirmed);
  }
});

test('a runtime that takes all the time that an end can take is not taken for one that confirms none', () => {
  const [timeToLive, grace, kill, left, farewell, cleanup, release] = [
    60_000, 10_000, 10_000, 15_250, 3000, 30_000, 30_000,
  ];
  const one = terminating();
  expect(one.after(timeToLive + grace + kill + left + farewell + cleanup + release)).toEqual([]);
});

test('no receipt within time to live, grace, ending and clean-up: unconfirmed, not a moment earlier', () => {
  const one = terminating();
  expect(one.after(RECEIPT_DUE - 1)).toEqual([]);
  expect(one.after(1)).toEqual(unconfirmed);
});

test('a late receipt is still accepted, once, and continues the plan', () => {
  const one = terminating();
  one.after(RECEIPT_DUE);
  expect(one.receive(receipt('failed', 'case-warrant-1-1'))).toEqual([]);
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual(acknowledgedDeath);
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual([]);
});

test('a death that a person confirms continues the plan, and its own warrant opens no second recovery', () => {
  const one = terminating();
  one.after(RECEIPT_DUE);
  expect(one.receive(died({ endReason: 'lost' }))).toEqual(acknowledgedDeath);
  expect(one.receive(filed([recover], { warrantId: 'warrant-2', endReason: 'lost', state: 'TERMINATED' }))).toEqual([]);
});

test('an end seen while the receipt is awaited waits for it, and counts where none comes', () => {
  const waiting = terminating();
  expect(waiting.receive(died())).toEqual([]);
  expect(waiting.receive(receipt('done', 'case-warrant-1-1'))).toEqual(acknowledgedDeath);
  const silent = terminating();
  silent.receive(died());
  expect(silent.after(RECEIPT_DUE)).toEqual(acknowledgedDeath);
});

test('a death that a person confirms while the receipt is awaited continues the plan at once, and a late receipt changes nothing', () => {
  const one = terminating();
  expect(one.receive(died({ endReason: 'lost' }))).toEqual(acknowledgedDeath);
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual([]);
  expect(one.after(RECEIPT_DUE)).toEqual([]);
});

test('a crash that overtakes the terminate is recovered by its own warrant', () => {
  const one = terminating();
  one.receive(died());
  one.receive(filed([recover], { warrantId: 'warrant-2', endReason: 'crashed', state: 'TERMINATED' }));
  expect(one.receive(receipt('superseded', 'case-warrant-1-1'))).toEqual([
    'CASE_CLOSED superseded',
    'asks recover soft',
  ]);
});

test('an unconfirmed terminate opens no other case in its episode; another instance forgets it', () => {
  const one = terminating();
  one.after(RECEIPT_DUE);
  expect(one.receive(renewed([terminate]))).toEqual([]);
  expect(one.receive(filed([terminate], { warrantId: 'warrant-2' }))).toEqual([]);
  one.receive(started('worker-1.i2'));
  expect(one.situation()).toBe('quiet');
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual([]);
});

test('receipts for unknown orders, and twice, change nothing', () => {
  const one = terminating();
  expect(one.receive(receipt('done', 'case-warrant-0-1'))).toEqual([]);
  one.receive(receipt('done', 'case-warrant-1-1'));
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual([]);
});

test('a receipt of another kind than its order changes nothing: that of a nudge confirms no end', () => {
  const one = terminating();
  for (const kind of ['nudge', 'handoff', 'resume_session'] as const)
    for (const outcome of ['done', 'halted', 'superseded', 'expired', 'failed'] as const)
      expect(one.receive(receipt(outcome, 'case-warrant-1-1', { kind }))).toEqual([]);
  expect(one.after(RECEIPT_DUE)).toEqual(unconfirmed);
  expect(one.receive(receipt('done', 'case-warrant-1-1', { kind: 'nudge' }))).toEqual([]);
  expect(one.receive(receipt('done', 'case-warrant-1-1', { kind: 'terminate' }))).toEqual(acknowledgedDeath);
});

test('a plan whose runtime never answers comes to an end, spawns nothing, and people are notified', () => {
  const one = agent();
  const plan = [{ ...nudge, attempts: 2 }, handoff, terminate, recover];
  const emitted = [...one.receive(filed(plan, { runtimeId: 'ghost' }))];
  while (one.situation() !== 'unconfirmed' && one.clock().now < T0 + 60 * MIN)
    emitted.push(...(emitted.at(-1)?.startsWith('asks') ? one.admit() : one.after(MIN)));
  expect(emitted).toContain('order 4 TERMINATE_AGENT');
  expect(emitted.slice(-3)).toEqual(unconfirmed);
  expect(emitted).not.toContain('RECOVER_TASK');
});

const unmet = ['STEP_SKIPPED terminate requires', 'ESCALATION_TRIGGERED hold'];
const binding = { ...terminate, requires: ['hard', 'two_axes', 'unanswered'] as const };

test('a terminate with conditions needs one of them: a hard signal, or two axes', () => {
  const outcomes = [
    [{ hard: true }, ['asks terminate destructive']],
    [{ axes: ['absence', 'cost'] }, ['asks terminate destructive']],
    [{ axes: ['absence', 'absence'] }, unmet],
  ] as const;
  for (const [rest, expected] of outcomes) {
    const one = agent();
    one.receive(filed([binding, recover], rest));
    expect(one.admit().slice(1)).toEqual(expected);
  }
});

const evidenced = (...confidences: readonly ('high' | 'medium' | 'low' | 'UNKNOWN')[]) => {
  const [one] = example(Topic.agentHealth, 'WARRANT_FILED').payload.evidence;
  return { evidence: one === undefined ? [] : confidences.map((confidence) => ({ ...one, confidence })) };
};

test.each([
  ['high', ['high'], true],
  ['high', ['low', 'high'], true],
  ['high', ['medium', 'medium'], false],
  ['high', [], false],
  ['two_medium', ['medium', 'medium'], true],
  ['two_medium', ['high', 'medium'], true],
  ['two_medium', ['medium', 'low'], false],
  ['two_medium', ['high'], false],
  ['two_medium', ['UNKNOWN', 'medium'], false],
] as const)(
  'a terminate that requires %s, with evidence of confidence %j, is asked for: %s',
  (required, confidences, isMet) => {
    const one = agent();
    one.receive(filed([{ ...terminate, requires: [required] }, recover], evidenced(...confidences)));
    expect(one.admit().slice(1)).toEqual(isMet ? ['asks terminate destructive'] : unmet);
  },
);

test('unanswered means: every nudge delivered or not deliverable, and no answer', () => {
  const play = (...receipts: ReturnType<typeof receipt>[]) => {
    const one = agent();
    one.receive(filed([{ ...nudge, attempts: 1 }, binding]));
    one.admit();
    for (const each of receipts) one.receive(each);
    return [...one.after(10 * MIN), ...one.after(2 * MIN)];
  };
  expect(play(receipt('delivered', 'case-warrant-1-1'))).toEqual(['asks terminate destructive']);
  expect(play()).toEqual(unmet);
  expect(play(receipt('expired', 'case-warrant-1-1'))).toEqual(['asks terminate destructive']);
  expect(play(receipt('superseded', 'case-warrant-1-1'))).toEqual(unmet);
  expect(play(receipt('delivered', 'case-warrant-1-1'), receipt('answered', 'case-warrant-1-1'))).toEqual(unmet);
});

test('an answer while the terminate waits for its ruling unmakes it', () => {
  const one = agent();
  one.receive(filed([{ ...nudge, attempts: 1 }, binding]));
  one.admit();
  one.receive(receipt('delivered', 'case-warrant-1-1'));
  one.after(10 * MIN);
  one.receive(answered());
  expect(one.admit()).toEqual(['withdraws case-warrant-1-r2', ...unmet]);
});

test('the order and the events of an end report what was done', () => {
  const one = terminating([{ ...terminate, leave: 'released', release: ['claims'] }]);
  expect(one.all().at(-1)?.payload).toMatchObject({
    ttlMs: 60_000,
    graceMs: 10_000,
    cleanupMs: 30_000,
    leave: 'released',
  });
  const [end] = one.drafts(receipt('done', 'case-warrant-1-1', { forced: true, claimsReleased: ['c1'] }));
  expect(end?.payload).toMatchObject({ confirmed: true, forced: true, claimsReleased: ['c1'], taskLeft: 'released' });
});

test('a death confirmed counts at once where the runtime has answered without one', () => {
  const one = terminating();
  one.receive(receipt('done', 'case-warrant-1-1', { confirmed: false }));
  expect(one.receive(died({ endReason: 'lost' }))).toEqual(acknowledgedDeath);
});

test('an end that the evaluator infers from a long silence confirms no death: nothing is recovered', () => {
  const inferred = { endReason: 'lost', endReported: false } as const;
  const one = terminating();
  one.receive(receipt('done', 'case-warrant-1-1', { confirmed: false }));
  expect(one.receive(died(inferred)).filter((emitted) => /AGENT_TERMINATED|RECOVER/.test(emitted))).toEqual([]);
  const waiting = terminating();
  expect(waiting.receive(died(inferred)).filter((emitted) => /AGENT_TERMINATED|RECOVER/.test(emitted))).toEqual([]);
  expect(waiting.after(60 * MIN).filter((emitted) => /AGENT_TERMINATED|RECOVER/.test(emitted))).toEqual([]);
});

test('an end that a case has brought about opens no other case, whether its task is recovered or not', () => {
  const one = terminating([terminate]);
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual(['AGENT_TERMINATED', 'CASE_CLOSED executed']);
  expect(one.receive(filed([recover], { warrantId: 'warrant-2', endReason: 'explicit', state: 'TERMINATED' }))).toEqual(
    [],
  );
});

test('what follows a confirmed death needs no lease', () => {
  const one = agent();
  one.receive(filed([terminate, escalate, recover], { voidAt: T0 + 3 * MIN }));
  one.admit();
  one.admit();
  one.receive(receipt('done', 'case-warrant-1-1'));
  expect(one.receive(lapsed('ended'))).toEqual([]);
  expect(one.after(15 * MIN)).toEqual(['RECOVER_TASK', 'CASE_CLOSED executed']);
});

test('an agent without a task is ended by its plan, and nothing is recovered under its name', () => {
  const one = agent();
  one.receive(filed([terminate, recover], { taskId: null }));
  one.admit();
  one.admit();
  expect(one.receive(receipt('done', 'case-warrant-1-1'))).toEqual([
    'AGENT_TERMINATED',
    'STEP_SKIPPED recover no_task',
    'CASE_CLOSED executed',
  ]);
  const crashed = agent();
  crashed.receive(filed([recover], { taskId: null, endReason: 'crashed' }));
  expect(crashed.admit()).toEqual(['CASE_OPENED', 'STEP_SKIPPED recover no_task', 'CASE_CLOSED executed']);
});
