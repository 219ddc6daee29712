import type { TicketRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { noticeOf, reviewOf, STATUS_MS, statusOf } from './reviews.ts';

const ticket = (more: Partial<TicketRow>): TicketRow => ({
  ...{ ticketId: 't1', agentId: 'worker-1', instanceId: null, taskId: null, episodeId: null, labels: {} },
  ...{ severity: 'high', ticket: null, findings: null, filedAt: 0, answer: null, analysis: null },
  ...{ alertKey: null, answeredAt: null },
  ...more,
});

test('the status line names a new ticket with its severity, and only briefly', () => {
  expect(statusOf([ticket({})], STATUS_MS - 1)).toBe('judge: high ticket');
  expect(statusOf([ticket({})], STATUS_MS)).toBeNull();
  expect(statusOf([], 0)).toBeNull();
});

test('the newest ticket for which people were asked in is the review; a dismissed one is none', () => {
  const asked = { answer: 'intervene', alertKey: 'escalation_ticket:T-1' } as const;
  const tickets = [
    ticket({ ticketId: 'dismissed', answer: 'dismissed', answeredAt: 9 }),
    ticket({ ...asked, ticketId: 'old', answeredAt: 1 }),
    ticket({ ...asked, ticketId: 'new', answeredAt: 2 }),
  ];
  expect(reviewOf(tickets)?.ticketId).toBe('new');
  expect(reviewOf([ticket({})])).toBeNull();
});

test('the notification stays for 30 seconds, unless it is dismissed', () => {
  const review = ticket({ answer: 'intervene', answeredAt: 0 });
  expect(noticeOf(review, new Set(), 29_999)).toBe(review);
  expect(noticeOf(review, new Set(), 30_000)).toBeNull();
  expect(noticeOf(review, new Set(['t1']), 0)).toBeNull();
  expect(noticeOf(null, new Set(), 0)).toBeNull();
});
