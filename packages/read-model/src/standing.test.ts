import { expect, test } from 'vitest';
import { type Acknowledgement, canBeAcknowledged, standingText } from './standing.ts';

const acknowledged: Acknowledgement = { acknowledgedAt: 10, acknowledgedBy: 'ada', updatedAt: 10, waitsAgain: false };

test.each<[string, Partial<Acknowledgement>, boolean]>([
  ['open', { acknowledgedAt: null, acknowledgedBy: null, updatedAt: 10 }, true],
  ['acknowledged by ada', {}, false],
  ['acknowledged by ada, updated since', { updatedAt: 11 }, true],
  ['waits again: a ticket came after ada acknowledged it', { waitsAgain: true }, true],
  ['waits again: a ticket came after ada acknowledged it', { waitsAgain: true, updatedAt: 11 }, true],
])('an alert stands as "%s", and can be acknowledged if no person has since', (text, more, can) => {
  const alert = { ...acknowledged, ...more };
  expect([standingText(alert), canBeAcknowledged(alert)]).toEqual([text, can]);
});
