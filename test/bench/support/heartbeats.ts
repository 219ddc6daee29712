import { type Heartbeat, parseHeartbeat, Topic } from '@vigil/events';
import { type Log, type OutRecord, partitionOf } from '@vigil/stream';

/** Every second heartbeat of an agent reports a call; every tenth call is first reported while it runs, with a deadline. */
const callsOf = (n: number, at: number): readonly object[] => {
  if (n % 20 === 0) return [{ ...call(n, at), outcome: 'running', deadline_at: at + 120_000 }];
  if (n % 20 === 1) return [{ ...call(n - 1, at), ...ended(n, at) }];
  return n % 2 === 0 ? [{ ...call(n, at), ...ended(n, at) }] : [];
};

const call = (n: number, at: number) => ({
  call_id: `call-${n}`,
  tool: ['bash', 'read_file', 'edit_file'][n % 3],
  args_hash: `9f86d081884c7d65${n}`,
  started_at: at - 700,
  mutating: n % 6 === 0,
});

const ended = (n: number, at: number) => ({ result_hash: `2c26b46b68ffc68f${n}`, ended_at: at - 50 });

const CHECKPOINT_EVERY = 30;

const checkpointed = (n: number, at: number) => ({
  checkpoint_id: `checkpoint-${n}`,
  uri: `file:///checkpoints/${n}.json`,
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  valid: true,
  created_at: at - 20,
  completed_work: ['parsed the ticket', 'wrote the test'],
  remaining_work: ['make it pass'],
});

/** Only CODITECT's eight fields. */
export const bare = (agent: string, n: number, at: number): Heartbeat =>
  parseHeartbeat({
    agent_id: agent,
    task_id: `task-${agent}`,
    timestamp: at,
    phase: 'implementation',
    last_tool_call: at - 50,
    token_count: 1_000 + 120 * n,
    error_count: 0,
    progress_indicator: `step ${n}`,
  });

/** The `n`th heartbeat of an agent at work: calls, output, context; now and then a checkpoint. `at`: its clock, epoch milliseconds. */
export const working = (agent: string, n: number, at: number): Heartbeat =>
  parseHeartbeat({
    ...bare(agent, n, at),
    instance_id: `${agent}.1`,
    sequence: n,
    interval_ms: 1_000,
    runtime_id: 'runtime-1',
    labels: { team: 'core', host: 'host-7', model: 'large' },
    activity: 'working',
    context: { tokens_used: 1_000 + 120 * n, tokens_max: 200_000 },
    output: { last_output_at: at - 30, lines: 3 },
    reports_checkpoints: true,
    tool_calls: callsOf(n, at),
    checkpoint: n % CHECKPOINT_EVERY === 0 ? checkpointed(n, at) : null,
  });

/** An Avro record in its own partition. */
export const recordOf = (log: Log, partitions: number, payload: Heartbeat): OutRecord => ({
  topic: Topic.heartbeat,
  partition: partitionOf(payload.agent_id, partitions),
  key: payload.agent_id,
  value: log.codec.encode({ topic: Topic.heartbeat, type: 'HEARTBEAT', payload }),
});
