import type { HeartbeatPayload } from '../../fixture.ts';
import type { Case, Heartbeats } from './case.ts';

const MINUTE = 60_000;

/** A heartbeat each minute, with the tokens used since the previous one. */
export const using = (...each: readonly number[]): Heartbeats => {
  let token_count = 1000;
  return [0, ...each].map((tokens, i) => {
    token_count += tokens;
    return [i * MINUTE, { token_count }] as const;
  });
};
export const contextUsed = (tokens_used: number, tokens_max = 100): Partial<HeartbeatPayload> => ({
  context: { tokens_used, tokens_max },
});

export const COST_CASES = {
  token_spike: {
    limits: { factor: 5, min_samples: 5 },
    heartbeats: using(1000, 1000, 1000, 1000, 1000, 5001),
    firesAt: 6 * MINUTE,
    unknown: [[0, {}]],
    needs: ['token_count'],
    atLimit: using(1000, 1000, 1000, 1000, 1000, 5000),
    words: '5001 tokens a minute; limit 5000, 5 times its median',
  },
  token_burn: {
    limits: { for: '3m' },
    heartbeats: using(50, 50, 50, 50),
    firesAt: 3 * MINUTE + 1,
    unknown: [
      [0, {}],
      [4 * MINUTE, {}],
    ],
    needs: ['token_count'],
    atLimit: using(50, 50, 50),
    words: 'tokens used for 4 min without progress; limit 3 min',
  },
  context_exhausted: {
    limits: { above: 0.8 },
    heartbeats: [
      [0, contextUsed(80)],
      [4000, contextUsed(81)],
    ],
    firesAt: 4000,
    unknown: [[0, contextUsed(81, 0)]],
    needs: ['context', 'context.tokens_max'],
    atLimit: [[0, contextUsed(80)]],
    words: '81 % of the context used; limit 80 %',
  },
  resource_limit: {
    limits: {},
    heartbeats: [
      [0, { limits: [{ name: 'memory', used: 1500, max: 1500 }] }],
      [4000, { limits: [{ name: 'memory', used: 1500.5, max: 1500 }] }],
    ],
    firesAt: 4000,
    unknown: [[0, { limits: [{ name: 'memory', used: 9, max: 0 }] }]],
    needs: ['limits'],
    atLimit: [[0, { limits: [{ name: 'memory', used: 1500, max: 1500 }] }]],
    words: 'limit exceeded: memory 1500.5 of 1500',
  },
} as const satisfies Record<string, Case>;
