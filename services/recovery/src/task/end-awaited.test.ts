import { expect, test } from 'vitest';
import {
  admit,
  find,
  health,
  left,
  openStory,
  recoverTask,
  review,
  type Story,
  took,
  turned,
  types,
} from './story.fixture.ts';

/** The first attempt is stuck on its probation and lives; people decide. */
const stuck = (): Story => {
  const story = openStory();
  story.receive(recoverTask({}, { onProbationFailure: 'review' }));
  admit(story);
  story.receive(took('worker-1-r1'));
  expect(types(story.receive(turned('worker-1-r1', 'STUCK')))).toEqual(['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  return story;
};

test.each([
  ['retry', 2],
  ['reset', 1],
] as const)(
  '%s ends the attempt that is stuck and is alive, and spawns after its death, not before',
  (decision, attempt) => {
    const story = stuck();
    const emitted = story.receive(review(decision));
    expect(types(emitted)).toEqual(['REVIEW_DECIDED', 'REQUEST_STEP']);
    expect(find(emitted, 'REQUEST_STEP')).toMatchObject({
      ...{ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', step: 'terminate' },
      why: 'OMN-1234 is to be put on a fresh agent, as people have decided',
    });
    expect(story.wait(59_999)).toEqual([]);
    expect(types(story.wait(1))).toEqual(['REQUEST_STEP']);
    const after = story.receive(left('worker-1-r1', 'crashed'));
    expect(types(after)).toEqual(['ADMIT_SPAWN']);
    expect(find(after, 'ADMIT_SPAWN')).toMatchObject({ attempt, newAgentId: 'worker-1-r2' });
    expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
    expect(types(story.receive(took('worker-1-r2')))).toEqual(['RECOVERY_COMPLETED']);
  },
);

test('its own death is counted once, whichever topic reports it first', () => {
  const story = stuck();
  story.receive(review('retry'));
  const death = recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' });
  expect(types(story.receive(death))).toEqual(['ADMIT_SPAWN']);
  expect(story.receive(left('worker-1-r1', 'crashed'))).toEqual([]);
  expect(story.state().breaker.failures).toBe(1);
});

test('where it finishes before its end, the task is released; another agent that has taken it keeps it', () => {
  const finished = stuck();
  finished.receive(review('retry'));
  expect(finished.receive(left('worker-1-r1', 'finished'))).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'finished' } },
  ]);
  const taken = stuck();
  taken.receive(review('retry'));
  expect(taken.receive(took('worker-7'))).toMatchObject([{ type: 'TASK_RELEASED', payload: { why: 'reassigned' } }]);
});

test('an attempt that is healthy again at the decision continues, and its probation restarts', () => {
  const story = stuck();
  expect(story.receive(turned('worker-1-r1', 'HEALTHY'))).toEqual([]);
  expect(types(story.receive(review('retry')))).toEqual(['REVIEW_DECIDED', 'RECOVERY_COMPLETED']);
  expect(story.state().situation).toMatchObject({ kind: 'probation', failing: null });
});

test('a newer instance of the attempt is not the one that people have seen: it keeps the task', () => {
  const story = stuck();
  story.receive(review('retry'));
  const again = health({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i2', hold: 'took' });
  expect(types(story.receive(again))).toEqual(['RECOVERY_COMPLETED']);
  expect(story.wait(60_000)).toEqual([]);
});
