import { expect, test } from 'vitest';
import { outcomeLine } from './outcome.ts';
import { entry } from './rows.fixture.ts';

const pending = { eventId: 'e-1', outcome: 'pending', reason: null, events: [] } as const;

test('an applied command shows what it did, in words', () => {
  const events = [entry('FLEET_HALTED', { by: 'ada', why: 'a move' })];
  expect(outcomeLine({ ...pending, outcome: 'applied', events }, 'vigil health')).toMatch(/^Done: .*ada.*\.$/);
});

test('a refused command shows why', () => {
  const refused = { ...pending, outcome: 'refused', reason: 'case c is closed' } as const;
  expect(outcomeLine(refused, 'vigil health')).toBe('Refused: case c is closed.');
  const sentence = { ...refused, reason: 'case c is closed: nothing changes.' };
  expect(outcomeLine(sentence, 'vigil health')).toBe('Refused: case c is closed: nothing changes.');
});

test('a command that is not decided shows what it waits for, and the command that shows it later', () => {
  expect(outcomeLine(pending, 'vigil health')).toBe('Not decided yet. What becomes of it: vigil health');
  expect(outcomeLine({ ...pending, reason: 'halted' }, 'vigil health')).toBe(
    'Not decided yet (halted). What becomes of it: vigil health',
  );
});
