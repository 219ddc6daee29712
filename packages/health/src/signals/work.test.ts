import { NEVER } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, history, judgedAt, T0 } from '../fixture.ts';
import { noOutput, noStep, noTokens } from './absence.ts';
import type { AnySignal } from './signal.ts';
import type { Heartbeats } from './testing/case.ts';
import { output, workItem } from './testing/cases-absence.ts';
import { noClaimRefresh, noCompletion, notStarted, noWorkUpdate, progressMismatch } from './work.ts';

/** When the signal fires after the heartbeats, milliseconds after T0, with a limit of 60 s. */
const from = (signal: AnySignal, heartbeats: Heartbeats, more: object = {}): number => {
  const limits = signal.limits.parse({ after: '60s', ...more }) as never;
  return signal.firesFrom(history(heartbeats), limits, judgedAt(T0 + 1)) - T0;
};
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime' };

describe('output', () => {
  test('a watched terminal without output counts from the start of watching', () => {
    expect(from(noOutput, [[5000, output({ lines: 0 })]])).toBe(65_001);
  });

  test('a reporter of results that watches no terminal is never without output', () => {
    expect(from(noOutput, [[5000, output({ result_at: T0 })]])).toBe(NEVER);
  });
});

describe('tokens', () => {
  const working = (ms: number, token_count: number) => [ms, { token_count, activity: 'working' as const }] as const;

  test('only a working agent must use tokens', () => {
    const waits = (activity: HeartbeatPayload['activity']): Heartbeats => [
      working(0, 10),
      [5000, { token_count: 10, activity }],
    ];
    expect(from(noTokens, waits('awaiting_input'))).toBe(NEVER);
    expect(from(noTokens, waits('blocked'))).toBe(NEVER);
    expect(from(noTokens, waits('working'))).toBe(60_001);
  });

  test('it counts from the report that the agent works again', () => {
    expect(from(noTokens, [working(0, 10), [5000, { token_count: 10, activity: 'blocked' }], working(9000, 10)])).toBe(
      69_001,
    );
  });

  test('without reported activities, an agent with a task counts as working', () => {
    expect(from(noTokens, [[0, { token_count: 10 }]])).toBe(60_001);
    expect(from(noTokens, [[0, { token_count: 10, task_id: null }]])).toBe(NEVER);
  });
});

describe('the work item', () => {
  const at = (ms: number, updated: number | null, comment_count: number | null = null) =>
    [ms, { ...runtime, ...workItem({ updated_at: updated === null ? null : T0 + updated, comment_count }) }] as const;

  test('a comment touches it, too', () => {
    expect(from(noWorkUpdate, [at(0, 0, 1), at(9000, 0, 1)])).toBe(60_001);
    expect(from(noWorkUpdate, [at(0, 0, 1), at(9000, 0, 2)])).toBe(69_001);
    expect(from(noWorkUpdate, [at(0, null, 1)])).toBe(60_001);
  });

  test('an older stamp is not an update, and one from before the start of the agent counts from its report', () => {
    expect(from(noWorkUpdate, [at(0, 0), at(9000, -5000)])).toBe(60_001);
    expect(from(noWorkUpdate, [at(2000, -9_000_000)])).toBe(62_001);
  });

  test('the work item of another task is dropped with that task', () => {
    expect(from(noWorkUpdate, [at(0, 0), [9000, { ...runtime, task_id: 'T-2' }]])).toBe(NEVER);
    expect(from(noWorkUpdate, [at(0, 0), [9000, runtime]])).toBe(60_001);
  });

  test('a returned claim need not be refreshed', () => {
    const claimed = [0, workItem({ claim_refreshed_at: T0 })] as const;
    expect(from(noClaimRefresh, [claimed, [9000, workItem({ claim_refreshed_at: T0 + 8000 })]])).toBe(68_001);
    expect(from(noClaimRefresh, [claimed, [9000, workItem({})]])).toBe(NEVER);
  });

  test('an update at the very moment of the last activity is not a mismatch', () => {
    expect(from(progressMismatch, [[1000, {}], at(9000, 1000)])).toBe(NEVER);
    expect(from(progressMismatch, [[1000, {}], at(9000, 1001)])).toBe(61_001);
  });

  test('an update long before the first report of it is not a mismatch', () => {
    expect(from(progressMismatch, [[1000, {}], [5000, runtime], at(9000, -5000)])).toBe(NEVER);
  });

  test('activity after the update ends a mismatch', () => {
    expect(from(progressMismatch, [[1000, {}], at(9000, 5000), [12_000, {}]])).toBe(NEVER);
  });
});

describe('completion', () => {
  const result = (ms: number) => output({ result_at: T0 + ms });
  const signal = (ms: number) => output({ completion_signal_at: T0 + ms });

  test('a signal after the result, or shortly before it, completes it', () => {
    expect(
      from(noCompletion, [
        [0, {}],
        [5000, result(4000)],
        [9000, signal(8000)],
      ]),
    ).toBe(NEVER);
    expect(
      from(noCompletion, [
        [0, {}],
        [3000, signal(3000)],
        [5000, result(4000)],
      ]),
    ).toBe(NEVER);
    const both = { ...result(4000).output, ...{ completion_signal_at: T0 + 3000 } } as NonNullable<
      HeartbeatPayload['output']
    >;
    expect(
      from(noCompletion, [
        [0, {}],
        [5000, { output: both }],
      ]),
    ).toBe(NEVER);
  });

  test('one signal completes one result', () => {
    const once = [
      [0, {}],
      [5000, result(4000)],
      [9000, signal(8000)],
    ] as const;
    expect(from(noCompletion, [...once, [20_000, result(20_000)]])).toBe(NEVER);
    expect(from(noCompletion, [...once, [20_000, result(20_000)], [40_000, result(40_000)]])).toBe(100_001);
  });

  test('a pattern of the kind completion is a signal', () => {
    const matched = output({
      matched_patterns: [{ kind: 'completion', source: '<promise>', at: T0 + 6000, line: null }],
    });
    expect(
      from(noCompletion, [
        [0, {}],
        [5000, result(4000)],
        [7000, matched],
      ]),
    ).toBe(NEVER);
  });
});

describe('steps', () => {
  test('it fires at the limit if the policy sets inclusive', () => {
    const stepped: Heartbeats = [[0, { steps: { total_steps: 1, verdicts: [] } }]];
    expect(from(noStep, stepped)).toBe(60_001);
    expect(from(noStep, stepped, { inclusive: true })).toBe(60_000);
  });
});

describe('a task that is not begun', () => {
  const takes = (more: Partial<HeartbeatPayload> = {}): Heartbeats => [
    [0, { task_id: null }],
    [9000, { task_id: 'T-1', ...more }],
  ];

  test('counts from the time at which it was taken', () => {
    expect(from(notStarted, takes())).toBe(69_001);
  });

  test.each<[string, Partial<HeartbeatPayload>]>([
    ['a call', { tool_calls: [call('c1')] }],
    ['use of tokens', { token_count: 10 }],
    ['progress', { progress_indicator: '1' }],
    ['a report that it works', { activity: 'working' }],
  ])('%s is a beginning', (_, more) => {
    expect(from(notStarted, takes(more))).toBe(NEVER);
    expect(from(notStarted, [...takes(), [12_000, more]])).toBe(NEVER);
  });

  test('a begun task stays begun, and the next task is not', () => {
    const begun: Heartbeats = [...takes({ activity: 'working' }), [20_000, { activity: 'idle' }]];
    expect(from(notStarted, begun)).toBe(NEVER);
    expect(from(notStarted, [...begun, [30_000, { activity: 'idle', task_id: 'T-2' }]])).toBe(90_001);
  });
});
