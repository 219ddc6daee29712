import { asIdPart, subagentId } from '@vigil/adapters/names';

const longestId = 128;
const shortLength = 16;

/** An agent of Vigil. */
export type AgentIds = { readonly agentId: string; readonly instanceId: string };

/** The ids of a sub-agent. `type`: the client's name of its sort. One that starts again is another instance. */
export const subagentIds = (parent: AgentIds, id: string, type: string | null, startedAt: number): AgentIds => {
  const suffix = asIdPart(`:${id.slice(-shortLength)}-${startedAt.toString(36)}`);
  return {
    agentId: subagentId(parent.agentId, type, id),
    instanceId: `${parent.instanceId.slice(0, longestId - suffix.length)}${suffix}`,
  };
};
