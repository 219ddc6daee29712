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
/** Agents that are remembered: far more than one evaluator judges. */
const MOST_AGENTS = 200_000;

const keep = <T>(map: Map<string, T>, agentId: string, value: T): void => {
  map.delete(agentId);
  map.set(agentId, value);
  const [oldest] = map.keys();
  if (map.size > MOST_AGENTS && oldest !== undefined) map.delete(oldest);
};

/** `before`: the instance whose place it has taken; null: none is known. */
type Published = KnownInstance & { readonly offset: number; readonly before: string | null };

export type AgentRegistry = ReturnType<typeof createAgentRegistry>;

/**
 * The runtime of each agent, from the evaluator's newest record, else from the first heartbeat here. Times are epoch
 * milliseconds.
 */
export const createAgentRegistry = () => {
  const present = new Map<string, Published>();
  const reported = new Map<string, KnownInstance & { readonly until: number }>();

  const of = (agentId: string, now: number): KnownInstance | null => {
    const instance = reported.get(agentId);
    return present.get(agentId) ?? (instance !== undefined && now < instance.until ? instance : null);
  };

  return {
    /** `offset`: in its topic, which has one partition; the newest counts, in any order of the calls */
    observe: ({ type, payload }: EventOf<typeof Topic.fleetPresence>, offset: number): void => {
      if (type === 'AGENT_SPENT') return;
      const { agentId, instanceId, runtimeId } = payload;
      const last = present.get(agentId);
      if ((last?.offset ?? -1) >= offset) return;
      reported.delete(agentId);
      const before = (last?.instanceId === instanceId ? last.before : last?.instanceId) ?? null;
      keep(present, agentId, { instanceId, runtimeId, present: type === 'AGENT_PRESENT', offset, before });
    },
    /** A heartbeat has been taken. */
    observeHeartbeat: ({ agent_id, instance_id, runtime_id }: Heartbeat, now: number): void => {
      if (present.has(agent_id)) return;
      keep(reported, agent_id, {
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
      const newest = present.get(agentId);
      return newest !== undefined && instanceId !== null && newest.before === instanceId ? newest.instanceId : null;
    },
    /** A runtime watches the agent, and reports it with more detail than its session does. */
    isWatched: (agentId: string, now: number): boolean => {
      const known = of(agentId, now);
      return known?.present === true && known.runtimeId !== null;
    },
  };
};
