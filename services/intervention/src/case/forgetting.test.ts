import { expect, test } from 'vitest';
import { decider } from './case.ts';
import type { CaseInput, CaseState } from './state.ts';
import { changed, died, filed, MIN, RECEIPT_DUE, started, T0, terminating } from './story.fixture.ts';

const HOUR = 60 * MIN;
const clock = (now: number) => ({ now, watched: now, ingresses: {} });
const after = (...inputs: readonly CaseInput[]): CaseState =>
  inputs.reduce((state, input) => {
    const withoutResumePoint = decider.observe(state, input, clock(T0));
    const drafts = decider.decide(withoutResumePoint, clock(T0), input);
    return drafts.reduce((before, draft) => decider.evolve(before, draft, clock(T0), input), withoutResumePoint);
  }, decider.initial);
const isForgotten = (state: CaseState, now: number) => decider.forgets?.(state, clock(now));

test('an agent that has ended is forgotten 25 hours later, and not before', () => {
  const state = after(started('instance-1'), died());
  expect(decider.dueAt(state, clock(T0))).toBe(T0 + 25 * HOUR);
  expect(isForgotten(state, T0 + 25 * HOUR - 1)).toBe(false);
  expect(isForgotten(state, T0 + 25 * HOUR)).toBe(true);
});

test('its end counts from when it was first received', () => {
  const state = after(started('instance-1'), died());
  expect(decider.observe(state, died(), clock(T0 + HOUR)).endedAt).toBe(T0);
});

test.each([
  ['an agent that is alive', after(started('instance-1'))],
  ['an agent of which another instance is alive', after(started('instance-1'), died(), started('instance-2'))],
  [
    'an agent that was taken for dead and is alive',
    after(started('instance-1'), died(), changed({ from: 'TERMINATED', to: 'HEALTHY' })),
  ],
  [
    'the dead of whom something is still to be done',
    after(started('instance-1'), died(), filed(undefined, { endReason: 'crashed' })),
  ],
])('never: %s', (_, state) => {
  expect(isForgotten(state, T0 + 1000 * HOUR)).toBe(false);
});

test('an agent whose end is not confirmed is forgotten 25 hours after the evaluator has given it up', () => {
  const one = terminating();
  one.after(RECEIPT_DUE);
  expect(one.situation()).toBe('unconfirmed');
  one.receive(died({ endReason: 'lost', endReported: false }));
  const { now } = one.clock();
  expect(isForgotten(one.state(), now + 25 * HOUR - 1)).toBe(false);
  expect(isForgotten(one.state(), now + 25 * HOUR)).toBe(true);
});
