import { type Call, call, type HeartbeatPayload } from '../../fixture.ts';
import type { Case, Heartbeats } from './case.ts';

const T0 = 1_795_305_600_000;
const NO_OUTPUT: NonNullable<HeartbeatPayload['output']> = {
  last_output_at: null,
  lines: null,
  matched_patterns: [],
  shown_errors: [],
  repeated_error: null,
  result_at: null,
  completion_signal_at: null,
  tail: [],
};
const output = (more: Partial<NonNullable<HeartbeatPayload['output']>>): Partial<HeartbeatPayload> => ({
  output: { ...NO_OUTPUT, ...more },
});
const matched = (source: string, ms: number) => ({ kind: 'error', source, at: T0 + ms, line: null });
const written = (left: readonly string[]): Partial<HeartbeatPayload> => ({
  checkpoint: {
    ...{ checkpoint_id: 'k1', parent_id: null, uri: null, sha256: null, valid: null, invalid_reason: null },
    ...{ created_at: null, completed_work: [], remaining_work: left },
  },
});
const each = (n: number, more: (i: number) => Partial<Call>): Heartbeats =>
  Array.from({ length: n }, (_, i) => [1000 * i, { tool_calls: [call(`c${i}`, more(i))] }] as const);
const used = (n: number, rate: (i: number) => number): Heartbeats =>
  Array.from({ length: n }, (_, i) => {
    let token_count = 1000;
    for (let j = 0; j < i; j++) token_count += rate(j);
    return [60_000 * i, { token_count }] as const;
  });

export const FACT_CASES = {
  error_rate: {
    limits: { above: 0.25, min_calls: 4 },
    heartbeats: each(4, (i) => ({ outcome: i > 1 ? 'error' : 'ok' })),
    firesAt: 3000,
    unknown: each(3, () => ({ outcome: 'error' })),
    needs: ['tool_calls'],
    atLimit: each(4, (i) => ({ outcome: i > 2 ? 'error' : 'ok' })),
    words: '2 of the last 4 calls failed; limit 25 %',
  },
  error_pattern: {
    limits: { patterns: ['tool_use ids', '400 [Bb]ad'], lines: 50 },
    heartbeats: [
      [0, output({ lines: 100 })],
      [9000, output({ lines: 120, matched_patterns: [matched('tool_use ids', 8000), matched('400 [Bb]ad', 8000)] })],
    ],
    firesAt: 8000,
    unknown: [[0, output({ lines: 9, matched_patterns: [matched('another', 0)] })]],
    needs: ['output'],
    words: 'its output matches 400 [Bb]ad,tool_use ids within its last 50 lines',
  },
  unrecoverable_error: {
    limits: { classes: ['auth_expired'] },
    heartbeats: [
      [0, {}],
      [4000, { errors: [{ at: T0 + 4000, count: 1, error_class: 'auth_expired', hash: null, message: null }] }],
    ],
    firesAt: 4000,
    unknown: [[0, { errors: [{ at: T0, count: 1, error_class: null, hash: 'h', message: 'auth_expired' }] }]],
    needs: ['errors', 'errors.error_class'],
    words: 'the error auth_expired is listed as fatal',
  },
  false_completion: {
    limits: {},
    heartbeats: [
      [0, written(['tests'])],
      [5000, { activity: 'finished' }],
    ],
    firesAt: 5000,
    unknown: [[0, { activity: 'finished' }]],
    needs: ['activity', 'checkpoint'],
    words: 'finished, and its last checkpoint leaves 1 piece of work',
  },
  diverse_calls: {
    limits: {},
    heartbeats: each(6, (i) => ({ args_hash: `a${i}` })),
    firesAt: 5000,
    unknown: each(9, () => ({ args_hash: null })),
    needs: ['tool_calls', 'tool_calls.args_hash'],
    words: '6 different calls among the last 6, the newest 0 ms old; counts for 5 min',
  },
  steady_tokens: {
    limits: {},
    heartbeats: used(5, () => 900),
    firesAt: 240_000,
    unknown: [[0, { token_count: 0 }]],
    needs: ['token_count'],
    words: '900, 900, 900, 900 tokens a minute; counts for 5 min',
  },
} as const satisfies Record<string, Case>;
