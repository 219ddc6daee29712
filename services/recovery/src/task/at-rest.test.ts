import { shapeOf, upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { AT_REST } from './at-rest.ts';
import { initial, type Recovery } from './state.ts';
import { openStory, recorded, recoverTask, took } from './story.fixture.ts';

/** A state of shape 9: without the rule for a new count, and without the checkpoint at the last death. */
const shapeNine = ({ checkpointAtDeath: _, subject, ...rest }: Recovery): object => {
  if (subject === null) return { ...rest, subject };
  const { resetAttempts: __, maxAttemptsPerHour: ___, ...settings } = subject.settings;
  return { ...rest, subject: { ...subject, settings } };
};

test('a state of shape 9 counts as before, and its checkpoints so far are no progress after the last death', () => {
  const story = openStory();
  for (const one of [took('worker-1'), recorded('cp-1'), recorded('cp-2'), recoverTask()]) story.receive(one);
  expect(upgraded(AT_REST, 9, shapeNine(story.state()))).toEqual(story.state());
  expect(story.state()).toMatchObject({ checkpointAtDeath: { checkpointId: 'cp-2' } });
});

test('a task of shape 9 without a death stays without one', () => {
  expect(upgraded(AT_REST, 9, shapeNine(initial))).toEqual(initial);
});

test('the present shape is 10', () => {
  expect(shapeOf(AT_REST)).toBe(10);
});
