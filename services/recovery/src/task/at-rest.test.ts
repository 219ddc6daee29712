import { shapeOf, upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { checkpointIn } from '../checkpoints/checkpoints.ts';
import { AT_REST } from './at-rest.ts';
import { observe } from './observe.ts';
import { initial, type Recovery } from './state.ts';
import { openStory, recorded, recoverTask, took } from './story.fixture.ts';

/** A state of shape 10: its checkpoints have no time on the brokers' clock and no agent, and it has no claims. */
const shapeTen = ({ claims: _, checkpoints, ...rest }: Recovery) => ({
  ...rest,
  checkpoints: checkpoints.map(checkpointIn),
});

/** A state of shape 9: without the rule for a new count, and without the checkpoint at the last death. */
const shapeNine = (state: Recovery): object => {
  const { checkpointAtDeath: _, subject, ...rest } = shapeTen(state);
  if (subject === null) return { ...rest, subject };
  const { resetAttempts: __, maxAttemptsPerHour: ___, ...settings } = subject.settings;
  return { ...rest, subject: { ...subject, settings } };
};

const withoutTimes = (state: Recovery): Recovery => ({
  ...state,
  checkpoints: state.checkpoints.map((one) => ({ ...one, writtenAt: null, agentId: null })),
});

test('a state of shape 9 counts as before, and its checkpoints so far are no progress after the last death', () => {
  const story = openStory();
  for (const one of [took('worker-1'), recorded('cp-1'), recorded('cp-2'), recoverTask()]) story.receive(one);
  expect(upgraded(AT_REST, 9, shapeNine(story.state()))).toEqual(withoutTimes(story.state()));
  expect(story.state()).toMatchObject({ checkpointAtDeath: { checkpointId: 'cp-2' } });
});

test('the checkpoints of a state of shape 10 keep their order, and one with a later time goes after them', () => {
  const story = openStory();
  for (const one of [took('worker-1'), recorded('cp-1'), recorded('cp-2')]) story.receive(one);
  const state = upgraded(AT_REST, 10, shapeTen(story.state()));
  expect(state).toEqual(withoutTimes(story.state()));
  const later = observe(state as Recovery, recorded('cp-3'), { now: story.now(), watched: story.now(), ingresses: {} });
  expect(later.checkpoints.map(({ checkpointId }) => checkpointId)).toEqual(['cp-1', 'cp-2', 'cp-3']);
});

test('a task of shape 9 without a death stays without one', () => {
  expect(upgraded(AT_REST, 9, shapeNine(initial))).toEqual(initial);
});

test('the present shape is 11', () => {
  expect(shapeOf(AT_REST)).toBe(11);
});
