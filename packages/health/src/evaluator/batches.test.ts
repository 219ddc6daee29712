import { loadPolicy } from '@vigil/policy';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { at, type Call, call, history, T0 } from '../fixture.ts';
import type { History } from '../history/history.ts';
import { judge } from '../judgement/judge.ts';
import { rulesOf } from '../judgement/rules.ts';
import { CASES } from '../signals/testing/cases.ts';
import { VOCABULARY } from '../vocabulary.ts';

const signals = Object.fromEntries(Object.entries(CASES).map(([name, { limits }]) => [name, limits]));
const rules = rulesOf(loadPolicy(JSON.stringify({ policy: 'all', signals, states: {} }), 'all.yaml', VOCABULARY));
const REPORTED_MS = 120_000;

const verdicts = (h: History) =>
  [REPORTED_MS, REPORTED_MS + 30_000, REPORTED_MS + 3_600_000].map((ms) => {
    const { from, until, judging } = judge(rules, h, at(ms), true);
    return { from: Object.fromEntries(rules.rules.map(({ name }, i) => [name, from[i]])), until, judging };
  });

/** Few values, so that repetitions occur. */
const mostly = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

const made: fc.Arbitrary<{ readonly ms: number; readonly more: Partial<Call> }> = fc.record({
  ms: fc.integer({ min: 1, max: REPORTED_MS - 1 }),
  more: fc.record({
    call_id: fc.constantFrom('c1', 'c2', 'c3'),
    args_hash: mostly('a', 'b', null),
    result_hash: mostly('r', 's', null),
    masked_result_hash: mostly('m', null),
    outcome: mostly('ok' as const, 'error' as const, 'running' as const),
    error_class: fc.constantFrom(null, 'timeout'),
    mutating: mostly(false, true),
    polling: mostly(false, true),
    kind: fc.constantFrom('tool' as const, 'model' as const),
  }),
});

/** The report of the call at its time: its end if it has ended, else its start. */
const reported = ({ ms, more }: { readonly ms: number; readonly more: Partial<Call> }): Call => {
  const when =
    more.outcome === 'running' ? { started_at: T0 + ms, deadline_at: T0 + ms + 40_000 } : { ended_at: T0 + ms };
  return call('c', { ...more, ...when });
};

describe('the boundaries of heartbeats', () => {
  test('are irrelevant: calls in one heartbeat, or each at its own time, give the same signals', () => {
    fc.assert(
      fc.property(fc.array(made, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (unsorted, batch) => {
        const calls = unsorted.toSorted((a, b) => a.ms - b.ms);
        const each = calls.map((one) => [one.ms, { tool_calls: [reported(one)] }] as const);
        const batches = calls.flatMap((last, i) => {
          if ((i + 1) % batch !== 0 && i + 1 < calls.length) return [];
          return [[last.ms, { tool_calls: calls.slice(i - (i % batch), i + 1).map(reported) }] as const];
        });
        const start = [0, {}] as const;
        const end = [REPORTED_MS, {}] as const;
        const apart = verdicts(history([start, ...each, end]));
        expect(verdicts(history([start, [REPORTED_MS, { tool_calls: calls.map(reported) }]]))).toEqual(apart);
        expect(verdicts(history([start, ...batches, end]))).toEqual(apart);
      }),
      { numRuns: 100 },
    );
  });
});
