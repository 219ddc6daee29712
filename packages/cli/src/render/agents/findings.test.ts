import type { BreakerRow, TicketRow } from '@vigil/read-model';
import { expect, test } from 'vitest';
import { NOON, VIEW } from '../rows.fixture.ts';
import { breakerLine, ticketLine } from './explain.ts';

const breaker: BreakerRow = {
  ...{ name: 'tool_execution', agentId: 'worker-1', taskId: 'OMN-1234', state: 'OPEN', failures: 5 },
  ...{ nextAttemptAt: NOON, since: NOON, trips: 2 },
};
const ticket: TicketRow = {
  ...{ ticketId: 't-1', agentId: 'worker-1', instanceId: null, taskId: null, episodeId: null, labels: {} },
  ...{ severity: 'high', ticket: null, findings: null, filedAt: NOON, answer: null, analysis: null },
  ...{ alertKey: null, answeredAt: null },
};

test('an open breaker shows its failures and its next attempt, a closed one how often it has opened', () => {
  expect(breakerLine(VIEW, breaker)).toMatch(
    /^ {2}tool_execution OPEN since \S+ after 5 failures, next attempt \S+, opened 2 times$/,
  );
  expect(breakerLine(VIEW, { ...breaker, state: 'CLOSED', nextAttemptAt: null })).toMatch(
    /^ {2}tool_execution CLOSED since \S+, opened 2 times$/,
  );
});

test('a ticket shows whether people were notified, or why not', () => {
  expect(ticketLine(VIEW, ticket)).toMatch(/high ticket t-1: -; not triaged yet$/);
  expect(ticketLine(VIEW, { ...ticket, answer: 'dismissed', analysis: 'low, after 3 steps' })).toMatch(
    /dismissed: low, after 3 steps$/,
  );
  expect(ticketLine(VIEW, { ...ticket, answer: 'intervene', analysis: 'it loops' })).toMatch(
    /people were asked in: it loops$/,
  );
});
