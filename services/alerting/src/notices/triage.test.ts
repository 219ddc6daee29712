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
  expect(answer()).toEqual({ intervene: false, analysis: 'nothing of it calls for a person yet: retries' });
});

describe('people are asked in', () => {
  test.each(['high', 'critical'] as const)('on %s, even if all else is against it', (severity) => {
    const against = { steps_since_last_accept: 0, severity };
    expect(answer(against, { transient: true, progressAt: filedAt })).toEqual({
      intervene: true,
      analysis: `severity is ${severity}: retries`,
    });
  });

  test.each(['low', 'medium', 'UNKNOWN'] as const)('not on %s alone', (severity) => {
    expect(intervenes({ severity })).toBe(false);
  });

  test('on a stall above 4 minutes, not of 4', () => {
    expect(intervenes({ stall_minutes: 4.01 }, { progressAt: filedAt })).toBe(true);
    expect(intervenes({ stall_minutes: 4 })).toBe(false);
    expect(intervenes({ stall_minutes: null })).toBe(false);
  });

  test('on what cannot recover by itself', () => {
    expect(answer({}, { unrecoverable: true, transient: true }).analysis).toBe('it cannot recover by itself: retries');
    expect(intervenes({}, { unrecoverable: false })).toBe(false);
  });

  test('on a loop, also of few steps', () => {
    expect(intervenes({ severity: 'low', steps_since_last_accept: 3 }, { loop: true })).toBe(true);
    expect(intervenes({ severity: 'low', steps_since_last_accept: 3 }, { loop: false })).toBe(false);
  });

  test('at 10 steps, not at 9', () => {
    expect(answer({ steps_since_last_accept: 10 }).analysis).toBe('10 steps without an ACCEPT: retries');
    expect(intervenes({ steps_since_last_accept: 9 })).toBe(false);
  });
});

describe('a ticket is dismissed', () => {
  test('low, below 8 steps', () => {
    expect(answer({ severity: 'low', steps_since_last_accept: 7 }).analysis).toBe('low, after 7 steps: retries');
    expect(answer({ severity: 'low', steps_since_last_accept: 8 }).analysis).toMatch(/^nothing of it/);
    expect(answer({ severity: 'medium', steps_since_last_accept: 7 }).analysis).toMatch(/^nothing of it/);
  });

  test('where one timeout has resolved itself, however many the steps', () => {
    expect(answer({ steps_since_last_accept: 12 }, { transient: true })).toEqual({
      intervene: false,
      analysis: 'one timeout, and a success since: retries',
    });
    expect(intervenes({ steps_since_last_accept: 12 }, { transient: false })).toBe(true);
  });

  test('where it has progressed within 4 minutes before it, not longer ago', () => {
    expect(intervenes({ steps_since_last_accept: 12 }, { progressAt: filedAt - 239_999 })).toBe(false);
    expect(intervenes({ steps_since_last_accept: 12 }, { progressAt: filedAt - 240_000 })).toBe(true);
    expect(intervenes({ steps_since_last_accept: 12 }, { progressAt: null })).toBe(true);
  });
});
