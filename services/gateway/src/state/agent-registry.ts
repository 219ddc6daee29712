import type { EventOf, Heartbeat, Topic } from '@vigil/events';

type Presence = EventOf<typeof Topic.fleetPresence>;

/** The newest instance of an agent. `runtimeId` null: it runs without a runtime. */
export type KnownInstance = {
  readonly instanceId: string | null;
  readonly runtimeId: string | null;
  /** false: Vigil has lost it, or it has ended */
  readonly present: boolean;
};

/**
 * The runtime of each agent, from the evaluator's newest record, else from the first heartbeat here. Times are epoch
 * milliseconds.
 */
export type AgentRegistry = {
  /** `offset`: in its topic, which has one partition; the newest counts, in any order of the calls */
  readonly observe: (presence: Presence, offset: number) => void;
  /** A heartbeat has been taken. */
  readonly observeHeartbeat: (heartbeat: Heartbeat, now: number) => void;
  /** null: the agent is unknown */
  readonly of: (agentId: string, now: number) => KnownInstance | null;
};

/**
 * How long the reporter of a heartbeat counts as its agent's runtime while the evaluator has published nothing about
 * the agent.
 */
export const REPORTER_MS = 60_000;
/** Agents that are remembered: far more than one evaluator judges. */
const MOST_AGENTS = 200_000;

type Known = KnownInstance & { readonly offset: number };
type Reported = KnownInstance & { readonly until: number };

const keep = <T>(map: Map<string, T>, agentId: string, value: T): void => {
  map.delete(agentId);
  map.set(agentId, value);
  const [oldest] = map.keys();
  if (map.size > MOST_AGENTS && oldest !== undefined) map.delete(oldest);
};

export const createAgentRegistry = (): AgentRegistry => {
  const present = new Map<string, Known>();
  const reported = new Map<string, Reported>();

  const reportedOf = (agentId: string, now: number): Reported | null => {
    const instance = reported.get(agentId);
    return instance !== undefined && now < instance.until ? instance : null;
  };

  return {
    observe: ({ type, payload }, offset) => {
      if (type === 'AGENT_SPENT') return;
      const { agentId, instanceId, runtimeId } = payload;
      if ((present.get(agentId)?.offset ?? -1) >= offset) return;
      reported.delete(agentId);
      keep(present, agentId, { instanceId, runtimeId, present: type === 'AGENT_PRESENT', offset });
    },
    observeHeartbeat: ({ agent_id, instance_id, runtime_id }, now) => {
      if (present.has(agent_id)) return;
      keep(reported, agent_id, {
        instanceId: instance_id,
        runtimeId: runtime_id,
        present: true,
        until: now + REPORTER_MS,
      });
    },
    of: (agentId, now) => present.get(agentId) ?? reportedOf(agentId, now),
  };
};
