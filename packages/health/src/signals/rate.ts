import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { failedOf, MOST_CALLS } from '../history/calls/last-calls.ts';
import { type AnySignal, signal } from './signal.ts';

/** Failed calls in a row, strictly above the limit. */
export const consecutiveFailures: AnySignal = signal(z.strictObject({ above: z.int().min(1) }), {
  axis: 'rate',
  awaits: ['success'],
  firesFrom: ({ calls }, { above }) => (calls.failures > above ? (calls.failedAt ?? NEVER) : NEVER),
  evidence: ({ calls }, { above }) => ({
    value: calls.failures,
    limit: above,
    words: `${calls.failures} failed calls in a row; limit ${above}`,
    hard: false,
  }),
  finding: ({ calls }) => `Your last ${calls.failures} calls have all failed.`,
  advice: 'Find the cause before the next call. Try another way, or say what blocks you.',
});

const errorRateLimits = z
  .strictObject({
    /** of 1 */
    above: z.number().min(0).max(1),
    window: z.int().min(1).max(MOST_CALLS).default(20),
    /** fewer calls are too few for a finding */
    min_calls: z.int().min(1).default(8),
  })
  .refine((l) => l.min_calls <= l.window, {
    path: ['min_calls'],
    message: 'is above window, so it is never reached: write at most as many calls as window',
  });

/** The share of failed calls among the last ones, strictly above the limit. */
export const errorRate: AnySignal = signal(errorRateLimits, {
  axis: 'rate',
  awaits: [],
  by: 'outcomes',
  firesFrom: ({ outcomes }, l) => {
    const { calls, failed } = failedOf(outcomes, l.window);
    return calls >= l.min_calls && failed / calls > l.above ? outcomes.at : NEVER;
  },
  evidence: ({ outcomes }, l) => {
    const { calls, failed } = failedOf(outcomes, l.window);
    const value = calls === 0 ? null : failed / calls;
    const few = calls < l.min_calls ? `, too few: ${l.min_calls} are needed` : '';
    const words = `${failed} of the last ${calls} calls failed${few}; limit ${percent(l.above)}`;
    return { value, limit: l.above, words, hard: false };
  },
  finding: ({ outcomes }, l) => {
    const { calls, failed } = failedOf(outcomes, l.window);
    return `Of your last ${calls} calls, ${failed} have failed.`;
  },
  advice: 'Find out what they have in common before the next call.',
});

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;
