import { NEVER } from '@vigil/stream';
import { describe, expect, test } from 'vitest';
import { call, type HeartbeatPayload, history, judgedAt, T0 } from '../fixture.ts';
import { falseCompletion } from './fact.ts';
import type { Heartbeats } from './testing/case.ts';

type Call = Partial<NonNullable<HeartbeatPayload['tool_calls']>[number]>;
const MINUTE = 60_000;
const at = judgedAt(T0 + MINUTE);
const limits = (more: object) => falseCompletion.limits.parse(more) as never;

const edit = (more: Call = {}): Call => ({ tool: 'Edit', mutating: true, target: 'src/a.ts', ...more });
const check = (more: Call = {}): Call => ({ tool: 'Bash', checking: true, ...more });
const failed = { outcome: 'error', error_class: 'exit_1' } as const;

/** An agent that makes these calls, one a second, and then reports that it has finished. */
const finishedAfter = (...calls: readonly Call[]): Heartbeats => [
  ...calls.map((more, i): Heartbeats[number] => [i * 1000, { tool_calls: [call(`c${i}`, more)] }]),
  [30_000, { activity: 'finished' }],
];
const isFalse = (heartbeats: Heartbeats, more: object = {}): boolean =>
  falseCompletion.firesFrom(history(heartbeats), limits(more), at) < NEVER;
const evidence = (heartbeats: Heartbeats, more: object = {}) =>
  falseCompletion.evidence(history(heartbeats), limits(more), at);

describe('an agent that reports that it has finished', () => {
  test('is contradicted by a last check that failed, until a check passes', () => {
    const given = finishedAfter(edit(), check(failed));
    expect(falseCompletion.firesFrom(history(given), limits({}), at)).toBe(T0 + 30_000);
    expect(evidence(given)).toMatchObject({ words: 'finished, and its last check failed', hard: false });
    expect(isFalse(finishedAfter(edit(), check(failed), edit()))).toBe(true);
    expect(isFalse(finishedAfter(edit(), check(failed), edit(), check()))).toBe(false);
    expect(isFalse(finishedAfter(edit(), check()))).toBe(false);
  });

  test('is contradicted by a change that failed, until one of the same target succeeds or a check passes', () => {
    const given = finishedAfter(edit({ target: 'report.md', ...failed }), {});
    expect(evidence(given).words).toBe('finished, and its last change of report.md failed');
    expect(isFalse(finishedAfter(edit(failed), edit(), check()))).toBe(false);
    expect(isFalse(finishedAfter(edit(failed), edit()))).toBe(false);
    expect(isFalse(finishedAfter(edit(failed), edit({ target: 'src/b.ts' })))).toBe(true);
    expect(isFalse(finishedAfter(edit(failed), check()))).toBe(false);
    expect(isFalse(finishedAfter(check(), edit(failed)))).toBe(true);
  });

  test('is contradicted by a last call that failed, but not where no call has ever succeeded', () => {
    expect(evidence(finishedAfter({}, failed)).words).toBe('finished, and its last call failed');
    expect(isFalse(finishedAfter(failed, {}))).toBe(false);
    expect(isFalse(finishedAfter(failed, failed))).toBe(false);
  });

  test('is contradicted by a change without a later check only where the policy needs one', () => {
    const given = finishedAfter(check(), edit());
    expect(isFalse(given)).toBe(false);
    expect(evidence(given, { needs_check: true }).words).toBe(
      'finished, and no check has passed since its last change',
    );
    expect(isFalse(finishedAfter(edit(), check()), { needs_check: true })).toBe(false);
    expect(isFalse(finishedAfter(check()), { needs_check: true })).toBe(false);
  });

  test('has done nothing if its client reports turns and no call', () => {
    const turn = { open: false, started_at: T0, last_event_at: T0 };
    const idle = (task_id: string | null, more: Partial<HeartbeatPayload> = {}): Heartbeats => [
      [0, { turn, task_id, ...more }],
      [1000, { task_id, activity: 'finished' }],
    ];
    expect(evidence(idle('T')).words).toBe('finished, and it made no call');
    expect(isFalse(idle(null))).toBe(false);
    expect(isFalse(idle('T', { turn: null }))).toBe(false);
    expect(isFalse(idle('T', { tool_calls: [call('c')] }))).toBe(false);
  });
});

test('an agent that has not reported that it has finished is not contradicted', () => {
  expect(isFalse(finishedAfter(edit(), check(failed)).slice(0, -1))).toBe(false);
});

test('refused and abandoned calls and rate limits prove nothing', () => {
  for (const more of [
    { outcome: 'refused' },
    { outcome: 'abandoned' },
    { ...failed, error_class: 'rate_limit' },
  ] as const)
    expect(isFalse(finishedAfter({}, check(more)))).toBe(false);
});

test('the calls for another task do not count', () => {
  const first = { task_id: 'T1', tool_calls: [call('c', check(failed))] };
  const ended: Heartbeats[number] = [2000, { task_id: 'T2', activity: 'finished' }];
  expect(isFalse([[0, first], [1000, { task_id: 'T2' }], ended])).toBe(false);
  expect(
    isFalse([
      [0, first],
      [2000, { task_id: 'T1', activity: 'finished' }],
    ]),
  ).toBe(true);
});
