import { type EventOf, Topic } from '@vigil/events';
import type { TestSystem } from '../support/system.ts';
import type { Agent } from './agents.ts';

/** A finding about an agent, and its time by the broker's clock. */
export type Finding = { readonly agentId: string; readonly what: string; readonly at: number };
type Health = EventOf<typeof Topic.agentHealth>;
type Presence = EventOf<typeof Topic.fleetPresence>;
type Observation = EventOf<typeof Topic.agentObservation>;

const againstHealth = ({ type, payload, key, occurredAt }: Health): Finding[] => {
  if (type === 'WARRANT_FILED') return [{ agentId: key, what: type, at: occurredAt }];
  if (type !== 'HEALTH_STATE_CHANGED' || payload.to === 'HEALTHY') return [];
  return [{ agentId: key, what: payload.to, at: occurredAt }];
};

const againstPresence = ({ type, payload, occurredAt }: Presence): Finding[] =>
  type === 'AGENT_LOST' ? [{ agentId: payload.agentId, what: type, at: occurredAt }] : [];

export const findingsIn = (events: readonly (Health | Presence)[]): Finding[] =>
  events.flatMap((event) => (event.topic === Topic.agentHealth ? againstHealth(event) : againstPresence(event)));

export const findings = async (t: TestSystem): Promise<Finding[]> =>
  findingsIn([...(await t.events(Topic.agentHealth)), ...(await t.events(Topic.fleetPresence))]);

/**
 * The findings of a running system, read as they arrive, because reading the whole log would delay the agents of the
 * test.
 */
export const followFindings = async ({ log }: TestSystem, signal: AbortSignal): Promise<readonly Finding[]> => {
  const found: Finding[] = [];
  const topics = [Topic.agentHealth, Topic.fleetPresence] as const;
  await log.follow(
    topics,
    'beginning',
    ({ topic, key, value }) => {
      if (value === null || key?.startsWith('@')) return;
      const { type, payload, envelope } = log.codec.decode(topic as (typeof topics)[number], value);
      found.push(...findingsIn([{ ...envelope, topic, type, key, payload } as never]));
    },
    signal,
  );
  return found;
};

/**
 * All findings that a hanging agent gets, each once. A silent agent is finally lost; one with a runtime's heartbeats is
 * not.
 */
export const deserved = ({ reporter }: Agent): readonly string[] =>
  reporter === 'runtime' ? ['STUCK', 'WARRANT_FILED'] : ['STUCK', 'WARRANT_FILED', 'AGENT_LOST'];

/**
 * When each agent's own latest sign was received, epoch milliseconds: its heartbeat, or its runtime's first report of
 * it.
 */
export const lastSigns = (observations: readonly Observation[]): ReadonlyMap<string, number> => {
  const signs = new Map<string, { readonly sent: number; readonly at: number }>();
  for (const { type, key, payload, occurredAt } of observations) {
    if (type !== 'AGENT_HEARTBEAT') continue;
    const sent = payload.reporter === 'runtime' ? (payload.agent_heartbeat_at ?? 0) : (payload.sequence ?? 0);
    if (sent > (signs.get(key)?.sent ?? -1)) signs.set(key, { sent, at: occurredAt });
  }
  return new Map([...signs].map(([key, { at }]) => [key, at]));
};
