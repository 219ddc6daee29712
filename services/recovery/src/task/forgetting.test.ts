import { expect, test } from 'vitest';
import { recovery } from '../processor.ts';
import { admit, left, openStory, recoverTask, revive, type Story, took } from './story.fixture.ts';

const WEEK = 7 * 24 * 60 * 60_000;
const clock = (now: number) => ({ now, watched: now, ingresses: {} });
const isForgotten = (story: Story, afterMs: number): boolean =>
  recovery.forgets?.(story.state(), clock(story.now() + afterMs)) ?? false;

const observed = (...events: Parameters<Story['receive']>[0][]): Story => {
  const story = openStory();
  for (const event of events) story.receive(event);
  return story;
};

test('a task without an agent is forgotten a week after its last event, and not before', () => {
  const story = observed(took('worker-1'), left('worker-1', 'finished'));
  expect(recovery.dueAt(story.state(), clock(story.now()))).toBe(story.now() + WEEK);
  expect(isForgotten(story, WEEK - 1)).toBe(false);
  expect(isForgotten(story, WEEK)).toBe(true);
});

test('so is one whose replacement has left it', () => {
  const story = observed(recoverTask());
  revive(story, 1);
  story.wait(WEEK);
  expect(story.state().situation.kind).toBe('stable');
  story.receive(left('worker-1-r1', 'finished'));
  expect(isForgotten(story, WEEK)).toBe(true);
});

test.each([
  ['one that an agent has', () => observed(took('worker-1'))],
  ['one whose recovery waits', () => observed(recoverTask())],
  [
    'one that a person is to review',
    () => {
      const story = observed(recoverTask({}, { maxAttempts: 1, spawnDeadlineMs: 1000 }));
      story.wait(600_000);
      admit(story);
      story.wait(600_000);
      expect(story.state().situation.kind).toBe('review');
      return story;
    },
  ],
])('never: %s', (_, receive) => {
  expect(isForgotten(receive(), 100 * WEEK)).toBe(false);
});
