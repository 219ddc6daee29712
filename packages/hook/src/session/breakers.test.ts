import type { ToolCall } from '@vigil/events';
import { expect, test } from 'vitest';
import { asked, breakerReports, closedByOrder, ended, type HookBreakers, noBreakers, turnOver } from './breakers.ts';

const call = (call_id: string, more: Partial<ToolCall> = {}): ToolCall => ({
  call_id,
  kind: 'tool',
  tool: 'Edit',
  args_hash: null,
  result_hash: null,
  masked_result_hash: null,
  outcome: 'error',
  error_class: 'tool_error',
  started_at: null,
  ended_at: null,
  deadline_at: null,
  mutating: false,
  polling: false,
  checking: false,
  target: null,
  ...more,
});

const times = (n: number, more: Partial<ToolCall> = {}, from: HookBreakers = noBreakers): HookBreakers =>
  Array.from({ length: n }, (_, i) => call(`${i}`, more)).reduce(
    (state, one) => ended(asked(state, one, 0).state, one, 0),
    from,
  );
const denied = (state: HookBreakers, now = 0, more: Partial<ToolCall> = {}) =>
  asked(state, call('next', more), now).denied;

test('the fifth failure in a row opens the breaker, not the fourth', () => {
  expect(denied(times(4))).toBeNull();
  expect(denied(times(5))).toEqual({ breaker: 'tool_execution', failures: 5, nextAttemptAt: 30_000 });
  expect(denied(times(5), 29_999)).not.toBeNull();
  expect(denied(times(5), 30_000)).toBeNull();
});

test('a service outside has a breaker of its own: three failures', () => {
  const outside = { kind: 'external_api' } as const;
  expect(denied(times(2, outside), 0, outside)).toBeNull();
  expect(denied(times(3, outside), 0, outside)).toMatchObject({ breaker: 'external_api', nextAttemptAt: 60_000 });
  expect(denied(times(3, outside))).toBeNull();
});

test.each([
  ['a command’s own verdict', 'exit_1'],
  ['a person’s no', 'aborted'],
  ['a limit', 'rate_limit'],
])('%s opens nothing', (_, error_class) => {
  expect(denied(times(20, { error_class }))).toBeNull();
});

test('a success ends the row', () => {
  const ok = call('ok', { outcome: 'ok', error_class: null });
  const after = ended(asked(times(4), ok, 0).state, ok, 0);
  expect(denied(times(4, {}, after))).toBeNull();
});

test('one trial at a time; a trial without a further report is dropped when the turn is over', () => {
  const trial = asked(times(5), call('trial'), 30_000).state;
  expect(denied(trial, 30_001)).toMatchObject({ nextAttemptAt: 60_000 });
  expect(denied(turnOver(trial), 30_001)).toBeNull();
});

test('a trial whose end is never reported, although the turn continues, blocks no call for longer than the timeout', () => {
  const trial = asked(times(5), call('trial'), 30_000).state;
  expect(denied(trial, 59_999)).not.toBeNull();
  expect(denied(trial, 60_000)).toBeNull();
  const second = asked(trial, call('second'), 60_000).state;
  expect(denied(second, 60_001)).not.toBeNull();
  expect(denied(ended(second, call('second', { outcome: 'ok' }), 60_002), 60_003)).toBeNull();
});

test('a successful trial closes the breaker, a failed one opens it again', () => {
  const trial = asked(times(5), call('trial'), 30_000).state;
  expect(denied(ended(trial, call('trial', { outcome: 'ok' }), 30_001), 30_002)).toBeNull();
  expect(denied(ended(trial, call('trial'), 30_001), 30_002)).toMatchObject({ nextAttemptAt: 60_001 });
});

test('an order closes one by its name, and none that is not here', () => {
  const after = closedByOrder(times(5), 'tool_execution');
  expect(after && denied(after)).toBeNull();
  expect(closedByOrder(times(5), 'checkpoint_write')).toBeUndefined();
});

test("a heartbeat carries each breaker's state", () => {
  expect(breakerReports(times(5))).toEqual([
    { name: 'tool_execution', state: 'OPEN', failures: 5, next_attempt_at: 30_000 },
    { name: 'external_api', state: 'CLOSED', failures: 0, next_attempt_at: null },
  ]);
});
