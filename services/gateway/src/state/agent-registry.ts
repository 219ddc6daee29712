import type { EventOf, Heartbeat, Topic } from '@vigil/events';

/** The newest instance of an agent. `runtimeId` null: it runs without a runtime. */
export type KnownInstance = {
  readonly instanceId: string | null;
  readonly runtimeId: string | null;
  /** false: Vigil has lost it, or it has ended */
  readonly present: boolean;
};

/**
 * How long the reporter of a heartbeat counts as its agent's runtime while the evaluator has published nothing about
 * the agent.
 */
export const REPORTER_MS = 60_000;
/** Agents without a present instance that are remembered. The limits of the evaluators bound the others. */
export const MOST_AGENTS = 200_000;

/** Keeps the newest entries. */
export const keep = <T>(map: Map<string, T>, most: number, agentId: string, value: T): void => {
  map.delete(agentId);
  map.set(agentId, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
};

/** `before`: the instance whose place it has taken; null: none is known. */
type Published = KnownInstance & { readonly offset: number; readonly before: string | null };

export type AgentRegistry = ReturnType<typeof createAgentRegistry>;

/**
 * The runtime of each agent, from the evaluator's newest record, else from the first heartbeat here. Times are epoch
 * milliseconds. `most`: the agents that are remembered without a present instance. A present agent is never forgotten:
 * many new names would otherwise take its runtime away, and another runtime could report for it.
 */
export const createAgentRegistry = (most: number) => {
  const present = new Map<string, Published>();
  const absent = new Map<string, Published>();
  const reported = new Map<string, KnownInstance & { readonly until: number }>();

  const published = (agentId: string): Published | undefined => present.get(agentId) ?? absent.get(agentId);

  const of = (agentId: string, now: number): KnownInstance | null => {
    const instance = reported.get(agentId);
    return published(agentId) ?? (instance !== undefined && now < instance.until ? instance : null);
  };

  return {
    /** `offset`: in its topic, which has one partition; the newest counts, in any order of the calls */
    observe: ({ type, payload }: EventOf<typeof Topic.fleetPresence>, offset: number): void => {
      if (type === 'AGENT_SPENT') return;
      const { agentId, instanceId, runtimeId } = payload;
      const last = published(agentId);
      if ((last?.offset ?? -1) >= offset) return;
      reported.delete(agentId);
      const before = (last?.instanceId === instanceId ? last.before : last?.instanceId) ?? null;
      const newest = { instanceId, runtimeId, present: type === 'AGENT_PRESENT', offset, before };
      if (newest.present) {
        absent.delete(agentId);
        present.set(agentId, newest);
      } else {
        present.delete(agentId);
        keep(absent, most, agentId, newest);
      }
    },
    /** A heartbeat has been taken. */
    observeHeartbeat: ({ agent_id, instance_id, runtime_id }: Heartbeat, now: number): void => {
      if (published(agent_id) !== undefined) return;
      keep(reported, most, agent_id, {
        instanceId: instance_id,
        runtimeId: runtime_id,
        present: true,
        until: now + REPORTER_MS,
      });
    },
    /** null: the agent is unknown */
    of,
    /** The instance that has taken the place of this one, which is no longer judged; null: none is known. */
    successorOf: (agentId: string, instanceId: string | null): string | null => {
      const newest = published(agentId);
      return newest !== undefined && instanceId !== null && newest.before === instanceId ? newest.instanceId : null;
    },
    /** A runtime watches the agent, and reports it with more detail than its session does. */
    isWatched: (agentId: string, now: number): boolean => {
      const known = of(agentId, now);
      return known?.present === true && known.runtimeId !== null;
    },
  };
};
