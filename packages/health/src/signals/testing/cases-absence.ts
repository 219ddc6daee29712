import { type HeartbeatPayload, T0 } from '../../fixture.ts';
import type { Case } from './case.ts';

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
export const output = (more: Partial<NonNullable<HeartbeatPayload['output']>>): Partial<HeartbeatPayload> => ({
  output: { ...NO_OUTPUT, ...more },
});
export const workItem = (more: Partial<NonNullable<HeartbeatPayload['work']>>): Partial<HeartbeatPayload> => ({
  work: { id: 'W-1', status: null, updated_at: null, claim_refreshed_at: null, comment_count: null, ...more },
});
const silence: Partial<HeartbeatPayload> = { reporter: 'runtime' };
const works = (token_count: number): Partial<HeartbeatPayload> => ({ token_count, activity: 'working' });
const turned = (open: boolean, lastEvent: number | null): Partial<HeartbeatPayload> => ({
  reporter: 'runtime',
  turn: { open, started_at: T0, last_event_at: lastEvent },
});
const stepped = (total_steps: number): Partial<HeartbeatPayload> => ({ steps: { total_steps, verdicts: [] } });

export const ABSENCE_CASES = {
  no_output: {
    limits: { after: '15m' },
    heartbeats: [
      [0, {}],
      [5000, output({ last_output_at: T0 + 3000 })],
      [9000, output({ last_output_at: T0 + 3000 })],
    ],
    firesAt: 903_001,
    unknown: [[0, output({ result_at: T0 })]],
    needs: ['output', 'output.last_output_at'],
    words: 'no output for 15 min; limit 15 min',
  },
  no_model_answer: {
    limits: { after: '6m' },
    heartbeats: [
      [0, turned(true, T0)],
      [5000, turned(true, T0 + 3000)],
      [9000, turned(true, T0 + 3000)],
    ],
    firesAt: 363_001,
    unknown: [[0, turned(false, T0)]],
    needs: ['turn'],
    words: 'no answer of the model, no event of its client and no call, none in flight, for 6 min; limit 6 min',
  },
  no_tokens: {
    limits: { after: '15m' },
    heartbeats: [
      [0, works(100)],
      [2000, works(200)],
      [9000, works(200)],
    ],
    firesAt: 902_001,
    unknown: [
      [0, works(0)],
      [9000, works(0)],
    ],
    needs: ['token_count'],
    words: 'no token used for 15 min; limit 15 min',
  },
  no_work_update: {
    limits: { after: '10m' },
    heartbeats: [
      [0, {}],
      [5000, workItem({ updated_at: T0 + 1000 })],
    ],
    firesAt: 601_001,
    unknown: [[0, workItem({ status: 'in_progress' })]],
    needs: ['work', 'work.updated_at'],
    words: 'work item W-1 untouched for 10 min; limit 10 min',
  },
  no_claim_refresh: {
    limits: { after: '1h' },
    heartbeats: [
      [0, {}],
      [5000, workItem({ claim_refreshed_at: T0 + 1000 })],
    ],
    firesAt: 3_601_001,
    unknown: [[0, workItem({ updated_at: T0 })]],
    needs: ['work', 'work.claim_refreshed_at'],
    words: 'claim not refreshed for 1 h; limit 1 h',
  },
  no_completion: {
    limits: { after: '10m' },
    heartbeats: [
      [0, {}],
      [5000, output({ result_at: T0 + 1000 })],
    ],
    firesAt: 601_001,
    unknown: [[0, output({ last_output_at: T0 })]],
    needs: ['output', 'output.result_at'],
    words: 'result reported, no completion signal for 10 min; limit 10 min',
  },
  no_step: {
    limits: { after: '4m' },
    heartbeats: [
      [0, stepped(1)],
      [5000, stepped(2)],
      [9000, stepped(2)],
    ],
    firesAt: 245_001,
    unknown: [[0, {}]],
    needs: ['steps'],
    words: 'no step for 4 min; limit 4 min',
  },
  not_started: {
    limits: { after: '10m' },
    heartbeats: [
      [0, {}],
      [9000, {}],
    ],
    firesAt: 600_001,
    unknown: [[0, { task_id: null }]],
    needs: ['task_id'],
    words: 'task T-1 held and nothing begun for 10 min; limit 10 min',
  },
  progress_mismatch: {
    limits: { after: '10m' },
    heartbeats: [
      [0, {}],
      [5000, { ...silence, ...workItem({ updated_at: T0 + 1000 }) }],
    ],
    firesAt: 600_001,
    unknown: [[0, { ...silence, ...workItem({ updated_at: T0 }) }]],
    needs: ['work', 'work.updated_at'],
    words: 'work item W-1 updated after its last activity, inactive for 10 min; limit 10 min',
  },
} as const satisfies Record<string, Case>;
