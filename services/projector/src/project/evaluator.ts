import type { Topic } from '@vigil/events';
import { instant, orderOf, type Statement } from '@vigil/read-model';
import type { PlacedEvent } from '@vigil/stream';
import type { Handlers } from './handlers.ts';
import { journal } from './journal.ts';

type Presence = Extract<PlacedEvent<typeof Topic.fleetPresence>, { readonly type: 'AGENT_PRESENT' | 'AGENT_LOST' }>;

const sinceOf = ({ payload, occurredAt }: Presence): number =>
  ('presentSince' in payload ? payload.presentSince : null) ?? occurredAt;

/** Emitted again once a day without any change, for a store that started later. */
const isRepeated = ({ payload }: Presence): boolean => payload.why === 'still_present';

const presence = (event: Presence): readonly Statement[] => [
  ...(isRepeated(event) ? [] : [journal(event)]),
  {
    kind: 'register',
    table: 'agents',
    key: { agent_id: event.payload.agentId },
    group: 'presence',
    order: orderOf(event),
    columns: {
      present: event.type === 'AGENT_PRESENT',
      presence_why: event.payload.why,
      presence_since: instant(sinceOf(event)),
      host: event.payload.host,
      model: event.payload.model,
    },
  },
];

export const fleetPresence: Handlers<typeof Topic.fleetPresence> = {
  AGENT_PRESENT: presence,
  AGENT_LOST: presence,
  // One record for each use of tokens: the limits report what follows from them.
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
