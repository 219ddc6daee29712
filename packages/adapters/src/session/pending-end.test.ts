import type { ToolCall } from '@vigil/events';
import { expect, test } from 'vitest';
import { startedCall } from '../shared/calls.ts';
import { newSession, observe, type SessionEvent } from './session.ts';

const traits = { kind: 'tool', mutating: false, polling: false, checking: false, target: null, limitMs: null } as const;
const callOf = (id: string): ToolCall => startedCall({ callId: id, tool: 'Bash', args: {}, traits }, 0);
const nameOf = (id: string) => ({ callId: id, tool: 'Bash', argsHash: callOf(id).args_hash });

const own = { agent: null };
const started = (id: string, at: number): SessionEvent => ({
  ...{ ...own, kind: 'call_started', at, batch: null, asks: null },
  call: { ...callOf(id), started_at: at },
});
const ended = (id: string, at: number, error_class: string | null): SessionEvent => {
  const outcome = error_class === null ? 'ok' : 'error';
  const call = { ...callOf(id), started_at: null, ended_at: at, outcome, error_class } as const;
  return { ...own, kind: 'call_ended', at, call, name: nameOf(id) };
};
const pending = (id: string, at: number): SessionEvent => {
  const call = { ...callOf(id), started_at: null, ended_at: at, outcome: 'ok' } as const;
  return { ...own, kind: 'call_outcome_pending', at, call, name: nameOf(id) };
};
const turnEnded = (at: number): SessionEvent => ({ ...own, kind: 'turn_ended', wakes: false, at });

const ends = (...events: readonly SessionEvent[]): readonly string[] => {
  let session = newSession;
  return events.flatMap((event) => {
    const observed = observe(session, event);
    session = JSON.parse(JSON.stringify(observed.session));
    const calls = observed.reports.flatMap(({ fields }) => fields.tool_calls ?? []);
    return calls
      .filter(({ outcome }) => outcome !== 'running')
      .map(({ call_id, outcome, error_class, ended_at }) => `${call_id} ${error_class ?? outcome} at ${ended_at}`);
  });
};

test('a call whose outcome is pending ends once, with the exit code that the file shows later', () => {
  expect(ends(started('a', 1), pending('a', 2), started('b', 3), ended('a', 2, 'exit_1'))).toEqual(['a exit_1 at 2']);
});

test('a call that the file has ended does not become pending', () => {
  expect(ends(started('a', 1), ended('a', 2, 'exit_1'), pending('a', 3), turnEnded(4))).toEqual(['a exit_1 at 2']);
});

test.each([
  ['its turn ends', turnEnded(9)],
  [
    'the file shows that the model has the result',
    { ...own, kind: 'result_seen', callId: 'a', refused: false, errorClass: null, at: 9 },
  ],
  ['another call starts five seconds later', started('b', 5002)],
] as const)('a pending end is reported with the outcome of its hook when %s', (_, event) => {
  expect(ends(started('a', 1), pending('a', 2), event)).toEqual(['a ok at 2']);
});

test('a pending end whose result in the file is a failure ends once, as that failure, at the time of its hook', () => {
  const failed = { ...own, kind: 'result_seen', callId: 'a', refused: false, errorClass: 'exit_1', at: 9 } as const;
  expect(ends(started('a', 1), pending('a', 2), failed, turnEnded(10))).toEqual(['a exit_1 at 2']);
  expect(ends(started('a', 1), failed, turnEnded(10))).toEqual(['a exit_1 at 9']);
  expect(ends(started('a', 1), ended('a', 2, null), failed)).toEqual(['a ok at 2']);
});

const permission = { kind: 'permission', text: 'Allow?', since: null } as const;
const asks = (at: number): SessionEvent => ({ ...own, kind: 'wait_started', waiting: permission, call: null, at });
const overdue = (at: number): SessionEvent => ({ ...own, kind: 'outcomes_overdue', at });
const waits = (...events: readonly SessionEvent[]): boolean => {
  const session = events.reduce((before, event) => observe(before, event).session, newSession);
  return session.main.wait !== null;
};

test('a wait without a call ends with the last unfinished call, by any report of that end', () => {
  const asked = [started('a', 1), asks(2)];
  expect(waits(...asked)).toBe(true);
  expect(waits(...asked, pending('a', 3))).toBe(false);
  const result = { ...own, kind: 'result_seen', callId: 'a', refused: false, errorClass: null, at: 3 } as const;
  expect(waits(...asked, result)).toBe(false);
  expect(waits(started('a', 1), started('b', 1), asks(2), pending('a', 3))).toBe(true);
});

test('a wait that began after the end of a call does not end with the late outcome of that call', () => {
  expect(waits(started('a', 1), pending('a', 2), asks(3), ended('a', 2, 'exit_1'))).toBe(true);
  expect(waits(started('a', 1), pending('a', 2), asks(3), overdue(9000))).toBe(true);
});

test('a pending end is still awaited when another call starts within five seconds', () => {
  expect(ends(started('a', 1), pending('a', 2), started('b', 5001))).toEqual([]);
});

test('a call whose start was not reported ends with the exit code, too', () => {
  expect(ends(pending('a', 2), ended('a', 2, 'exit_1'))).toEqual(['a exit_1 at 2']);
});

test('an end that is reported after its turn is not awaited, because no further event may come', () => {
  expect(ends(started('z', 1), turnEnded(5), pending('a', 4))).toEqual(['z abandoned at 5', 'a ok at 4']);
});
