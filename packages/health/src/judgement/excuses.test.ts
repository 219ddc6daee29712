import { describe, expect, test } from 'vitest';
import { call } from '../fixture.ts';
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

  test('with each progress the four minutes start again', () => {
    const a = excused([edit]);
    a.steps(AFTER + RECENT - 1, 1, 'CONTINUE', { tool_calls: [call('w2', { mutating: true, args_hash: 'other' })] });
    a.steps(AFTER + 7 * MIN, 1);
    expect(a.passTo(AFTER + 2 * RECENT - 2)).toEqual([]);
    expect(severities(a.passTo(AFTER + 2 * RECENT - 1))).toEqual(['high']);
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
