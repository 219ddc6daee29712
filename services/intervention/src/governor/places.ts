import type { GovernorState } from './state.ts';

type LiveAgents = GovernorState['liveAgents'];

export const living = (liveAgents: LiveAgents, agentId: string, host: string, runtimeId: string): LiveAgents => {
  const runtimes = own(liveAgents, host) ?? {};
  return { ...liveAgents, [host]: { ...runtimes, [runtimeId]: [...(own(runtimes, runtimeId) ?? []), agentId] } };
};

/** A host or a runtime may be called `constructor`, so inherited properties do not count as places. */
const own = <Value>(places: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(places, name) ? places[name] : undefined;

export const without = (liveAgents: LiveAgents, agentId: string): LiveAgents => {
  for (const [host, runtimes] of Object.entries(liveAgents))
    for (const [runtimeId, agents] of Object.entries(runtimes))
      if (agents.includes(agentId))
        return placed(
          liveAgents,
          host,
          runtimeId,
          agents.filter((other) => other !== agentId),
        );
  return liveAgents;
};

/** Places without agents are forgotten. */
const placed = (liveAgents: LiveAgents, host: string, runtimeId: string, agents: readonly string[]): LiveAgents => {
  const { [runtimeId]: _, ...others } = liveAgents[host] ?? {};
  const runtimes = agents.length > 0 ? { ...others, [runtimeId]: agents } : others;
  const { [host]: __, ...hosts } = liveAgents;
  return Object.keys(runtimes).length > 0 ? { ...hosts, [host]: runtimes } : hosts;
};

/** How many live: in all, on one host, or under one runtime. */
export const livingIn = (liveAgents: LiveAgents, place: { host?: string; runtimeId?: string }): number => {
  const hosts = place.host === undefined ? Object.values(liveAgents) : [own(liveAgents, place.host) ?? {}];
  return hosts
    .flatMap((runtimes) => Object.entries(runtimes))
    .filter(([runtimeId]) => place.runtimeId === undefined || runtimeId === place.runtimeId)
    .reduce((sum, [, agents]) => sum + agents.length, 0);
};

export const namesOf = (liveAgents: LiveAgents): ReadonlySet<string> =>
  new Set(Object.values(liveAgents).flatMap((runtimes) => Object.values(runtimes).flat()));

/** The characters of all names, each with its quotes and a separator. */
export const namesSize = (liveAgents: LiveAgents): number => {
  let size = 0;
  for (const [host, runtimes] of Object.entries(liveAgents)) {
    size += host.length + 5;
    for (const [runtimeId, agents] of Object.entries(runtimes)) {
      size += runtimeId.length + 6;
      for (const agentId of agents) size += agentId.length + 3;
    }
  }
  return size;
};
