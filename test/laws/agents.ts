import { type Heartbeat, parseHeartbeat } from '@vigil/events';
import { noProgress, type Progress, progressAfterReport } from '../../packages/supervisor/src/heartbeat/progress.ts';
import type { Order } from '../../packages/supervisor/src/orders/order.ts';

/**
 * The activity of an agent: `works` makes progress, `hangs` makes none, `loops` repeats one call, `waits` waits for a
 * person, `rests` is idle.
 */
export type Mode = 'works' | 'hangs' | 'loops' | 'waits' | 'rests';

/**
 * The reactions of an agent: whether a text makes it work again, whether it follows a handoff request, whether it can
 * be killed.
 */
export type Manners = { readonly answers: boolean; readonly leaves: boolean; readonly dies: boolean };

export type End = {
  readonly reason: 'finished' | 'explicit' | 'crashed';
  readonly orderId: string | null;
  readonly at: number;
};

/** The real state of an agent, which Vigil may not have. */
export type Agent = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string;
  readonly attempt: number | null;
  readonly startedAt: number;
  /** whether an order of Vigil started it */
  readonly byVigil: boolean;
  mode: Mode;
  manners: Manners;
  pausedUntil: number;
  sequence: number;
  progress: Progress;
  checkpoint: string | null;
  actedAt: number;
  /** the order that it has begun */
  highestNumber: number;
  handoff: Extract<Order, { type: 'HANDOFF_AGENT' }> | null;
  /** the terminate in progress; its supervisor reports an end by that order, unless a person stops the agent first */
  terminatedBy: string | null;
  end: End | null;
  /** whether its host has reported the end */
  isEndReported: boolean;
};

type Born = Pick<Agent, 'agentId' | 'taskId' | 'attempt' | 'byVigil' | 'startedAt'>;

export const born = (number: number, about: Born, manners: Manners): Agent => ({
  ...about,
  instanceId: `${about.agentId}.i${number}`,
  manners,
  ...{ mode: 'works', pausedUntil: 0, sequence: 0, progress: noProgress, checkpoint: null, actedAt: about.startedAt },
  ...{ highestNumber: -1, handoff: null, terminatedBy: null, end: null, isEndReported: false },
});

const BARE = parseHeartbeat({
  ...{ agent_id: 'a', task_id: null, timestamp: 0, phase: 'implement', last_tool_call: null },
  ...{ token_count: null, error_count: 0, progress_indicator: '', reporter: 'runtime', interval_ms: 30_000 },
});

const CALL: Heartbeat['tool_calls'][number] = {
  ...{ call_id: '', kind: 'tool', tool: 'bash', args_hash: 'a', result_hash: 'r', masked_result_hash: null },
  ...{ outcome: 'ok', error_class: null, started_at: null, ended_at: null, deadline_at: null },
  ...{ mutating: false, polling: false, checking: false, target: null },
};

const ACTIVITY = {
  works: 'working',
  hangs: 'working',
  loops: 'working',
  waits: 'awaiting_input',
  rests: 'idle',
} as const satisfies Record<Mode, string>;

const callsOf = (agent: Agent, now: number): Heartbeat['tool_calls'] => {
  const call = { ...CALL, call_id: `${agent.instanceId}-${agent.sequence}`, ended_at: now };
  if (agent.mode === 'loops') return [call, { ...call, call_id: `${call.call_id}b` }];
  return [{ ...call, args_hash: `a${agent.sequence}`, result_hash: `r${agent.sequence}` }];
};

const checkpointOf = ({ checkpoint }: Agent): Heartbeat['checkpoint'] =>
  checkpoint === null
    ? null
    : ({
        ...{
          checkpoint_id: checkpoint,
          parent_id: null,
          uri: `file:///state/${checkpoint}`,
          sha256: null,
          valid: null,
        },
        ...{ invalid_reason: null, created_at: null, completed_work: [], remaining_work: [] },
      } as Heartbeat['checkpoint']);

/** The heartbeat that its runtime sends for it now. It also advances the agent's progress. */
export const heartbeatOf = (agent: Agent, runtimeId: string, host: string, policy: string, now: number): Heartbeat => {
  agent.sequence += 1;
  const isPaused = agent.pausedUntil > now;
  const acts = !isPaused && (agent.mode === 'works' || agent.mode === 'loops');
  if (acts) agent.actedAt = now;
  const fields: Partial<Heartbeat> = {
    activity: isPaused ? 'paused' : ACTIVITY[agent.mode],
    ...(acts ? { tool_calls: callsOf(agent, now), last_tool_call: now, token_count: agent.sequence * 100 } : {}),
    ...(agent.checkpoint === null ? {} : { checkpoint: checkpointOf(agent) }),
  };
  if (acts) agent.progress = progressAfterReport(agent.progress, fields as never, agent.sequence);
  return {
    ...BARE,
    ...fields,
    ...{ agent_id: agent.agentId, instance_id: agent.instanceId, task_id: agent.taskId, attempt: agent.attempt },
    ...{ timestamp: now, sequence: agent.sequence, runtime_id: runtimeId, labels: { host }, policy },
    ...{ agent_heartbeat_at: agent.actedAt, progress_indicator: acts ? String(agent.sequence) : '0' },
  } as Heartbeat;
};
