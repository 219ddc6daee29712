import type { HeartbeatPayload } from '../../fixture.ts';
import { call } from '../../fixture.ts';
import type { SignalName } from '../all.ts';
import type { Case, Heartbeats } from './case.ts';
import { ABSENCE_CASES } from './cases-absence.ts';
import { COST_CASES } from './cases-cost.ts';
import { FACT_CASES } from './cases-fact.ts';
import { REPETITION_CASES } from './cases-repetition.ts';

const same = (n: number, more: Partial<HeartbeatPayload['tool_calls'][number]> = {}): Heartbeats =>
  Array.from({ length: n }, (_, i) => [1000 * i, { tool_calls: [call(`c${i}`, more)] }] as const);
const open = (name: string, failures: number, at: number): HeartbeatPayload['breakers'][number] => ({
  ...{ name, failures },
  state: 'OPEN',
  next_attempt_at: at,
});
const runtime: Partial<HeartbeatPayload> = { reporter: 'runtime' };

export const CASES: Readonly<Record<SignalName, Case>> = {
  ...ABSENCE_CASES,
  ...COST_CASES,
  ...FACT_CASES,
  ...REPETITION_CASES,
  no_heartbeat: {
    limits: { after: '60s' },
    heartbeats: [[0, {}]],
    firesAt: 60_001,
    unknown: [],
    needs: [],
    words: 'nothing received for 1 min; limit 1 min',
  },
  no_activity: {
    limits: { after: '8s' },
    heartbeats: [
      [0, {}],
      [5000, runtime],
    ],
    firesAt: 8001,
    unknown: [[0, runtime]],
    needs: [],
    words: 'no call, no output, no heartbeat of its own for 8 s; limit 8 s',
  },
  no_calls: {
    limits: { after: '2m' },
    heartbeats: [
      [0, { last_tool_call: null }],
      [1000, { tool_calls: [call('c1')] }],
    ],
    firesAt: 121_001,
    unknown: [[0, {}]],
    needs: ['tool_calls'],
    words: 'no call for 2 min, none in flight; limit 2 min',
  },
  no_checkpoint: {
    limits: { after: '10m' },
    heartbeats: [[0, { reports_checkpoints: true }]],
    firesAt: 600_001,
    unknown: [[0, { reports_checkpoints: null }]],
    needs: ['reports_checkpoints'],
    words: 'no new checkpoint for 10 min; limit 10 min',
  },
  call_overdue: {
    limits: { buffer: '60s' },
    heartbeats: [[0, { tool_calls: [call('c1', { outcome: 'running', deadline_at: 1_795_305_600_000 + 30_000 })] }]],
    firesAt: 90_001,
    unknown: [[0, { tool_calls: [call('c1', { outcome: 'running' })] }]],
    needs: ['tool_calls', 'tool_calls.deadline_at'],
    words: 'tool call bash not answered for 1 min 30 s; limit 1 min 30 s',
  },
  repeated_calls: {
    limits: { times: 5 },
    heartbeats: same(5),
    firesAt: 4000,
    unknown: same(9, { result_hash: null }),
    needs: ['tool_calls', 'tool_calls.args_hash', 'tool_calls.result_hash'],
    words: 'the same call (bash) 5 times in a row with the same result; limit 5',
  },
  consecutive_failures: {
    limits: { above: 3 },
    heartbeats: same(4, { outcome: 'error', result_hash: null }),
    firesAt: 3000,
    unknown: [[0, { error_count: 9 }]],
    needs: ['tool_calls'],
    words: '4 failed calls in a row; limit 3',
  },
  rate_limited: {
    limits: { for: '60s' },
    heartbeats: [[7000, { activity: 'rate_limited' }]],
    firesAt: 7000,
    unknown: [[0, {}]],
    needs: ['activity'],
    words: 'rate-limited for another 1 min',
  },
  breaker_open: {
    limits: {},
    heartbeats: [
      [0, {}],
      [4000, { breakers: [open('checkpoint_write', 3, 1_795_305_600_000 + 124_000)] }],
    ],
    firesAt: 4000,
    unknown: [[0, { breakers: [{ name: 'tool_execution', state: 'UNKNOWN', failures: 9, next_attempt_at: null }] }]],
    needs: ['breakers'],
    words: 'breaker checkpoint_write is open after 3 failures in a row, next attempt in 2 min',
  },
  exited: {
    limits: { reasons: ['crashed'] },
    heartbeats: [[0, {}]],
    firesAt: 9000,
    unknown: [[0, {}]],
    needs: [],
    words: 'ended: crashed',
  },
  blocked: {
    limits: {},
    heartbeats: [
      [0, {}],
      [
        3000,
        {
          activity: 'blocked',
          turn: { open: false, started_at: 1_795_305_600_000, last_event_at: 1_795_305_603_000 },
          errors: [{ at: 1_795_305_603_000, count: 1, error_class: 'invalid_request', hash: null, message: null }],
        },
      ],
    ],
    firesAt: 3000,
    unknown: [[0, {}]],
    needs: ['activity'],
    words: 'its last turn failed, blocked by the error invalid_request',
  },
  self_reported_stuck: {
    limits: {},
    heartbeats: [
      [0, {}],
      [3000, { activity: 'stuck' }],
    ],
    firesAt: 3000,
    unknown: [[0, {}]],
    needs: ['activity'],
    words: 'it reports that it is stuck',
  },
};
