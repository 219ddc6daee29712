import { expect, test } from 'vitest';
import {
  type Acknowledgement,
  canBeAcknowledged,
  caseStandingText,
  standingText,
  taskReason,
  waitsForPerson,
} from './standing.ts';

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

const REVIEW = 'REVIEW_REQUIRED';

test.each([
  [REVIEW, null, true],
  [null, 'a-7', true],
  [REVIEW, 'a-7', true],
  ['RECOVERY_COMPLETED', null, false],
  [null, null, false],
])(
  'a task of recovery %s with the unacknowledged alert %s waits for a person: %s',
  (recovery, blockedAlertId, waits) => {
    expect(waitsForPerson({ recovery, blockedAlertId })).toBe(waits);
  },
);

test.each([
  [REVIEW, 'attempts used', null, 'attempts used'],
  [REVIEW, 'attempts used', 'stalled', 'attempts used; BLOCKED: stalled'],
  [REVIEW, null, 'stalled', 'BLOCKED: stalled'],
  ['RECOVERY_FAILED', 'no reply', 'stalled', 'BLOCKED: stalled'],
  [null, null, null, null],
])(
  'the reason of a task of recovery %s (%s) that is blocked by %s',
  (recovery, recoveryReason, blockedReason, text) => {
    expect(taskReason({ recovery, recoveryReason, blockedReason })).toBe(text);
  },
);

test.each([
  [{ waiting: true }, 'waits for you'],
  [{ step: 'NUDGE_SENT' }, 'open: nudge sent'],
  [{}, 'open: -'],
  [{ moreTimeUntil: 5, step: 'ESCALATION_DECIDED' }, 'more time until 5 ms'],
  [{ withheld: { step: 'terminate', why: 'no_runtime', detail: '' }, moreTimeUntil: 5 }, 'withheld: no runtime'],
  [{ closedAt: 9, ending: 'pardoned', moreTimeUntil: 5 }, 'closed: pardoned'],
])('a case with %o stands as "%s"', (more, text) => {
  const open = { waiting: false, withheld: null, closedAt: null, ending: null, step: null, moreTimeUntil: null };
  expect(caseStandingText({ ...open, ...more }, (at) => `${at} ms`)).toBe(text);
});
