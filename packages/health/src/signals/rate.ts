import { NEVER } from '@vigil/stream';
import { z } from 'zod';
import { type AnySignal, signal } from './signal.ts';

/** S0: failed calls in a row, strictly above the limit. */
export const consecutiveFailures: AnySignal = signal(z.strictObject({ above: z.int().min(1) }), {
  axis: 'rate',
  firesFrom: ({ calls }, { above }) => (calls.failures > above ? (calls.failedAt ?? NEVER) : NEVER),
  evidence: ({ calls }, { above }) => ({
    value: calls.failures,
    limit: above,
    words: `${calls.failures} failed calls in a row; limit ${above}`,
    hard: false,
  }),
});
