import type { EventOf, HealthState, Topic } from '@vigil/events';
import { keep } from './agent-registry.ts';

/** Why heartbeats of an agent are wanted more often than at its policy's interval. */
export type WatchReason = 'DEGRADED' | 'STUCK' | 'FAILING' | 'probation';

/** Agents and tasks without a reason whose newest record is remembered, so that an older one that is read later changes nothing. */
export const MOST_SETTLED = 20_000;

/** The newest value of each key, by offset, in any order of the calls. null: none. `most`: the keys without a value that are remembered. */
const createNewest = <T>(most: number) => {
  const values = new Map<string, { readonly value: T; readonly offset: number }>();
  const settled = new Map<string, number>();
  return {
    find: (key: string): T | null => values.get(key)?.value ?? null,
    /** false: a newer one is known */
    observe: (key: string, value: T | null, offset: number): boolean => {
      if ((values.get(key)?.offset ?? settled.get(key) ?? -1) >= offset) return false;
      settled.delete(key);
      if (value === null) {
        values.delete(key);
        keep(settled, most, key, offset);
      } else values.set(key, { value, offset });
      return true;
    },
    size: (): number => values.size,
  };
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

/** An agent that has ended sends no heartbeats. A state that this version does not support has no effect. */
const REASONS: Readonly<Record<HealthState, Exclude<WatchReason, 'probation'> | null>> = {
  UNKNOWN: null,
  HEALTHY: null,
  DEGRADED: 'DEGRADED',
  STUCK: 'STUCK',
  FAILING: 'FAILING',
  TERMINATED: null,
};

/**
 * The agents that are watched more closely: those that are not HEALTHY, and recovered agents on
 * probation. Only they are held.
 */
export const createCloserWatch = (most: number) => {
  const states = createNewest<Exclude<WatchReason, 'probation'>>(most);
  /** the agent on probation, by task */
  const probations = createNewest<string>(most);
  const tasks = new Map<string, string>();
  return {
    /** `offset`: in the agent's partition. A new instance is HEALTHY until it is judged. */
    observeHealth: ({ type, payload }: HealthEvent, offset: number): void => {
      const reason = type === 'INSTANCE_STARTED' ? null : REASONS[payload.to];
      states.observe(payload.agentId, reason, offset);
    },
    /** `offset`: in the task's partition. Any event besides RECOVERY_COMPLETED ends the probation of the task's agent. */
    observeRecovery: ({ type, payload }: RecoveryEvent, offset: number): void => {
      const { taskId } = payload;
      const before = probations.find(taskId);
      const after = type === 'RECOVERY_COMPLETED' ? payload.newAgentId : null;
      if (!probations.observe(taskId, after, offset)) return;
      if (before !== null && tasks.get(before) === taskId) tasks.delete(before);
      if (after !== null) tasks.set(after, taskId);
    },
    /** null: the policy's interval is enough */
    reasonFor: (agentId: string): WatchReason | null =>
      states.find(agentId) ?? (tasks.has(agentId) ? 'probation' : null),
    /** the number of agents that are held */
    size: (): number => states.size() + probations.size(),
  };
};
