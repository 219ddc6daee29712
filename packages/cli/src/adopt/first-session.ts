import type { AgentRow } from '@vigil/read-model';

const keyOf = ({ agentId, instanceId }: AgentRow): string => `${agentId} ${instanceId}`;

const isOf = (clients: readonly string[], { client }: AgentRow): boolean => client !== null && clients.includes(client);

/** A sub-agent has the name of its parent before its own. */
const isSubAgent = ({ agentId }: AgentRow, all: readonly AgentRow[]): boolean =>
  all.some((other) => agentId.startsWith(`${other.agentId}:`));

/** The sessions of these clients that have reported already. */
export const knownSessions = (agents: readonly AgentRow[], clients: readonly string[]): ReadonlySet<string> =>
  new Set(agents.filter((one) => isOf(clients, one)).map(keyOf));

/** A session of these clients that is not among the known ones: a name that is used again is a new session. */
export const firstSession = (
  agents: readonly AgentRow[],
  known: ReadonlySet<string>,
  clients: readonly string[],
): AgentRow | undefined =>
  agents.find((one) => isOf(clients, one) && !known.has(keyOf(one)) && !isSubAgent(one, agents));
