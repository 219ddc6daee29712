import type { Axis, EventOf, HealthState, Topic } from '@vigil/events';
import { createNewestValues, type RecordPlace } from './newest-values.ts';

/** Why an agent should send heartbeats more often than at its policy's interval. */
export type WatchReason = 'DEGRADED' | 'STUCK' | 'FAILING' | 'probation';

/** For what an agent is STUCK or FAILING. `foundAt`: when the state was emitted, epoch milliseconds. */
export type Finding = {
  readonly foundAt: number;
  readonly reason: string;
  readonly axes: readonly Axis[];
};

type HealthEvent = Extract<
  EventOf<typeof Topic.agentHealth>,
  { readonly type: 'HEALTH_STATE_CHANGED' | 'INSTANCE_STARTED' }
>;
type RecoveryEvent = Extract<
  EventOf<typeof Topic.taskRecovery>,
  {
    readonly type:
      | 'RECOVERY_INITIATED'
      | 'RECOVERY_COMPLETED'
      | 'PROBATION_PASSED'
      | 'RECOVERY_FAILED'
      | 'TASK_RELEASED';
  }
>;

type JudgedState = {
  readonly reason: Exclude<WatchReason, 'probation'>;
  /** null: the state names none */
  readonly instanceId: string | null;
  readonly finding: Finding;
};

/** An agent that has ended sends no heartbeats. A state that this version does not support has no effect. */
const REASONS: Readonly<Record<HealthState, JudgedState['reason'] | null>> = {
  UNKNOWN: null,
  HEALTHY: null,
  DEGRADED: 'DEGRADED',
  STUCK: 'STUCK',
  FAILING: 'FAILING',
  TERMINATED: null,
};

/** Characters of a reason that are held of each agent. */
const LONGEST_REASON = 500;

const judgedState = (event: HealthEvent): JudgedState | null => {
  if (event.type === 'INSTANCE_STARTED') return null;
  const { to, evidence, instanceId } = event.payload;
  const reason = REASONS[to];
  if (reason === null) return null;
  const axes = [...new Set(evidence.map(({ axis }) => axis))];
  const words = event.payload.reason.slice(0, LONGEST_REASON);
  return { reason, instanceId, finding: { foundAt: event.occurredAt, reason: words, axes } };
};

/** The tasks of each agent. */
const createTasksOfAgents = () => {
  const tasks = new Map<string, Set<string>>();
  return {
    add: (agentId: string, taskId: string): void => {
      const known = tasks.get(agentId) ?? new Set();
      tasks.set(agentId, known.add(taskId));
    },
    remove: (agentId: string, taskId: string): void => {
      const known = tasks.get(agentId);
      known?.delete(taskId);
      if (known?.size === 0) tasks.delete(agentId);
    },
    has: (agentId: string): boolean => tasks.has(agentId),
    size: (): number => tasks.size,
  };
};

/**
 * The agents that are watched more closely: those that are not HEALTHY, and recovered agents on probation.
 * `most`: the agents that are held for each of the two reasons, and those that are remembered without one. An agent
 * beyond that keeps its policy's interval.
 */
export const createCloserWatch = (most: number) => {
  const states = createNewestValues<JudgedState>(most);
  /** the agent on probation, by task */
  const probations = createNewestValues<string>(most);
  const tasksOnProbation = createTasksOfAgents();
  return {
    /** A new instance is HEALTHY until it is judged. */
    observeHealth: (event: HealthEvent, place: RecordPlace): void => {
      states.observe(event.payload.agentId, judgedState(event), place);
    },
    /** Any event besides RECOVERY_COMPLETED ends the probation of the task's agent. */
    observeRecovery: ({ type, payload }: RecoveryEvent, place: RecordPlace): void => {
      const { taskId } = payload;
      const agentId = type === 'RECOVERY_COMPLETED' ? payload.newAgentId : null;
      const over = probations.observe(taskId, agentId, place);
      for (const { key, value } of over) tasksOnProbation.remove(value, key);
      if (agentId !== null && probations.find(taskId) === agentId) tasksOnProbation.add(agentId, taskId);
    },
    /** null: the policy's interval is enough */
    reasonFor: (agentId: string): WatchReason | null =>
      states.find(agentId)?.reason ?? (tasksOnProbation.has(agentId) ? 'probation' : null),
    /** null: the agent is neither STUCK nor FAILING, or another instance of it is */
    findingOf: (agentId: string, instanceId: string | null): Finding | null => {
      const state = states.find(agentId);
      if (state === null || state.reason === 'DEGRADED') return null;
      return state.instanceId === null || state.instanceId === instanceId ? state.finding : null;
    },
    /** the number of agents with a reason, and of agents and tasks that are remembered without one */
    size: () => ({
      watched: states.size().values + tasksOnProbation.size(),
      settled: states.size().settled + probations.size().settled,
    }),
  };
};
