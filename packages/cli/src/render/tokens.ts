import { clockTime, orDash, table, type View } from './view.ts';

/** A token as the gateway lists it. Times are epoch milliseconds. */
export type TokenRow = {
  readonly tokenId: string;
  readonly kind: string;
  readonly name: string;
  readonly tasks: readonly string[];
  readonly labels: Readonly<Record<string, readonly string[]>>;
  readonly policies: readonly string[];
  readonly capacity: number;
  readonly expiresAt: number;
  readonly by: string;
  readonly revoked: { readonly by: string; readonly why: string } | null;
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
