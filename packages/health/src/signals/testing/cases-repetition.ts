import { type Call, call, type HeartbeatPayload } from '../../fixture.ts';
import type { Case, Heartbeats } from './case.ts';

type Verdicts = NonNullable<HeartbeatPayload['steps']>['verdicts'];

const T0 = 1_795_305_600_000;
const step = (total_steps: number, ...verdicts: Verdicts): Partial<HeartbeatPayload> => ({
  steps: { total_steps, verdicts },
});
const failing = (i: number): Partial<Call> => ({
  ...{ args_hash: `a${i}`, outcome: 'error', error_class: 'exit_127', result_hash: 'javac: not found' },
});
const calls = (n: number, more: (i: number) => Partial<Call>): Heartbeats =>
  Array.from({ length: n }, (_, i) => [1000 * i, { tool_calls: [call(`c${i}`, more(i))] }] as const);
const error = (ms: number): Heartbeats[number] => [
  ms,
  { errors: [{ at: T0 + ms, count: 1, error_class: 'HTTP', hash: 'h', message: null }] },
];

export const REPETITION_CASES = {
  repeated_answer: {
    limits: { times: 5 },
    heartbeats: calls(5, (i) => ({ args_hash: `a${i}` })),
    firesAt: 4000,
    unknown: calls(9, (i) => ({ args_hash: `a${i}`, result_hash: null })),
    needs: ['tool_calls', 'tool_calls.result_hash'],
    words: 'the same answer (bash) 5 times in a row; limit 5',
  },
  repeated_arguments: {
    limits: { times: 5, results: 'unknown' },
    heartbeats: calls(5, () => ({ result_hash: null })),
    firesAt: 4000,
    unknown: calls(9, () => ({ args_hash: null, result_hash: null })),
    needs: ['tool_calls', 'tool_calls.args_hash'],
    words: 'the same call (bash) 5 times in a row, without a known result; limit 5',
  },
  frequent_call: {
    limits: { times: 3, of: 5 },
    heartbeats: calls(5, (i) => ({ args_hash: i % 2 === 0 ? 'again' : `a${i}` })),
    firesAt: 4000,
    unknown: calls(9, () => ({ result_hash: null })),
    needs: ['tool_calls', 'tool_calls.args_hash', 'tool_calls.result_hash'],
    words: 'one call with the same result 3 times among the last 5; limit 3 of 5',
  },
  reported_errors: {
    limits: { above: 0.25 },
    heartbeats: Array.from({ length: 8 }, (_, i) => [
      1000 * i,
      { last_tool_call: T0 + 1000 * i, error_count: Math.max(0, i - 4) },
    ]),
    firesAt: 7000,
    unknown: [[0, { error_count: 9 }]],
    needs: ['error_count'],
    words: 'it counted 3 errors in its last 8 calls or steps; limit 25 %',
  },
  call_budget: {
    limits: { above: 4 },
    heartbeats: calls(5, (i) => ({ args_hash: `a${i}` })),
    firesAt: 4000,
    unknown: [[0, {}]],
    needs: ['tool_calls'],
    atLimit: calls(4, (i) => ({ args_hash: `a${i}` })),
    words: '5 calls; limit 4',
  },
  repeated_error: {
    limits: { times: 5, within: '10m' },
    heartbeats: calls(5, failing),
    firesAt: 4000,
    unknown: calls(9, (i) => ({ ...failing(i), result_hash: null })),
    needs: ['tool_calls', 'tool_calls.result_hash'],
    atLimit: [0, 1, 2, 3].map((i) => error(1000 * i)).concat([error(600_001)]),
    words: 'the same error (exit_127) 5 times within 10 min; limit 5',
  },
  same_target: {
    limits: { times: 4 },
    heartbeats: calls(4, () => ({ tool: 'read', target: 'src/main.ts' })),
    firesAt: 3000,
    unknown: calls(9, () => ({ target: 'src/main.ts', result_hash: null })),
    needs: ['tool_calls', 'tool_calls.target', 'tool_calls.result_hash'],
    words: 'src/main.ts read or edited 4 times without change; limit 4',
  },
  no_accept: {
    limits: { at: 3, needs_loop: true },
    heartbeats: [
      [0, step(1, 'ACCEPT')],
      [1000, step(2, 'RETRY')],
      [2000, step(3, 'RETRY')],
      [3000, step(4, 'RETRY')],
    ],
    firesAt: 3000,
    unknown: [[0, step(40)]],
    needs: ['steps'],
    words: '3 steps since the last ACCEPT, in a loop; limit 3',
  },
} as const satisfies Record<string, Case>;
