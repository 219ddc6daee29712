import { expect, test } from 'vitest';
import { type Call, call, history, T0 } from '../fixture.ts';
import { OPEN_CALLS } from '../history/calls/calls.ts';
import type { Heartbeats } from '../signals/testing/case.ts';
import { MIN, preset } from './judging.fixture.ts';

const vigil = preset('vigil');

/** A call begins each minute, and none ends. */
const begun = (minutes: number, more: (minute: number) => Partial<Call>): Heartbeats =>
  Array.from({ length: minutes + 1 }, (_, i): Heartbeats[number] => {
    const started = T0 + i * MIN;
    const tool_calls = [call(`c${i}`, { outcome: 'running', args_hash: `a${i}`, started_at: started, ...more(i) })];
    return [i * MIN, { activity: 'working', tool_calls }];
  });
const within = (minutes: number) => (minute: number) => ({ deadline_at: T0 + (minute + minutes) * MIN });

// A call has a minute beyond its deadline.
test.each([10, 12, 30, 100])(
  'of calls that begin each minute with a deadline of %d min, and never end, the first is overdue in time',
  (minutes) => {
    const calls = begun(minutes + 1, within(minutes));
    expect(vigil.at(calls, (minutes + 1) * MIN)).toMatchObject({ state: 'HEALTHY' });
    expect(vigil.at(calls, (minutes + 1) * MIN + 1)).toMatchObject({ state: 'STUCK', fires: ['call_overdue'] });
  },
);

test('it stays overdue while more begin, and the stored calls are bounded', () => {
  const calls = begun(120, within(10));
  expect(vigil.at(calls, 120 * MIN).fires).toContain('call_overdue');
  expect(history(calls).calls.open).toHaveLength(OPEN_CALLS);
});

test('one with a near deadline is overdue among many with far ones, also if it is not the oldest', () => {
  const calls = begun(40, (minute) => within(minute === 3 ? 20 : 600)(minute));
  expect(vigil.at(calls, 24 * MIN).fires).not.toContain('call_overdue');
  expect(vigil.at(calls, 24 * MIN + 1).fires).toContain('call_overdue');
});

test('one without a deadline is overdue by its kind, also among many of another kind', () => {
  const calls = begun(40, (minute) => (minute === 3 ? { kind: 'external_api' } : within(600)(minute)));
  const limit = preset('coditect');
  const first = Array.from({ length: 40 }, (_, i) => i).find((minute) =>
    limit.at(calls.slice(0, minute + 1), minute * MIN).fires.includes('call_overdue'),
  );
  const alone = Array.from({ length: 40 }, (_, i) => i).find((minute) =>
    limit.at(calls.slice(3, 4), minute * MIN).fires.includes('call_overdue'),
  );
  expect(first).toBe(alone);
});

test('the newest call is stored, and excuses a silence until its own deadline', () => {
  const calls = begun(20, within(600));
  expect(history(calls).calls.open.at(-1)?.id).toBe('c20');
  expect(vigil.at(calls, 500 * MIN).state).toBe('HEALTHY');
});

test('the end of the oldest leaves the next', () => {
  const ended: Heartbeats[number] = [20 * MIN, { tool_calls: [call('c0', { ended_at: T0 + 20 * MIN })] }];
  const open = history([...begun(20, within(30)), ended]).calls.open.map(({ id }) => id);
  expect(open).toHaveLength(OPEN_CALLS - 1);
  expect(open).not.toContain('c0');
});
