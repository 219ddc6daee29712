import type { Heartbeat } from '@vigil/events';
import { Topic } from '@vigil/events';
import { minimalExample } from '@vigil/events/examples';

/**
 * The behaviour of an agent: it continues to work, becomes silent for good, crashes by its runtime's report, or repeats
 * one call for ever.
 */
export type Behaviour = 'works' | 'silent' | 'crashes' | 'loops';

/** An agent of the herd. `failsAt`: when its behaviour begins, on the herd's clock, milliseconds. */
export type HerdAgent = {
  readonly agentId: string;
  readonly instanceId: string;
  readonly taskId: string;
  readonly runtimeId: string;
  readonly ingress: 'kafka' | 'http';
  behaviour: Behaviour;
  failsAt: number;
  readonly attempt: number | null;
  sequence: number;
  /** a heartbeat of it was acknowledged */
  known: boolean;
  /** a runtime has ended it */
  gone: boolean;
};

const bare = minimalExample(Topic.heartbeat, 'HEARTBEAT');

/** The same call with the same result. */
const sameCall = (agent: HerdAgent, now: number): Heartbeat['tool_calls'] => [
  {
    call_id: `${agent.instanceId}-${agent.sequence}`,
    kind: 'tool',
    tool: 'Bash',
    args_hash: 'same',
    result_hash: 'same',
    masked_result_hash: null,
    outcome: 'error',
    error_class: 'ExitCode1',
    started_at: now - 10,
    ended_at: now,
    deadline_at: null,
    mutating: false,
    polling: false,
    checking: false,
    target: null,
  },
];

/** Whether its behaviour has begun. An agent that was never known cannot be missed, so it is silent only after an acknowledged heartbeat. */
export const isFailing = ({ behaviour, failsAt, known }: HerdAgent, at: number): boolean =>
  at >= failsAt && (behaviour !== 'silent' || known);

/** The agent's next heartbeat, or null if it sends no more. `at`: on the herd's clock; `now`: epoch milliseconds. */
export const nextHeartbeat = (agent: HerdAgent, at: number, now: number): Heartbeat | null => {
  const fails = isFailing(agent, at);
  if (agent.gone || (fails && (agent.behaviour === 'silent' || agent.behaviour === 'crashes'))) return null;
  agent.sequence += 1;
  const loops = fails && agent.behaviour === 'loops';
  return {
    ...bare,
    agent_id: agent.agentId,
    instance_id: agent.instanceId,
    task_id: agent.taskId,
    runtime_id: agent.runtimeId,
    attempt: agent.attempt,
    timestamp: now,
    sequence: agent.sequence,
    reporter: 'agent',
    activity: 'working',
    phase: 'implement',
    token_count: agent.sequence * 100,
    error_count: 0,
    progress_indicator: loops ? 'the same step' : `step ${agent.sequence}`,
    tool_calls: loops ? sameCall(agent, now) : [],
  };
};
