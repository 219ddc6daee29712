import type { Outcome } from '@vigil/read-model';
import picocolors from 'picocolors';
import { expect, test } from 'vitest';
import type { Followed } from '../follow.ts';
import { outageLines, outcomeLine, shownLine } from './outcome.ts';
import { entry } from './rows.fixture.ts';
import type { View } from './view.ts';

const view: View = { now: 7_200_000, paint: picocolors.createColors(false), width: 200, offsetMinutes: 0 };
const pending = { eventId: 'e-1', outcome: 'pending', reason: null, until: null, events: [] } as const;
const followed = (became: Outcome, away: Followed['away'] = []): Followed => ({ became, away });
const lineOf = (one: Followed) => outcomeLine(view, one, ['vigil health', 'vigil command show e-1']);

test('an applied command shows what it did, in words', () => {
  const events = [entry('FLEET_HALTED', { by: 'ada', why: 'a move' })];
  expect(lineOf(followed({ ...pending, outcome: 'applied', events }))).toMatch(/^Done: .*ada.*\.$/);
});

test('a refused command shows why', () => {
  const refused = { ...pending, outcome: 'refused', reason: 'case c is closed' } as const;
  expect(lineOf(followed(refused))).toBe('Refused: case c is closed.');
  const sentence = { ...refused, reason: 'case c is closed: nothing changes.' };
  expect(lineOf(followed(sentence))).toBe('Refused: case c is closed: nothing changes.');
});

test('a command that is not decided shows what it waits for, and the commands that show it later', () => {
  const later = 'What becomes of it: vigil health, or vigil command show e-1';
  expect(lineOf(followed(pending))).toBe(`Not decided yet. ${later}`);
  expect(lineOf(followed({ ...pending, reason: 'halted' }))).toBe(`Not decided yet (halted). ${later}`);
});

test('a command whose outcome cannot be read names what is away since when, and does not report that nothing was decided', () => {
  const away = [
    { part: 'registry', since: 3_600_000 },
    { part: 'dashboard', since: null },
  ];
  const line = lineOf(followed(pending, away));
  expect(line).toContain('registry has not answered since 01:00:00, and the dashboard does not answer');
  expect(line).toContain('may be in force already');
  expect(line).toContain('vigil command show e-1');
  expect(line).not.toContain('Not decided');
  expect(outageLines(view, away, 'vigil command show e-1').join(' ')).toContain('registry has not answered since');
});

test('of an id that no command may have, nothing is known, and a command that waits shows for what', () => {
  const shown = (one: Followed) => shownLine(view, one, ['vigil command show e-1 --wait']);
  expect(shown(followed(pending))).toBe(
    'Nothing is known of it: it is not decided yet, or no command has this id. Later: vigil command show e-1 --wait',
  );
  expect(shown(followed({ ...pending, reason: 'halted' }))).toContain('Not decided yet (halted).');
});
