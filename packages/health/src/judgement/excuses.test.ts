import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { describe, expect, test } from 'vitest';
import { call, T0 } from '../fixture.ts';
import { REMEMBERED_SUCCESSES } from '../history/progress/progress-evidence.ts';
import { AFTER, agent, type Filed, MIN, severities } from './tickets.fixture.ts';

const RECENT = 4 * MIN;
const edit = call('w', { mutating: true });
const read = (id: string) => call(id, { result_hash: 'read' });
const timeout = (id: string) => call(id, { outcome: 'error', error_class: 'TimeoutError', result_hash: 't' });
const reasons = (filed: readonly Filed[]) =>
  filed.map(({ ticket: { severity }, findings: { transient, progressAt } }) => [severity, transient, progressAt]);

/** An agent whose results before its last ACCEPT show nothing new when they come again. */
const accepted = () => {
  const a = agent();
  a.steps(0, 0);
  a.steps(1000, 1, 'CONTINUE', { tool_calls: [timeout('t1'), read('r1')] });
  a.steps(2000, 1, 'ACCEPT');
  return a;
};

describe('a timeout that has resolved itself excuses while it is recent', () => {
  const filedAfter = (ms: number) => {
    const a = accepted();
    a.steps(AFTER, 1, 'CONTINUE', { tool_calls: [timeout('t2'), read('r2')] });
    return reasons(a.steps(AFTER + ms, 15));
  };

  test('a millisecond before four minutes, not at them', () => {
    expect(filedAfter(RECENT - 1)).toEqual([['high', true, null]]);
    expect(filedAfter(RECENT)).toEqual([['high', false, null]]);
  });
});

describe('a ticket that triage dismisses for an excuse is filed again once the excuse is four minutes old', () => {
  /** Files a ticket with this excuse, and does one more step before the stall of four minutes. */
  const excused = (tool_calls: readonly ReturnType<typeof call>[]) => {
    const a = accepted();
    expect(severities(a.steps(AFTER, 15, 'CONTINUE', { tool_calls: [...tool_calls] }))).toEqual(['high']);
    a.steps(AFTER + 3 * MIN, 1);
    return a;
  };

  test.each([
    ['progress', [edit]],
    ['a timeout', [timeout('t2'), read('r2')]],
  ])('after %s: at four minutes, not a millisecond before, and not a third time', (_, tool_calls) => {
    const a = excused(tool_calls);
    expect(a.dueAt()).toBe(AFTER + RECENT);
    expect(a.passTo(AFTER + RECENT - 1)).toEqual([]);
    const again = a.passTo(AFTER + RECENT);
    expect(severities(again)).toEqual(['high']);
    expect(again[0]?.findings).toMatchObject({ transient: false });
    a.steps(AFTER + 6 * MIN, 1, 'CONTINUE', { tool_calls: [call('w2', { mutating: true, args_hash: 'other' })] });
    a.steps(AFTER + 9 * MIN, 1);
    expect(a.passTo(AFTER + 12 * MIN)).toEqual([]);
    expect(severities(a.all())).toEqual(['high', 'high']);
  });

  test('at four minutes, however often progress comes: it dismisses a severity once', () => {
    const a = excused([edit]);
    a.steps(AFTER + RECENT - 1, 1, 'CONTINUE', { tool_calls: [call('w2', { mutating: true, args_hash: 'other' })] });
    expect(a.dueAt()).toBe(AFTER + RECENT);
    const again = a.passTo(AFTER + RECENT);
    expect(severities(again)).toEqual(['high']);
    expect(again[0]?.findings).toMatchObject({ transient: false, progressAt: null });
    expect(again[0]?.ticket.judge_reasoning).toContain(
      'progress no longer counts: a high ticket was dismissed for it at',
    );
  });

  test('at once where a second failure ends the excuse of the first', () => {
    const a = excused([timeout('t2'), read('r2')]);
    const more = a.receive(AFTER + 3 * MIN + 1, { tool_calls: [timeout('t3')] });
    expect(reasons(more)).toEqual([['high', false, null]]);
  });

  test('not where an ACCEPT has ended the finding', () => {
    const a = excused([edit]);
    a.steps(AFTER + RECENT - 1, 1, 'ACCEPT');
    expect(a.passTo(AFTER + 2 * RECENT - 2)).toEqual([]);
  });

  test('not where it was filed without an excuse', () => {
    const a = accepted();
    expect(severities(a.steps(AFTER, 15))).toEqual(['high']);
    a.steps(AFTER + 3 * MIN, 1, 'CONTINUE', { tool_calls: [edit] });
    a.steps(AFTER + 6 * MIN, 1);
    expect(a.passTo(AFTER + 9 * MIN)).toEqual([]);
  });

  test('a worse one is dismissed once for its own four minutes, so each severity is filed to people in the end', () => {
    const a = excused([edit]);
    for (let ms = AFTER + 3 * MIN + 1000, i = 0; ms < AFTER + 60 * MIN; ms += 30_000, i++)
      a.steps(ms, 1, 'RETRY', { tool_calls: [call(`n${i}`, { result_hash: `new ${i}` })] });
    const filed = a.all().map(({ ticket: { severity }, findings }) => [severity, findings.progressAt !== null]);
    expect(filed).toEqual([
      ['high', true],
      ['high', false],
      ['critical', true],
      ['critical', false],
    ]);
    const [, , first, last] = a.all().map(({ ticket }) => Date.parse(ticket.created_at));
    expect((last ?? 0) - (first ?? 0)).toBe(RECENT);
  });

  test('a worse one is filed at once, and then again in place of both', () => {
    const a = excused([edit]);
    expect(severities(a.steps(AFTER + 3 * MIN + 1, 5))).toEqual(['critical']);
    expect(severities(a.passTo(AFTER + RECENT))).toEqual(['critical']);
    a.steps(AFTER + 6 * MIN, 1);
    expect(a.passTo(AFTER + 9 * MIN)).toEqual([]);
  });

  test('a milder one that stands alone is filed, and the worse one once more where it stands again', () => {
    const a = accepted();
    expect(severities(a.steps(AFTER, 15, 'CONTINUE', { tool_calls: [edit] }))).toEqual(['high']);
    const later = AFTER + RECENT - 1;
    a.receive(later, { tool_calls: [call('w2', { mutating: true, args_hash: 'other' })] });
    expect(severities(a.passTo(AFTER + RECENT))).toEqual(['critical']);
    a.steps(AFTER + RECENT + 1, 1);
    expect(severities(a.passTo(later + RECENT))).toEqual(['high']);
    expect(severities(a.passTo(later + RECENT + 10 * MIN))).toEqual(['critical']);
  });
});

describe('genuine progress', () => {
  /** The time of the last progress in the ticket at 15 steps, after these calls one second apart. */
  const progressAfter = (calls: readonly ReturnType<typeof call>[]) => {
    const a = agent();
    a.steps(0, 0);
    a.steps(1000, 1, 'ACCEPT');
    for (const [i, one] of calls.entries()) a.receive(2000 + i * 100, { tool_calls: [one] });
    const at = Math.max(AFTER, 2000 + calls.length * 100);
    return a.steps(at, 15)[0]?.findings.progressAt ?? null;
  };
  const ok = (i: number, k: number) => call(`c${i}`, { args_hash: `step ${k}`, result_hash: `result ${k}` });
  const loop = (period: number, n: number) => Array.from({ length: n }, (_, i) => ok(i, i % period));

  test('excludes failed calls, also if each has a new text', () => {
    const failed = (i: number) => call(`f${i}`, { outcome: 'error', error_class: 'E', result_hash: `text ${i}` });
    const calls = Array.from({ length: 8 }, (_, i) => failed(i));
    expect(progressAfter(calls)).toBeNull();
    expect(progressAfter([ok(99, 99), ...calls])).toBe(T0 + 2000);
  });

  test.each([33, 60, REMEMBERED_SUCCESSES])('is in a loop of %i calls only its first round', (period) => {
    expect(progressAfter(loop(period, period))).toBe(T0 + 2000 + (period - 1) * 100);
    expect(progressAfter(loop(period, 2 * period + 5))).toBe(T0 + 2000 + (period - 1) * 100);
  });

  test('is not claimed beyond the results that are remembered since the last ACCEPT', () => {
    const last = T0 + 2000 + (REMEMBERED_SUCCESSES - 1) * 100;
    expect(progressAfter(loop(10_000, REMEMBERED_SUCCESSES + 1))).toBe(last);
    expect(progressAfter(loop(REMEMBERED_SUCCESSES + 1, 3 * REMEMBERED_SUCCESSES))).toBe(last);
  });

  test('a successful mutation without known arguments counts among them', () => {
    const unknown = (i: number) => call(`m${i}`, { mutating: true, args_hash: null });
    expect(progressAfter([unknown(0)])).toBe(T0 + 2000);
    const most = Array.from({ length: REMEMBERED_SUCCESSES + 9 }, (_, i) => unknown(i));
    expect(progressAfter(most)).toBe(T0 + 2000 + (REMEMBERED_SUCCESSES - 1) * 100);
  });

  test('is a new checkpoint, too', () => {
    const a = agent();
    a.steps(0, 0);
    a.steps(1000, 1, 'ACCEPT');
    const { checkpoint } = example(Topic.agentObservation, 'AGENT_HEARTBEAT').payload;
    if (!checkpoint) throw new Error('no checkpoint');
    a.receive(AFTER - 5000, {
      checkpoint: { ...checkpoint, checkpoint_id: 'cp-1', created_at: T0 + AFTER - 5000, valid: true },
    });
    expect(a.steps(AFTER, 15)[0]?.findings.progressAt).toBe(T0 + AFTER - 5000);
  });
});
