import { expect, test } from 'vitest';
import { outcomeOf } from './outcome.ts';
import type { Entry } from './queries/journal.ts';

type Caused = string | readonly [type: string, payload: object];

const caused = (types: readonly Caused[]): readonly Entry[] =>
  types.map((one, at) => {
    const [type, payload] = typeof one === 'string' ? [one, {}] : one;
    return { eventId: `e${at}`, at, type, agentId: null, taskId: null, caseId: null, payload } as Entry;
  });
const outcome = (...types: readonly Caused[]) => {
  const { outcome, reason } = outcomeOf('c1', caused(types));
  return [outcome, reason];
};

test('a command without an answer is pending', () => {
  expect(outcome()).toEqual(['pending', null]);
  expect(outcome('CASE_OPENED')).toEqual(['pending', null]);
});

test('a command is applied when its service reports what it did', () => {
  for (const type of ['FLEET_HALTED', 'HOLD_CHANGED', 'ESCALATION_DECIDED', 'REVIEW_DECIDED', 'POLICY_PUBLISHED'])
    expect(outcome([type, { why: 'because' }])).toEqual(['applied', null]);
});

test('a hold is pending until the evaluator answers it', () => {
  expect(outcome('HOLD_AGENT')).toEqual(['pending', null]);
  expect(outcome('RELEASE_AGENT', 'HOLD_CHANGED')).toEqual(['applied', null]);
});

test('a refused command has the reason', () => {
  const ended = 'worker-1 has ended: crashed. Hold its replacement.';
  expect(outcome(['HOLD_REFUSED', { why: 'deploys', reason: ended }])).toEqual(['refused', ended]);
  expect(outcome(['DECISION_REFUSED', { reason: 'case c is closed' }])).toEqual(['refused', 'case c is closed']);
  expect(outcome(['POLICY_REFUSED', { why: 'a trial', mistakes: ['a: is wrong', 'b: is missing'] }])).toEqual([
    'refused',
    'a: is wrong\nb: is missing',
  ]);
  expect(outcome(['ANSWER_REFUSED', { reason: 'expired', detail: 'at 12:00' }])).toEqual([
    'refused',
    'expired: at 12:00',
  ]);
});

test('a test of an unknown channel is refused with its text, and one that has sinks is applied', () => {
  const tested = { route: 'channel_test', text: 'channel "nosuch" does not exist' };
  expect(outcome(['ALERT_RAISED', { ...tested, sinks: [] }], ['ALERT_RESOLVED', tested])).toEqual([
    'refused',
    tested.text,
  ]);
  expect(outcome(['ALERT_RAISED', { ...tested, sinks: ['ops'] }])).toEqual(['applied', null]);
});

test('a step by hand is applied when it is done, and refused when its case closes before', () => {
  expect(outcome('CASE_OPENED', 'NUDGE_SENT', ['CASE_CLOSED', { why: 'it answered' }])).toEqual(['applied', null]);
  expect(outcome('CASE_OPENED', ['CASE_CLOSED', { why: 'it has ended' }])).toEqual(['refused', 'it has ended']);
});

test('a recovery of an agent that has ended is applied although its end is skipped, and another skipped step is refused', () => {
  const skipped = ['STEP_SKIPPED', { step: 'terminate', why: 'no_instance' }] as const;
  expect(outcome('CASE_OPENED', skipped)).toEqual(['pending', null]);
  expect(outcome('CASE_OPENED', skipped, ['CASE_CLOSED', { ending: 'executed' }])).toEqual(['applied', null]);
  expect(outcome('CASE_OPENED', skipped, ['CASE_CLOSED', { ending: 'void', why: 'it is late' }])).toEqual([
    'refused',
    'it is late',
  ]);
  expect(outcome(['STEP_SKIPPED', { step: 'nudge', why: 'no_instance' }])).toEqual(['refused', 'no_instance']);
});

test('a withheld step is pending, with what withholds it until it continues', () => {
  const withheld = ['CASE_WITHHELD', { step: 'nudge', why: 'halted', detail: 'ada has halted the fleet' }] as const;
  expect(outcome('CASE_OPENED', withheld)).toEqual(['pending', 'halted: ada has halted the fleet']);
  expect(outcome('CASE_OPENED', withheld, 'CASE_RESUMED')).toEqual(['pending', null]);
});
