import { createHash, timingSafeEqual } from 'node:crypto';
import type { IssuedTokens } from '../state/issued-tokens.ts';
import { Problem } from './problem.ts';
import { InvalidToken, type TokenClaims, type TokenSigner } from './token-signing.ts';

/** The bearer of a gateway token: a runtime reports for the agents it runs, an agent for itself. */
export type Bearer = TokenClaims;

/** Who shows a token: the operator may everything, any other what its claims allow. */
export type Principal = { readonly kind: 'operator' } | Bearer;

export type GuardDeps = {
  /** the operator's token */
  readonly token: string;
  /** null: only the operator's token is valid */
  readonly signer: TokenSigner | null;
  readonly issuedTokens: Pick<IssuedTokens, 'isRevoked'>;
  readonly now: () => number;
};

const OPERATOR: Principal = { kind: 'operator' };
const BEARER = /^Bearer +(\S+)$/i;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const same = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

/** Returns the principal of an Authorization header. Throws Problem. */
export const guard =
  ({ token: operatorToken, signer, issuedTokens, now }: GuardDeps) =>
  async (authorization: string | undefined): Promise<Principal> => {
    const [, token = ''] = BEARER.exec(authorization ?? '') ?? [];
    if (same(token, operatorToken)) return OPERATOR;
    if (token === '' || signer === null) throw badToken(null);
    const claims = await signer.verify(token, now()).catch((error: unknown) => {
      throw error instanceof InvalidToken ? badToken(error.message) : error;
    });
    refuseRevoked(claims, issuedTokens);
    return claims;
  };

/** Throws Problem if the token has been revoked, also while its request waited. */
export const refuseRevoked = (principal: Principal, issuedTokens: Pick<IssuedTokens, 'isRevoked'>): void => {
  if (principal.kind !== 'operator' && issuedTokens.isRevoked(principal.id)) throw badToken('has been revoked');
};

/** `why`: null if the request has no token, or if only the operator's token exists and this is another */
const badToken = (why: string | null): Problem =>
  new Problem(
    401,
    'bad_token',
    `${why === null ? '' : `the token ${why}; `}the request needs the header "Authorization: Bearer <token>", with VIGIL_GATEWAY_TOKEN or what \`vigil token create\` prints`,
  );
