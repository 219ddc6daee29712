import { expect, test } from 'vitest';
import { blindSinceOf, CONNECTED, oldStateText, stateText } from './knowledge.ts';

const current = { upTo: 900, blindSince: null, away: [] };

test('the page is blind from the first moment at which the server was blind or the connection was lost', () => {
  expect(blindSinceOf(current, CONNECTED)).toBeNull();
  expect(blindSinceOf({ ...current, blindSince: 500 }, CONNECTED)).toBe(500);
  expect(blindSinceOf(current, { lostSince: 700, detail: 'gone' })).toBe(700);
  expect(blindSinceOf({ ...current, blindSince: 500 }, { lostSince: 700, detail: '' })).toBe(500);
  expect(blindSinceOf(null, CONNECTED)).toBeNull();
});

test('a blind page shows no state as current', () => {
  expect(stateText('HEALTHY', true)).toBe('HEALTHY');
  expect(stateText('HEALTHY', false)).toBe('was HEALTHY');
});

test('an answer on a blind page has the note that the state may be old, and on a current page it has none', () => {
  expect(oldStateText(true)).toMatch(/^The shown state may be old\./);
  expect(oldStateText(false)).toBeNull();
});
