import type { TicketRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { NOON, VIEW } from '../rows.fixture.ts';
import { ticketsTable } from './tickets.ts';

const row = (fields: Partial<TicketRow>): TicketRow =>
  ({
    ticketId: 't-1',
    agentId: 'worker-1',
    severity: 'high',
    ticket: { cause: 'a loop' },
    filedAt: NOON,
    answer: null,
    ...fields,
  }) as TicketRow;

test('tickets are a table with the decision of triage, or that it waits', () => {
  const [head, ...lines] = ticketsTable(VIEW, [
    row({}),
    row({ ticketId: 't-2', answer: 'dismissed' }),
    row({ ticketId: 't-3', answer: 'intervene' }),
  ]);
  expect(head).toMatch(/^TICKET +TIME +AGENT +SEVERITY +DECISION +CAUSE$/);
  expect(lines[0]).toMatch(/^t-1 +12:00:00 +worker-1 +high +waits +a loop$/);
  expect(lines[1]).toContain('dismissed');
  expect(lines[2]).toContain('escalated');
});

test('a ticket that only its answer names has dashes', () => {
  const lines = ticketsTable(VIEW, [
    row({ agentId: null, severity: null, ticket: null, filedAt: null, answer: 'dismissed' }),
  ]);
  expect(lines[1]).toMatch(/^t-1 +- +- +- +dismissed +-$/);
});

test('without tickets the table is one line', () => expect(ticketsTable(VIEW, [])).toEqual(['No tickets.']));
