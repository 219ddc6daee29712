import { createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { ID, type PayloadOf, type Topic } from '@vigil/events';
import { errors, type JWTHeaderParameters, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

type Issued = PayloadOf<typeof Topic.token, 'TOKEN_ISSUED'>;

/** What the principal of a token may report. A pattern's `*` matches any text. Times are epoch milliseconds. */
export type TokenClaims = Omit<Issued, 'tokenId' | 'kind' | 'by'> & {
  /** a renewal keeps it */
  readonly id: string;
  readonly kind: Exclude<Issued['kind'], 'UNKNOWN'>;
  readonly issuedAt: number;
};

/** The least length of a secret that signs tokens: as many characters as a SHA-256 has bytes. */
export const LEAST_SECRET = 32;
/** So no other token that this secret may have signed is one of the gateway's. */
const ISSUER = 'vigil-gateway';
const ALGORITHM = 'HS256';
/** Verified tokens that are remembered, so that a heartbeat does not verify its token again. */
const MOST_VERIFIED = 10_000;

/** Why a token is not valid, as the end of a sentence that begins with the token. */
export class InvalidToken extends Error {
  override readonly name = 'InvalidToken';
}

export type TokenSigner = {
  readonly sign: (claims: TokenClaims) => Promise<string>;
  /** Throws InvalidToken. `now`: epoch milliseconds */
  readonly verify: (token: string, now: number) => Promise<TokenClaims>;
};

const payloadForm = z.object({
  jti: z.string(),
  kind: z.enum(['runtime', 'agent']),
  sub: z.string().regex(ID),
  tasks: z.array(z.string()),
  labels: z.record(z.string(), z.array(z.string())),
  policies: z.array(z.string()),
  capacity: z.int().min(0),
  iat: z.number(),
  exp: z.number(),
});

type SigningKey = { readonly kid: string; readonly key: KeyObject };

/** The id of a key reveals nothing about its secret, which is long. */
const signingKey = (secret: string): SigningKey => ({
  kid: createHash('sha256').update(`kid:${secret}`).digest('base64url').slice(0, 8),
  key: createSecretKey(Buffer.from(secret)),
});

const sign = ({ kid, key }: SigningKey, claims: TokenClaims): Promise<string> => {
  const { id, name, issuedAt, expiresAt, ...rest } = claims;
  return new SignJWT(rest)
    .setProtectedHeader({ alg: ALGORITHM, kid })
    .setIssuer(ISSUER)
    .setSubject(name)
    .setJti(id)
    .setIssuedAt(Math.floor(issuedAt / 1000))
    .setExpirationTime(Math.floor(expiresAt / 1000))
    .sign(key);
};

const claimsOf = (payload: unknown): TokenClaims => {
  const { success, data } = payloadForm.safeParse(payload);
  if (!success) throw new InvalidToken('was made by another version of the gateway');
  const { jti: id, sub: name, iat, exp, ...rest } = data;
  return { ...rest, id, name, issuedAt: iat * 1000, expiresAt: exp * 1000 };
};

const reasonOf = (error: unknown): string => {
  if (error instanceof errors.JWTExpired) return `expired at ${expiryOf(error.payload.exp)}`;
  if (error instanceof errors.JWKSNoMatchingKey) return 'is signed with a key that this gateway does not have';
  return 'is not one that this gateway has signed';
};

const expiryOf = (exp: number | undefined): string => new Date((exp ?? 0) * 1000).toISOString();

/** `secrets`: the first signs; tokens of each are valid. */
export const createTokenSigner = (secrets: readonly [string, ...string[]]): TokenSigner => {
  const [current, ...previous] = secrets;
  const signs = signingKey(current);
  const keys = new Map([signs, ...previous.map(signingKey)].map(({ kid, key }) => [kid, key]));
  const verified = new Map<string, TokenClaims>();

  const keyOf = ({ kid = '' }: JWTHeaderParameters): KeyObject => {
    const key = keys.get(kid);
    if (key === undefined) throw new errors.JWKSNoMatchingKey();
    return key;
  };

  const read = async (token: string, now: number): Promise<TokenClaims> => {
    const options = { issuer: ISSUER, algorithms: [ALGORITHM], currentDate: new Date(now) };
    try {
      return claimsOf((await jwtVerify(token, keyOf, options)).payload);
    } catch (error) {
      throw error instanceof InvalidToken ? error : new InvalidToken(reasonOf(error));
    }
  };

  return {
    sign: (claims) => sign(signs, claims),
    verify: async (token, now) => {
      const known = verified.get(token);
      if (known !== undefined && now < known.expiresAt) return known;
      verified.delete(token);
      const claims = await read(token, now);
      verified.set(token, claims);
      const [oldest] = verified.keys();
      if (verified.size > MOST_VERIFIED && oldest !== undefined) verified.delete(oldest);
      return claims;
    },
  };
};
