import { expect, test } from 'vitest';
import { admit, find, health, left, openStory, recoverTask, type Story, took, types } from './story.fixture.ts';

const MINUTE = 60_000;
/** worker-1 was taken for dead and is alive beside its replacement. */
const two = (): Story => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  story.receive(took('worker-1'));
  return story;
};
const asks = (story: Story, ms: number) => types(story.wait(ms)).filter((type) => type === 'REQUEST_STEP');

test('while two attempts are alive the end of the lower is requested again, ever more slowly, and not before', () => {
  const story = two();
  expect(find(story.wait(10_000), 'REQUEST_STEP')).toMatchObject({ agentId: 'worker-1', askedAt: story.now() });
  for (const wait of [1, 2, 4, 8, 15, 15]) {
    expect(asks(story, wait * MINUTE - 1)).toEqual([]);
    expect(find(story.wait(1), 'REQUEST_STEP')).toMatchObject({ agentId: 'worker-1', askedAt: story.now() });
  }
});

test('once the lower has left, or the higher has, no end is requested', () => {
  for (const agentId of ['worker-1', 'worker-1-r1']) {
    const story = two();
    expect(asks(story, 10_000)).toHaveLength(1);
    story.receive(left(agentId, 'crashed'));
    expect(asks(story, 60 * MINUTE)).toEqual([]);
  }
});

/** A person has started worker-1 again beside its replacement. */
const again = (): Story => {
  const story = openStory();
  story.receive(recoverTask());
  admit(story);
  story.receive(took('worker-1-r1'));
  story.receive(health({ agentId: 'worker-1', instanceId: 'worker-1.i2', hold: 'took' }));
  expect(asks(story, 10_000)).toHaveLength(1);
  return story;
};
const end = { hold: 'left', to: 'TERMINATED', endReason: 'explicit', ordered: true } as const;
const endedAsAsked = health({ agentId: 'worker-1', instanceId: 'worker-1.i2', ...end });

test('where the higher has gone before the lower is ended as requested, the task gets another agent', () => {
  const story = again();
  story.receive(left('worker-1-r1', 'crashed'));
  const dead = recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' });
  expect(types(story.receive(dead))).toContain('TASK_RELEASED');
  expect(find(story.receive(endedAsAsked), 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
});

test('where the higher has gone before the lower crashes instead of being ended, the task gets another agent, once', () => {
  const story = again();
  story.receive(left('worker-1-r1', 'crashed'));
  story.receive(recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' }));
  const crashed = { ...end, endReason: 'crashed', ordered: false } as const;
  const emitted = story.receive(health({ agentId: 'worker-1', instanceId: 'worker-1.i2', ...crashed }));
  expect(find(emitted, 'ADMIT_SPAWN')).toMatchObject({ attempt: 2 });
  expect(story.receive(recoverTask({ agentId: 'worker-1', instanceId: 'worker-1.i2' }))).toEqual([]);
});

test('where the higher has gone before a person stops the lower, no agent replaces it', () => {
  const story = again();
  story.receive(left('worker-1-r1', 'crashed'));
  story.receive(recoverTask({ agentId: 'worker-1-r1', instanceId: 'worker-1-r1.i1' }));
  const emitted = story.receive(health({ agentId: 'worker-1', instanceId: 'worker-1.i2', ...end, ordered: false }));
  expect(types(emitted)).not.toContain('ADMIT_SPAWN');
});

test('where the higher has finished before the lower is ended as requested, the task is done, and gets no other agent', () => {
  const story = again();
  story.receive(left('worker-1-r1', 'finished'));
  expect(types(story.receive(endedAsAsked))).not.toContain('ADMIT_SPAWN');
  expect(types(story.wait(10 * MINUTE))).not.toContain('ADMIT_SPAWN');
});

test('where the higher is alive, no agent replaces the lower', () => {
  const story = again();
  expect(story.receive(endedAsAsked)).toEqual([]);
  expect(types(story.wait(10 * MINUTE))).not.toContain('ADMIT_SPAWN');
});

test('after an unwatched time the end is requested once, not as often as it was missed', () => {
  const story = two();
  story.wait(10_000);
  story.away(60 * MINUTE);
  expect(asks(story, 1000)).toHaveLength(1);
  expect(asks(story, 60_000)).toEqual([]);
});
