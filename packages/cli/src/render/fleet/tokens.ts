import type { PayloadOf, Topic } from '@vigil/events';
import type { Person } from '@vigil/read-model/people';
import { clockTime, orDash, table, type View } from '../view.ts';

type Revoked = PayloadOf<typeof Topic.token, 'TOKEN_REVOKED'>;

/** A token as the gateway lists it. Times are epoch milliseconds. */
export type TokenRow = PayloadOf<typeof Topic.token, 'TOKEN_ISSUED'> & {
  readonly revoked: Pick<Revoked, 'by' | 'why'> | null;
};

const labelsText = (labels: TokenRow['labels']): string =>
  Object.entries(labels)
    .flatMap(([name, values]) => values.map((value) => `${name}=${value}`))
    .join(' ');

export const tokensTable = (view: View, tokens: readonly TokenRow[]): string[] =>
  table<TokenRow>(
    view,
    [
      { title: 'ID', of: ({ tokenId }) => tokenId },
      { title: 'FOR', of: ({ kind, name }) => `${kind} ${name}` },
      { title: 'TASKS', of: ({ tasks }) => orDash(tasks.join(' ')) },
      { title: 'LABELS', of: ({ labels }) => orDash(labelsText(labels)) },
      { title: 'POLICIES', of: ({ policies }) => orDash(policies.join(' ')) },
      { title: 'CAPACITY', of: ({ capacity }) => String(capacity) },
      { title: 'UNTIL', of: ({ expiresAt }) => clockTime(view, expiresAt) },
      { title: 'BY', of: ({ by }) => by },
      { title: 'REVOKED', of: ({ revoked }) => (revoked === null ? '-' : `${revoked.by}: ${revoked.why}`), rest: true },
    ],
    tokens,
    'No token is valid: `vigil token create` makes one.',
  );

export const peopleTable = (view: View, people: readonly Person[]): string[] =>
  table<Person>(
    view,
    [
      { title: 'ID', of: ({ name }) => `person:${name}` },
      { title: 'ROLE', of: ({ role }) => role },
      { title: 'SINCE', of: ({ createdAt }) => clockTime(view, createdAt) },
      { title: 'UNTIL', of: ({ expiresAt }) => (expiresAt === null ? '-' : clockTime(view, expiresAt)), rest: true },
    ],
    people,
    'No person has a token: `vigil token create person` makes one.',
  );
