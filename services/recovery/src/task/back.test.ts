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
  withhold,
} from './story.fixture.ts';

const lost = (agentId: string) =>
  health({ agentId, instanceId: `${agentId}.i1`, hold: 'left', to: 'TERMINATED', endReason: 'lost' });
/** The host of worker-1 is reported gone, its spawn waits or has been requested, and the agent sends a heartbeat again. */
const cutOff = (): Story => {
  const story = openStory();
  story.receive(took('worker-1'));
  story.receive(lost('worker-1'));
  story.receive(recoverTask({ reason: 'lost' }));
  return story;
};
const heldBySelf = { type: 'TASK_RELEASED', payload: { why: 'reassigned', detail: 'held by worker-1' } };

test('an agent whose host was reported gone keeps its task when it sends a heartbeat while its spawn waits', () => {
  const story = cutOff();
  withhold(story, 'no_runtime');
  expect(story.receive(took('worker-1'))).toMatchObject([heldBySelf]);
  expect(story.wait(86_400_000)).toEqual([]);
});

test('after the request it keeps its task, and the admission returns', () => {
  const story = cutOff();
  const emitted = story.receive(took('worker-1'));
  expect(emitted).toMatchObject([heldBySelf, { type: 'WITHDRAW_STEP', payload: { requestId: 'e3-1' } }]);
  expect(admit(story, { requestId: 'e3-1' })).toEqual([]);
});

test('when it has died meanwhile after all, it is replaced, once', () => {
  const story = cutOff();
  story.receive(took('worker-1'));
  story.receive(left('worker-1', 'crashed'));
  expect(types(story.receive(recoverTask({ reason: 'crashed' })))).toEqual(['ADMIT_SPAWN']);
  expect(story.receive(recoverTask({ reason: 'crashed' }))).toEqual([]);
  expect(types(admit(story))).toEqual(['RECOVERY_INITIATED', 'SPAWN_AGENT']);
});

test('an attempt that sends a heartbeat again continues as the same attempt', () => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  story.receive(lost('worker-1-r1'));
  story.receive(recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1', reason: 'lost' }));
  expect(story.receive(took('worker-1-r1'))).toMatchObject([
    { type: 'RECOVERY_COMPLETED', payload: { newAgentId: 'worker-1-r1', attempt: 1 } },
  ]);
  expect(types(story.wait(15 * 60_000))).toEqual(['PROBATION_PASSED']);
});

test('a late heartbeat of an instance whose death a runtime has seen is not a return: it is replaced', () => {
  const story = openStory();
  story.receive(recoverTask({ reason: 'crashed' }));
  expect(story.receive(took('worker-1'))).toEqual([]);
  expect(story.receive(turned('worker-1', 'HEALTHY'))).toEqual([]);
  story.receive(left('worker-1', 'crashed'));
  expect(story.receive(took('worker-1'))).toEqual([]);
  expect(find(admit(story), 'SPAWN_AGENT')).toMatchObject({ agentId: 'worker-1-r1' });
});

test('where the report of its loss comes after the request, it returns all the same', () => {
  const story = openStory();
  story.receive(took('worker-1'));
  expect(types(story.receive(recoverTask({ reason: 'lost' })))).toEqual(['ADMIT_SPAWN']);
  expect(story.receive(lost('worker-1'))).toEqual([]);
  expect(types(story.receive(took('worker-1')))).toEqual(['TASK_RELEASED', 'WITHDRAW_STEP']);
});

test('in review, a returning agent that finishes ends the review, and one that works keeps its task at a retry', () => {
  const inReview = (): Story => {
    const story = cutOff();
    withhold(story, 'budget');
    expect(story.receive(took('worker-1'))).toEqual([]);
    return story;
  };
  expect(inReview().receive(left('worker-1', 'finished'))).toMatchObject([
    { type: 'TASK_RELEASED', payload: { why: 'finished' } },
  ]);
  expect(inReview().receive(review('retry'))).toMatchObject([{ type: 'REVIEW_DECIDED' }, heldBySelf]);
});
