import { shapeOf, upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { AT_REST } from './at-rest.ts';
import { type CaseState, initial } from './state.ts';
import { agent, asking, filed, recover, terminate } from './story.fixture.ts';

const changed = (state: CaseState, settings: object): CaseState =>
  JSON.parse(JSON.stringify(state), (key, value) => {
    if (key !== 'recovery' || value === null) return value;
    const { resetAttempts: _, maxAttemptsPerHour: __, ...others } = value;
    return { ...others, ...settings };
  });

/** A state of shape 6: recovery settings had no rule for a new count, and no number an hour. */
const shapeSix = (state: CaseState): CaseState => changed(state, {});
/** The same in the present shape. */
const shapeSeven = (state: CaseState): CaseState =>
  changed(state, { resetAttempts: 'after_stable', maxAttemptsPerHour: null });

const found = () => {
  const one = agent();
  one.receive(filed([terminate, recover]));
  return one;
};
/** A closed case may leave orders that are out, also of the case before, a death that no source confirms, and what opens the next. */
const closed = (): CaseState => {
  const { situation } = asking().state();
  if (situation.kind !== 'open') throw new Error('asking opens a case');
  const { activeCase } = situation;
  const { caseContext } = activeCase;
  const outstanding = { handoff: null, terminate: 'order-1', activeCase, death: null };
  return {
    ...initial,
    outstanding: { ...outstanding, earlier: outstanding },
    unconfirmed: caseContext,
    next: caseContext,
  };
};

test.each([
  ['before it opens', () => found().state(), 'asking'],
  ['that is open', () => asking().state(), 'open'],
  ['that is closed', closed, 'quiet'],
] as const)('a case %s of shape 6 has the settings of a recovery that held then', (_, story, kind) => {
  const state = story();
  expect(state.situation.kind).toBe(kind);
  expect(upgraded(AT_REST, 6, shapeSix(state))).toEqual(shapeSeven(state));
  expect(JSON.stringify(shapeSix(state))).not.toContain('resetAttempts');
});

test('an agent without a case stays without one', () => {
  expect(upgraded(AT_REST, 6, initial)).toEqual(initial);
});

test('the present shape is 7', () => {
  expect(shapeOf(AT_REST)).toBe(7);
});
