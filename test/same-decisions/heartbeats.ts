import { type Heartbeat, parseHeartbeat } from '@vigil/events';
import type { Recorded } from '@vigil/health';
import { clockAt } from '@vigil/stream/testing';
import { randomFrom } from '../support/faults.ts';
import { observed } from '../support/observed.ts';

const AGENTS = 100;
const START = Date.UTC(2026, 0, 1);

const ACTIVITIES = [
  null,
  'working',
  'working',
  'working',
  'idle',
  'awaiting_input',
  'blocked',
  'rate_limited',
  'paused',
];

/** The `n`th heartbeat of an agent, with random values. Agents differ in the fields that they report. */
const heartbeatOf = (agent: number, n: number, at: number, random: () => number): Heartbeat => {
  const one = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const chance = (share: number): boolean => random() < share;
  const reports = (feature: number): boolean => (agent >> feature) % 2 === 0;
  const repeats = chance(0.7);
  const call = {
    call_id: `c${n}`,
    tool: one(['bash', 'read_file', 'edit_file', 'web_fetch']),
    args_hash: repeats ? 'same' : `a${n}`,
    result_hash: repeats ? 'same' : `r${n}`,
    outcome: one(['ok', 'ok', 'error', 'error', 'running', 'refused', 'rate_limited']),
    error_class: one([null, 'exit_1', 'Timeout']),
    started_at: at - 900,
    ended_at: at - 100,
    deadline_at: chance(0.3) ? at + 30_000 : null,
    mutating: chance(0.2),
    target: one([null, 'src/main.ts']),
  };
  return parseHeartbeat({
    agent_id: `agent-${agent}`,
    task_id: agent % 10 === 9 ? null : `task-${agent}`,
    timestamp: at,
    phase: one(['plan', 'implementation']),
    last_tool_call: at - 100,
    token_count: reports(0) ? 1_000 + Math.round(n * (chance(0.1) ? 50_000 : 100)) : 0,
    error_count: chance(0.2) ? n : 0,
    progress_indicator: chance(0.5) ? `step ${n}` : 'the same step',
    instance_id: agent % 7 === 6 ? null : `agent-${agent}.${1 + Math.floor(n / 60)}`,
    sequence: n,
    interval_ms: 10_000,
    runtime_id: 'runtime-1',
    labels: { host: `host-${agent % 5}`, model: 'large' },
    activity: reports(1) ? one(ACTIVITIES) : null,
    turn: reports(2) ? { open: chance(0.6), started_at: at - 5_000, last_event_at: at - 1_000 } : null,
    tool_calls: reports(3) && chance(0.8) ? [call] : [],
    context: reports(4) ? { tokens_used: 2_000 * n, tokens_max: 200_000 } : null,
    output: reports(5) ? { last_output_at: chance(0.5) ? at - 50 : null, lines: n } : null,
    steps: chance(0.2) ? { total_steps: Math.floor(n / 8), verdicts: [one(['ACCEPT', 'RETRY', 'ESCALATE'])] } : null,
    work: chance(0.2) ? { id: `W-${agent}`, status: 'in_progress', updated_at: at - 60_000 } : null,
    errors: chance(0.1) ? [{ at, count: 1, error_class: 'E', hash: 'h', message: 'it failed' }] : [],
    reports_checkpoints: reports(6),
    checkpoint: reports(6) && chance(0.05) ? { checkpoint_id: `cp-${n}`, valid: chance(0.8), created_at: at } : null,
    blockers: chance(0.05) ? ['waits for a review'] : [],
    exit: n === 99 && agent % 3 === 0 ? { reason: one(['finished', 'crashed', 'explicit']) } : null,
  });
};

/**
 * A number of heartbeats of a hundred agents in rounds of 1 to 90 s, with a tick every second. Every tenth agent falls
 * silent half-way.
 */
export function* heartbeats(count: number): Generator<Recorded> {
  const random = randomFrom(20_261_124);
  let now = START;
  for (let n = 0; n < count / AGENTS; n += 1) {
    for (let agent = 0; agent < AGENTS; agent += 1) {
      if (agent % 10 === 5 && n > 50) continue;
      const at = now + agent;
      yield { clock: clockAt(at), input: observed(heartbeatOf(agent, n, at, random), `heartbeat/${n}/${agent}`) };
    }
    for (const until = now + 1000 * Math.ceil(90 * random()); now < until; ) {
      now += 1000;
      yield { clock: clockAt(now), input: null };
    }
  }
}
