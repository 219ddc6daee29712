import { type PayloadOf, Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { triage } from './ticket-notices.ts';

type Ticket = PayloadOf<typeof Topic.agentHealth, 'WORKER_ESCALATION_TICKET'>;

const filedAt = Date.parse('2026-11-22T12:00:00Z');
const quiet: Ticket['findings'] = {
  signals: [],
  transient: false,
  progressAt: null,
  unrecoverable: false,
  loop: false,
};

/** A medium ticket without a fact for or against it. */
const answer = (ticket: Partial<Ticket['ticket']> = {}, findings: Partial<Ticket['findings']> = {}) => {
  const known = example(Topic.agentHealth, 'WORKER_ESCALATION_TICKET').payload;
  return triage({
    ticket: {
      ...known.ticket,
      created_at: new Date(filedAt).toISOString(),
      severity: 'medium',
      cause: 'retries',
      steps_since_last_accept: 9,
      stall_minutes: null,
      ...ticket,
    },
    findings: { ...quiet, ...findings },
  });
};
const intervenes = (...ticket: Parameters<typeof answer>) => answer(...ticket).intervene;

test('a ticket without a fact for it is dismissed', () => {
  expect(answer()).toEqual({ intervene: false, analysis: 'no rule for notifying people holds: retries' });
});

describe('people are asked in', () => {
  test.each(['high', 'critical'] as const)('on %s', (severity) => {
    expect(answer({ steps_since_last_accept: 0, severity })).toEqual({
      intervene: true,
      analysis: `severity is ${severity}: retries`,
    });
  });

  test.each(['low', 'medium', 'UNKNOWN'] as const)('not on %s alone', (severity) => {
    expect(intervenes({ severity })).toBe(false);
  });

  test('on a stall above 4 minutes, not of 4', () => {
    expect(intervenes({ stall_minutes: 4.01 })).toBe(true);
    expect(intervenes({ stall_minutes: 4 })).toBe(false);
    expect(intervenes({ stall_minutes: null })).toBe(false);
  });

  test('on an error that does not pass by itself', () => {
    expect(answer({}, { unrecoverable: true }).analysis).toBe('an error that does not pass by itself: retries');
    expect(intervenes({}, { unrecoverable: false })).toBe(false);
  });

  test('on a loop', () => {
    expect(intervenes({}, { loop: true })).toBe(true);
    expect(intervenes({}, { loop: false })).toBe(false);
  });

  test('at 10 steps, not at 9', () => {
    expect(answer({ steps_since_last_accept: 10 }).analysis).toBe('10 steps without an ACCEPT: retries');
    expect(intervenes({ steps_since_last_accept: 9 })).toBe(false);
  });
});

describe('a ticket is dismissed', () => {
  test('low, below 8 steps', () => {
    expect(answer({ severity: 'low', steps_since_last_accept: 7 }).analysis).toBe(
      'low severity, 7 steps without an ACCEPT: retries',
    );
    expect(answer({ severity: 'low', steps_since_last_accept: 8 }).analysis).toMatch(/^no rule/);
    expect(answer({ severity: 'medium', steps_since_last_accept: 7 }).analysis).toMatch(/^no rule/);
  });

  test('where one timeout has resolved itself, however many the steps', () => {
    expect(answer({ steps_since_last_accept: 12 }, { transient: true })).toEqual({
      intervene: false,
      analysis:
        'a single timeout that has resolved itself dismisses a medium ticket once, until 2026-11-22 12:04:00 UTC at the latest; what the ticket reports: retries',
    });
    expect(intervenes({ steps_since_last_accept: 12 }, { transient: false })).toBe(true);
  });

  test('where it has progressed within 4 minutes before it, not longer ago', () => {
    expect(intervenes({ steps_since_last_accept: 12 }, { progressAt: filedAt - 239_999 })).toBe(false);
    expect(intervenes({ steps_since_last_accept: 12 }, { progressAt: filedAt - 240_000 })).toBe(true);
    expect(intervenes({ steps_since_last_accept: 12 }, { progressAt: null })).toBe(true);
  });
});

describe('a ticket for an agent that cannot recover, in the order of hive', () => {
  const unrecoverable = { unrecoverable: true, progressAt: null, transient: false } as const;

  test.each([
    [{ severity: 'medium', steps_since_last_accept: 10 }, '10 steps without an ACCEPT: retries'],
    [{ severity: 'high', steps_since_last_accept: 15 }, 'severity is high: retries'],
    [{ severity: 'critical', steps_since_last_accept: 0, stall_minutes: 4.5 }, 'severity is critical: retries'],
  ] as const)('as the judge files it: people are asked, for the first reason that holds', (ticket, analysis) => {
    expect(answer(ticket, unrecoverable)).toEqual({ intervene: true, analysis });
  });

  test('as another judge files it, below each other limit: the error is the reason', () => {
    const ticket = { severity: 'medium', steps_since_last_accept: 9, stall_minutes: 4 } as const;
    expect(answer(ticket, unrecoverable).analysis).toBe('an error that does not pass by itself: retries');
  });

  test('low, with fewer than eight steps, is dismissed first', () => {
    expect(intervenes({ severity: 'low', steps_since_last_accept: 7 }, unrecoverable)).toBe(false);
    expect(intervenes({ severity: 'low', steps_since_last_accept: 8 }, unrecoverable)).toBe(true);
  });
});

describe('what dismisses comes first, as in hive', () => {
  const against = { severity: 'critical', steps_since_last_accept: 20, stall_minutes: 5 } as const;
  const all = { loop: true, unrecoverable: true };

  test('genuine progress dismisses a ticket though the rule of loops has fired', () => {
    expect(intervenes({}, { loop: true, progressAt: filedAt })).toBe(false);
    expect(answer(against, { ...all, progressAt: filedAt - 30_000 }).analysis).toBe(
      'genuine progress 30 s before the ticket dismisses a critical ticket once, until 2026-11-22 12:04:00 UTC at the latest; what the ticket reports: retries',
    );
  });

  test('so does one timeout that has resolved itself, and never beside an error that does not pass', () => {
    expect(intervenes(against, { loop: true, transient: true })).toBe(false);
    expect(intervenes(against, { ...all, transient: true })).toBe(true);
    expect(intervenes({ steps_since_last_accept: 9 }, { unrecoverable: true, transient: true })).toBe(true);
    expect(intervenes(against, all)).toBe(true);
  });

  test('so does low severity with fewer than eight steps', () => {
    expect(intervenes({ severity: 'low', steps_since_last_accept: 7 }, all)).toBe(false);
    expect(intervenes({ severity: 'low', steps_since_last_accept: 8 }, all)).toBe(true);
  });
});
