import type { Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';
import { journal } from './journal.ts';

type Presence = Extract<PlacedEvent<typeof Topic.fleetPresence>, { readonly type: 'AGENT_PRESENT' | 'AGENT_LOST' }>;

const presence = (event: Presence): readonly Statement[] => [
  journal(event),
  {
    kind: 'register',
    table: 'agents',
    key: { agent_id: event.payload.agentId },
    group: 'presence',
    order: orderOf(event),
    columns: {
      present: event.type === 'AGENT_PRESENT',
      presence_why: event.payload.why,
      presence_since: instant(event.occurredAt),
      host: event.payload.host,
      model: event.payload.model,
    },
  },
];

/** Said once a day: nothing has changed, but a store that began later may not know of it. */
const stillPresent = (event: Presence): readonly Statement[] => [
  {
    kind: 'register',
    table: 'agents',
    key: { agent_id: event.payload.agentId },
    group: 'presence',
    order: orderOf(event),
    columns: { present: true, host: event.payload.host, model: event.payload.model },
  },
];

export const fleetPresence: Handlers<typeof Topic.fleetPresence> = {
  AGENT_PRESENT: (event) => (event.payload.why === 'still_present' ? stillPresent(event) : presence(event)),
  AGENT_LOST: presence,
  // A record for each use of tokens: what follows from them is told by the limits.
  AGENT_SPENT: () => [],
};

export const policy: Handlers<typeof Topic.policy> = {
  POLICY_PUBLISHED: (event) => [
    {
      kind: 'fact',
      table: 'policies',
      key: { name: event.payload.name, hash: event.payload.hash, published_at: instant(event.occurredAt) },
      columns: {
        document: event.payload.document,
        published_by: event.payload.by,
        origin: event.payload.origin,
        why: event.payload.why,
        withdrawn: event.payload.withdrawn,
      },
    },
  ],
  POLICY_REFUSED: (event) => [
    {
      kind: 'fact',
      table: 'policy_refusals',
      key: { refusal_id: event.key, refused_at: instant(event.occurredAt) },
      columns: {
        command_id: event.causationId,
        name: event.payload.name,
        hash: event.payload.hash,
        refused_by: event.payload.by,
        why: event.payload.why,
        mistakes: event.payload.mistakes,
      },
    },
  ],
};
