import { expect, test } from 'vitest';
import {
  admit,
  find,
  left,
  openStory,
  receipt,
  recoverTask,
  review,
  type Story,
  TASK,
  took,
  turned,
  types,
} from './story.fixture.ts';

const MINUTE = 60_000;
const died = (agentId: string) => recoverTask({ agentId, instanceId: `${agentId}.i1`, reason: 'crashed' });
const alive = (overrides: Parameters<typeof recoverTask>[1] = {}): Story => {
  const story = openStory();
  story.receive(recoverTask({}, overrides));
  admit(story);
  story.receive(took('worker-1-r1'));
  return story;
};

test('probation is passed at its very end, not a moment before', () => {
  const story = alive();
  expect(story.wait(15 * MINUTE - 1)).toEqual([]);
  expect(story.wait(1)).toMatchObject([
    { type: 'PROBATION_PASSED', payload: { taskId: TASK, agentId: 'worker-1-r1', attempt: 1 } },
  ]);
});

test('an attempt that is stuck on probation has failed: its case decides, and probation is not passed', () => {
  const story = alive();
  expect(story.receive(turned('worker-1-r1', 'STUCK'))).toEqual([]);
  expect(story.wait(60 * MINUTE)).toEqual([]);
  expect(story.state().breaker).toMatchObject({ failures: 1 });
  story.receive(died('worker-1-r1'));
  expect(story.state().breaker).toMatchObject({ failures: 1 });
  expect(types(story.wait(MINUTE))).toEqual(['ADMIT_SPAWN']);
});

test('the probation of an attempt that is healthy again restarts; being degraded changes nothing', () => {
  const story = alive();
  story.receive(turned('worker-1-r1', 'STUCK'));
  story.wait(MINUTE);
  story.receive(turned('worker-1-r1', 'DEGRADED'));
  expect(story.wait(15 * MINUTE)).toEqual([]);
  story.receive(turned('worker-1-r1', 'HEALTHY'));
  expect(story.wait(15 * MINUTE - 1)).toEqual([]);
  expect(types(story.wait(1))).toEqual(['PROBATION_PASSED']);
});

test('where a failed probation goes to review, people are notified at once and nothing more happens automatically', () => {
  const story = alive({ onProbationFailure: 'review' });
  const emitted = story.receive(turned('worker-1-r1', 'FAILING'));
  expect(types(emitted)).toEqual(['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  expect(find(emitted, 'RECOVERY_FAILED')).toEqual({
    taskId: TASK,
    reason: 'attempt 1 failed its probation: FAILING',
    attempts: 1,
  });
  story.receive(left('worker-1-r1', 'crashed'));
  expect(story.receive(died('worker-1-r1'))).toEqual([]);
});

test('the count resets after the stable time, and not a moment before it', () => {
  for (const [stableMs, attempt] of [
    [30 * MINUTE - 1, 2],
    [30 * MINUTE, 1],
  ] as const) {
    const story = alive();
    story.wait(15 * MINUTE + stableMs);
    story.receive(left('worker-1-r1', 'crashed'));
    story.wait(60 * MINUTE);
    const asked = [...story.receive(died('worker-1-r1')), ...story.wait(MINUTE)];
    expect(find(asked, 'ADMIT_SPAWN')).toMatchObject({ attempt, newAgentId: 'worker-1-r2' });
  }
});

test('time in which the agent was stuck is not stable time', () => {
  const story = alive();
  story.wait(15 * MINUTE + 20 * MINUTE);
  story.receive(turned('worker-1-r1', 'STUCK'));
  story.receive(turned('worker-1-r1', 'HEALTHY'));
  story.wait(29 * MINUTE);
  story.receive(died('worker-1-r1'));
  expect(find(story.wait(MINUTE), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
});

const inReview = (): Story => {
  const story = openStory();
  story.receive(
    recoverTask(
      {},
      { maxAttempts: 1, breaker: { failureThreshold: 1, recoveryTimeoutMs: MINUTE, halfOpenRequests: 1 } },
    ),
  );
  admit(story);
  expect(types(receipt(story, { outcome: 'failed' }))).toEqual([
    'CIRCUIT_BREAKER_STATE_CHANGED',
    'RECOVERY_FAILED',
    'REVIEW_REQUIRED',
  ]);
  return story;
};

test('retry allows one attempt more, at once, also past an open breaker; a second failure goes to review again', () => {
  const story = inReview();
  const emitted = story.receive(review('retry'));
  expect(emitted).toMatchObject([
    { type: 'REVIEW_DECIDED', payload: { taskId: TASK, decision: 'retry', by: 'ada', why: 'seen' } },
    { type: 'CIRCUIT_BREAKER_STATE_CHANGED', payload: { from: 'OPEN', to: 'HALF_OPEN' } },
    { type: 'ADMIT_SPAWN', payload: { attempt: 2, newAgentId: 'worker-1-r2' } },
  ]);
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({ attempt: 2, of: 2 });
  expect(find(receipt(story, { outcome: 'failed' }), 'RECOVERY_FAILED')).toMatchObject({ attempts: 2 });
});

test('reset starts again from one; the names of agents continue', () => {
  const story = inReview();
  const emitted = story.receive(review('reset'));
  expect(types(emitted)).toEqual(['REVIEW_DECIDED', 'CIRCUIT_BREAKER_STATE_CHANGED', 'ADMIT_SPAWN']);
  expect(find(emitted, 'CIRCUIT_BREAKER_STATE_CHANGED')).toMatchObject({ from: 'OPEN', to: 'CLOSED' });
  expect(find(emitted, 'ADMIT_SPAWN')).toMatchObject({ attempt: 1, newAgentId: 'worker-1-r2' });
});

test('abandon gives the task up; any second decision is refused and changes nothing', () => {
  const story = inReview();
  const emitted = story.receive(review('abandon'));
  expect(types(emitted)).toEqual(['REVIEW_DECIDED', 'TASK_RELEASED', 'CIRCUIT_BREAKER_STATE_CHANGED']);
  expect(find(emitted, 'TASK_RELEASED')).toEqual({ taskId: TASK, why: 'abandoned', detail: 'seen' });
  const before = story.state();
  for (const second of ['abandon', 'retry'] as const)
    expect(types(story.receive(review(second)))).toEqual(['RECOVERY_REFUSED']);
  expect(story.state()).toEqual(before);
});

test('a task in review whose agent finishes after all is released', () => {
  const story = alive({ onProbationFailure: 'review' });
  story.receive(turned('worker-1-r1', 'STUCK'));
  expect(story.receive(left('worker-1-r1', 'finished'))).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'finished' } },
  ]);
});

test('the end of an older instance does not concern the newer one', () => {
  const story = alive();
  story.receive({
    ...took('worker-1-r1'),
    payload: { ...took('worker-1-r1').payload, instanceId: 'worker-1-r1.i2' },
  } as never);
  expect(story.receive(left('worker-1-r1', 'crashed'))).toEqual([]);
  expect(story.state().situation).toMatchObject({ kind: 'probation', failing: null });
});

test('retry below the limit uses the attempt that is left, and allows none beyond it', () => {
  const story = alive({ onProbationFailure: 'review' });
  story.receive(turned('worker-1-r1', 'STUCK'));
  story.receive(left('worker-1-r1', 'crashed'));
  story.receive(review('retry'));
  expect(find(admit(story), 'RECOVERY_INITIATED')).toMatchObject({ attempt: 2, of: 3 });
});

test.each([
  ['OPEN', 120_001],
  ['HALF_OPEN', 240_000],
] as const)(
  'an attempt that was given up, is alive and passes its probation closes a breaker that is %s',
  (state, last) => {
    const story = openStory();
    story.receive(recoverTask({}, { maxAttempts: 9 }));
    for (const wait of [180_000, 240_000, last]) {
      admit(story);
      story.wait(wait);
    }
    expect(story.state().breaker.state).toBe(state);
    expect(types(story.receive(took('worker-1-r1')))).toContain('RECOVERY_COMPLETED');
    expect(story.wait(15 * MINUTE)).toMatchObject([
      { type: 'PROBATION_PASSED' },
      { type: 'CIRCUIT_BREAKER_STATE_CHANGED', payload: { from: state, to: 'CLOSED' } },
    ]);
  },
);
