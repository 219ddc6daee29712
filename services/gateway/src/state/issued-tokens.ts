import type { EventOf, PayloadOf, Topic } from '@vigil/events';

type Issued = PayloadOf<typeof Topic.token, 'TOKEN_ISSUED'>;

/** Times are epoch milliseconds. */
export type IssuedToken = Issued & {
  readonly issuedAt: number;
  /** null: it is not revoked */
  readonly revoked: { readonly at: number; readonly by: string; readonly why: string } | null;
};

export type IssuedTokens = ReturnType<typeof createIssuedTokens>;

/** The tokens that any instance has issued, and those that are revoked. */
export const createIssuedTokens = () => {
  const issued = new Map<string, { readonly offset: number; readonly token: Omit<IssuedToken, 'revoked'> }>();
  const revoked = new Map<string, NonNullable<IssuedToken['revoked']>>();

  return {
    /** `offset`: in its topic, which has one partition; they may be observed in any order */
    observe: ({ type, payload, occurredAt }: EventOf<typeof Topic.token>, offset: number): void => {
      switch (type) {
        case 'TOKEN_ISSUED':
          if ((issued.get(payload.tokenId)?.offset ?? -1) < offset)
            issued.set(payload.tokenId, { offset, token: { ...payload, issuedAt: occurredAt } });
          return;
        case 'TOKEN_REVOKED':
          revoked.set(payload.tokenId, { at: occurredAt, by: payload.by, why: payload.why });
      }
    },
    isRevoked: (tokenId: string): boolean => revoked.has(tokenId),
    isIssued: (tokenId: string): boolean => issued.has(tokenId),
    /** Tokens that have not expired, the newest last. */
    list: (now: number): readonly IssuedToken[] =>
      [...issued.values()]
        .map(({ token }) => ({ ...token, revoked: revoked.get(token.tokenId) ?? null }))
        .filter(({ expiresAt }) => expiresAt > now)
        .sort((one, other) => one.issuedAt - other.issuedAt),
  };
};
