import { shapeOf, upgraded } from '@vigil/stream/testing';
import { expect, test } from 'vitest';
import { unanswered } from './active-case.ts';
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
const shapeSix = (state: CaseState): CaseState => changed(shapeSeven(state), {});
/** The same in the present shape. */
const present = (state: CaseState): CaseState =>
  changed(state, { resetAttempts: 'after_stable', maxAttemptsPerHour: null });

/** A state of shape 7: a case kept no answers of its agent. */
const shapeSeven = (state: CaseState): CaseState =>
  JSON.parse(JSON.stringify(state), (_, value) => {
    if (value === null || typeof value !== 'object') return value;
    const { answers: __, reminder: ___, handoffAsked: ____, ...others } = value;
    return Array.isArray(value) ? value : others;
  });

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
    episode: { id: 'episode-1', settled: false, worked: ['stuck'], rehearsed: [], answers: unanswered },
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
  expect(upgraded(AT_REST, 6, shapeSix(state))).toEqual(present(state));
  expect(JSON.stringify(shapeSix(state))).not.toContain('resetAttempts');
});

test.each([
  ['before it opens', () => found().state()],
  ['that is open', () => asking().state()],
  ['that is closed', closed],
] as const)('a case %s of shape 7 has no answer of its agent', (_, story) => {
  const state = story();
  expect(upgraded(AT_REST, 7, shapeSeven(state))).toEqual(JSON.parse(JSON.stringify(state)));
});

test('an agent without a case stays without one', () => {
  expect(upgraded(AT_REST, 6, initial)).toEqual(initial);
});

test('a case of shape 8 keeps the decision of a person, also where its orders are outstanding', () => {
  const decided = (decision: object) => {
    const { situation, ...rest } = asking().state();
    if (situation.kind !== 'open') throw new Error('asking opens a case');
    const activeCase = { ...situation.activeCase, decision };
    const outstanding = { handoff: null, terminate: 'order-1', activeCase, death: null };
    return { ...rest, situation: { ...situation, activeCase }, outstanding: { ...outstanding, earlier: outstanding } };
  };
  const stored = decided({ what: 'force_handoff', until: 5 }) as unknown as CaseState;
  expect(upgraded(AT_REST, 8, stored)).toEqual(decided({ kind: 'force_handoff', until: 5 }));
});

test('the present shape is 9', () => {
  expect(shapeOf(AT_REST)).toBe(9);
});
