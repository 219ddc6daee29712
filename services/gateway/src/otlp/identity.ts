import { asId } from '@vigil/adapters/names';
import type { Attributes, Telemetry } from '@vigil/adapters/telemetry';
import type { Principal } from '../http/tokens.ts';
import type { SessionIdentity, Sessions } from '../sessions/sessions.ts';

const LABEL = 'vigil.label.';

const textIn = (resource: Attributes, name: string): string | null => {
  const value = resource[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

/** The session of a record that names none: the one that its agent is in, else one for each process. */
const sessionOf = (
  resource: Attributes,
  agentId: string,
  current: SessionIdentity | null,
): Pick<SessionIdentity, 'sessionId'> => current ?? { sessionId: textIn(resource, 'service.instance.id') ?? agentId };

/**
 * The agent and session of telemetry: as OTEL_RESOURCE_ATTRIBUTES names them (vigil.agent, vigil.task, vigil.policy,
 * vigil.label.NAME), else the agent of the token, else client and session.
 * Null: it names neither an agent nor a session. `newestOf`: the current session of an agent.
 */
export const identityOf = (
  { client, sessionId }: Pick<Telemetry, 'client' | 'sessionId'>,
  resource: Attributes,
  principal: Principal,
  newestOf: Sessions['newestOf'],
): SessionIdentity | null => {
  const named = textIn(resource, 'vigil.agent') ?? (principal.kind === 'agent' ? principal.name : null);
  if (named === null && sessionId === null) return null;
  const agentId = asId(named ?? `${client}-${sessionId}`);
  const current = sessionId === null ? newestOf(agentId) : null;
  const task = textIn(resource, 'vigil.task');
  const labels = Object.entries(resource)
    .filter(([name]) => name.startsWith(LABEL))
    .map(([name, value]) => [name.slice(LABEL.length), String(value)]);
  return {
    client: current?.client ?? client,
    sessionId: sessionId ?? sessionOf(resource, agentId, current).sessionId,
    agentId,
    taskId: task === null ? null : asId(task),
    policy: textIn(resource, 'vigil.policy'),
    labels: Object.fromEntries(labels),
    eventDriven: true,
  };
};
