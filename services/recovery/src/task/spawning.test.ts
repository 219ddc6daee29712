import { expect, test } from 'vitest';
import { dueAt } from './decide.ts';
import {
  admit,
  find,
  openStory,
  receipt,
  recoverTask,
  review,
  start,
  TASK,
  took,
  turned,
  types,
  withhold,
} from './story.fixture.ts';

test('a withheld spawn is requested again, ever more slowly, and counts no attempt', () => {
  const story = openStory();
  story.receive(recoverTask());
  const waits = [5_000, 10_000, 20_000, 60_000, 60_000];
  waits.forEach((wait, at) => {
    withhold(story);
    expect(story.wait(wait - 1)).toEqual([]);
    expect(find(story.wait(1), 'ADMIT_SPAWN')).toMatchObject({ requestId: `e1-${at + 2}`, attempt: 1 });
  });
});

test('an admission is used up to the end of its validity, and not after it; one of a dry run is not used', () => {
  const valid = openStory();
  valid.receive(recoverTask());
  expect(types(admit(valid, { validUntil: start }))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
  for (const [ruling, emitted] of [
    [{ validUntil: start - 1 }, ['WITHDRAW_STEP']],
    [{ dryRun: true }, []],
  ] as const) {
    const story = openStory();
    story.receive(recoverTask());
    expect(types(admit(story, ruling))).toEqual(emitted);
    expect(types(story.wait(5_000))).toEqual(['ADMIT_SPAWN']);
  }
});

test('an admission that is read too late returns to the budget, once, and the spawn is requested again', () => {
  const story = openStory();
  story.receive(recoverTask());
  expect(find(admit(story, { validUntil: start - 1 }), 'WITHDRAW_STEP')).toMatchObject({ requestId: 'e1-1' });
  expect(find(story.wait(5_000), 'ADMIT_SPAWN')).toMatchObject({ requestId: 'e1-2' });
  expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
});

test('a ruling on an older request changes nothing', () => {
  const story = openStory();
  story.receive(recoverTask());
  withhold(story);
  story.wait(5_000);
  expect(admit(story, { requestId: 'e1-1' })).toEqual([]);
  expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
});

test.each(['failed', 'expired', 'superseded'] as const)(
  'a spawn that is %s uses an attempt; its receipt twice uses one',
  (outcome) => {
    const story = openStory();
    story.receive(recoverTask());
    admit(story);
    expect(receipt(story, { outcome })).toEqual([]);
    expect(receipt(story, { outcome })).toEqual([]);
    expect(find(story.wait(60_000), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2, notRuntimeIds: ['host-1'] });
    withhold(story, 'no_runtime');
    expect(find(story.wait(5_000), 'ADMIT_SPAWN')).toMatchObject({ notRuntimeIds: [] });
  },
);

test('an uncertain spawn waits for the deadline; a late receipt of an older order changes nothing', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  expect(receipt(story, { outcome: 'uncertain' })).toEqual([]);
  expect(story.state().situation.kind).toBe('spawning');
  story.wait(180_000);
  admit(story);
  expect(receipt(story, { outcome: 'failed', orderId: 'e1-1' })).toEqual([]);
  expect(story.state().situation).toMatchObject({ kind: 'spawning', failed: null });
});

test('a task that needs nothing any more is released, and its admission returns to the budget', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  expect(receipt(story, { outcome: 'not_needed', why: 'closed' })).toMatchObject([
    { type: 'WITHDRAW_STEP', payload: { requestId: 'e1-1', agentId: 'worker-1' } },
    { type: 'TASK_RELEASED', payload: { why: 'not_needed', detail: 'closed' } },
  ]);
});

test('a spawn that a halt has recalled is not an attempt: its admission is given back, and it is requested until the halt is over', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  expect(types(receipt(story, { outcome: 'halted' }))).toEqual(['WITHDRAW_STEP', 'ADMIT_SPAWN']);
  expect(story.state()).toMatchObject({ attempts: 0, breaker: { state: 'CLOSED', failures: 0 } });
  withhold(story, 'halted');
  expect(types(story.wait(5_000))).toEqual(['ADMIT_SPAWN']);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({ attempt: 1, newAgentId: 'worker-1-r1' });
});

test('over the budget of spawns people decide: the reason is reported once, no request follows, and no attempt is counted', () => {
  const story = openStory();
  story.receive(recoverTask());
  const emitted = withhold(story, 'budget');
  expect(types(emitted)).toEqual(['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  expect(find(emitted, 'RECOVERY_FAILED')).toEqual({
    taskId: TASK,
    reason: '5 spawns an hour for fleet; free in 12 min: no_activity',
    attempts: 0,
  });
  expect(story.wait(86_400_000)).toEqual([]);
  expect(story.receive(recoverTask())).toEqual([]);
  expect(types(story.receive(review('retry')))).toEqual(['REVIEW_DECIDED', 'ADMIT_SPAWN']);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({ attempt: 1, of: 3 });
});

test('halted, braked or without a runtime, a task waits and no person is notified', () => {
  for (const why of ['halted', 'brake', 'no_runtime'] as const) {
    const story = openStory();
    story.receive(recoverTask());
    expect(withhold(story, why)).toEqual([]);
    expect(types(story.wait(5_000))).toEqual(['ADMIT_SPAWN']);
  }
});

test('an open breaker lets nothing through until its timeout is over, then one trial', () => {
  const one = { failureThreshold: 1, recoveryTimeoutMs: 90_000, halfOpenRequests: 1 };
  const story = openStory();
  story.receive(recoverTask({}, { breaker: one, delaysMs: [0] }));
  admit(story);
  expect(types(receipt(story, { outcome: 'failed' }))).toEqual(['CIRCUIT_BREAKER_STATE_CHANGED']);
  expect(story.wait(89_999)).toEqual([]);
  expect(story.wait(1)).toMatchObject([{ payload: { from: 'OPEN', to: 'HALF_OPEN' } }, { type: 'ADMIT_SPAWN' }]);
  admit(story);
  story.receive(took('worker-1-r2'));
  expect(story.wait(900_000)).toMatchObject([
    { type: 'PROBATION_PASSED' },
    { payload: { from: 'HALF_OPEN', to: 'CLOSED' } },
  ]);
});

test('a back-off has at least its length where the time of tasks is behind; a person’s clock does not lengthen it', () => {
  const asked = (by: string | null, aheadMs: number) => {
    const story = openStory();
    story.receive({ ...recoverTask({ by }, { delaysMs: [5000] }), occurredAt: start + aheadMs });
    return [...types(story.wait(5000 + (by === null ? aheadMs - 1 : -1))), '|', ...types(story.wait(1))];
  };
  expect(asked(null, 4000)).toEqual(['|', 'ADMIT_SPAWN']);
  expect(asked('ada', 600_000)).toEqual(['|', 'ADMIT_SPAWN']);
});

test('a task that no runtime has a template for is announced once: no attempt is counted, no breaker opens, no request follows', () => {
  const story = openStory();
  story.receive(recoverTask());
  const emitted = withhold(story, 'no_template');
  expect(types(emitted)).toEqual(['SPAWN_IMPOSSIBLE']);
  expect(find(emitted, 'SPAWN_IMPOSSIBLE')).toMatchObject({ taskId: TASK });
  expect(withhold(story, 'no_template')).toEqual([]);
  expect(story.wait(86_400_000)).toEqual([]);
  expect(types(story.receive(recoverTask({ by: 'ada', immediate: true })))).toEqual(['RECOVERY_REFUSED']);
  expect(story.state()).toMatchObject({ attempts: 0, breaker: { state: 'CLOSED' } });
});

test('what is announced of a task without a template names the dead agent, how it ended, and its last lines', () => {
  const cause = 'ended: crashed with exit code 3';
  const end = { agentId: 'worker-1', cause, lastOutput: ['Traceback (most recent call last):', 'KeyError: 7'] };
  const dead = { agentId: end.agentId, reason: cause, lastOutput: end.lastOutput };
  const story = openStory();
  story.receive(recoverTask(dead));
  expect(find(withhold(story, 'no_template'), 'SPAWN_IMPOSSIBLE')).toMatchObject(end);
  const waiting = openStory();
  waiting.receive(recoverTask(dead));
  const refused = () => [...withhold(waiting, 'no_runtime'), ...waiting.wait(60_000)];
  for (let n = 1; n < 5; n += 1) refused();
  expect(find(refused(), 'RECOVERY_WAITING')).toMatchObject(end);
  const review = openStory();
  review.receive(recoverTask(dead));
  expect(find(withhold(review, 'budget'), 'REVIEW_REQUIRED')).toMatchObject({ lastOutput: end.lastOutput });
});

test('it continues with the same request when the governor admits it', () => {
  const story = openStory();
  story.receive(recoverTask());
  withhold(story, 'no_template');
  story.wait(3_600_000);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({ attempt: 1, of: 3 });
});

test('an agent that takes the task meanwhile keeps it, and the request is withdrawn', () => {
  const story = openStory();
  story.receive(recoverTask());
  withhold(story, 'no_template');
  expect(types(story.receive(took('worker-9')))).toEqual(['TASK_RELEASED', 'WITHDRAW_STEP']);
});

test('a spawn that is withheld again and again is reported once, with the reason, and is still requested', () => {
  const story = openStory();
  story.receive(recoverTask());
  const refused = (why: 'no_runtime' | 'brake') => [...withhold(story, why), ...story.wait(60_000)];
  for (let n = 1; n < 5; n += 1) expect(types(refused('no_runtime'))).toEqual(['ADMIT_SPAWN']);
  const emitted = refused('brake');
  expect(types(emitted)).toEqual(['RECOVERY_WAITING', 'ADMIT_SPAWN']);
  expect(find(emitted, 'RECOVERY_WAITING')).toMatchObject({ taskId: TASK, reason: 'brake', refusals: 5 });
  for (let n = 6; n < 9; n += 1) expect(types(refused('no_runtime'))).toEqual(['ADMIT_SPAWN']);
  expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
});

test('a spawn of the next attempt is reported again', () => {
  const story = openStory();
  story.receive(recoverTask());
  const refused = () => [...withhold(story, 'no_runtime'), ...story.wait(60_000)];
  for (let n = 1; n < 6; n += 1) refused();
  admit(story);
  story.wait(300_000);
  for (let n = 1; n < 5; n += 1) expect(types(refused())).toEqual(['ADMIT_SPAWN']);
  expect(types(refused())).toEqual(['RECOVERY_WAITING', 'ADMIT_SPAWN']);
});

test('a spawn that lapsed unseen while the task has a living agent is due at once, not at its next attempt', () => {
  const story = openStory();
  story.receive(recoverTask({ confirmed: false, immediate: true, by: 'ada' }));
  admit(story);
  story.receive(turned('worker-1', 'STUCK'));
  const late = story.now() + 120_001;
  expect(dueAt(story.state(), late)).toBe(late);
  expect(types(story.wait(120_001))).toContain('TASK_RELEASED');
});
