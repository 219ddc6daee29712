import { randomUUID } from 'node:crypto';
import { byText, mistakeOf, whyText } from '@vigil/chassis';
import { ID, ID_FORM } from '@vigil/events';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { GatewayContext } from './answers.ts';
import { Problem } from './problem.ts';
import type { TokenClaims, TokenSigner } from './token-signing.ts';
import type { Principal } from './tokens.ts';

const DAY_MS = 86_400_000;
/** How long a token is valid unless its request names a time, and at most. */
const DEFAULT_VALID_MS = 30 * DAY_MS;
const LONGEST_VALID_MS = 366 * DAY_MS;
/** A token has to fit the headers of a request. Node takes 16 KiB of them. */
const LARGEST_TOKEN = 4096;

const text = z.string().min(1).max(200);
const creation = z.strictObject({
  kind: z.enum(['runtime', 'agent']),
  name: z.string().regex(ID, `give ${ID_FORM}`),
  tasks: z.array(text).default([]),
  labels: z.record(z.string().min(1).max(200), z.array(z.string().max(200))).default({}),
  policies: z.array(z.string().regex(ID, 'give the name of a policy: a * matches no name')).default([]),
  capacity: z.int().min(0).max(100_000).default(0),
  validMs: z.int().min(1000).max(LONGEST_VALID_MS).default(DEFAULT_VALID_MS),
  by: byText.min(1),
});
const revocation = z.strictObject({ by: byText.min(1), why: whyText });

const read = <T extends z.ZodType>(form: T, body: unknown): z.output<T> => {
  const { success, data, error } = form.safeParse(body);
  if (success) return data;
  const [issue] = error.issues;
  const field = issue?.path.join('.') || null;
  throw new Problem(400, 'bad_field', `${field ?? 'the body'}: ${mistakeOf(issue, body)}`, { field });
};

/** Throws Problem. */
const signerOf = ({ signer }: GatewayContext): TokenSigner => {
  if (signer !== null) return signer;
  throw new Problem(
    409,
    'no_secret',
    'this gateway has nothing to sign tokens with: start it with VIGIL_GATEWAY_SECRET, at least 32 characters',
  );
};

/** Signs the claims and records them, so that every instance lists the token. */
const issue = async (context: GatewayContext, claims: TokenClaims, by: string): Promise<string> => {
  const token = await signerOf(context).sign(claims);
  if (token.length > LARGEST_TOKEN)
    throw new Problem(
      413,
      'too_large',
      `the token has ${token.length} characters: at most ${LARGEST_TOKEN} fit a request. Give fewer or shorter patterns`,
    );
  const { id: tokenId, kind, name, tasks, labels, policies, capacity, expiresAt } = claims;
  const payload = { tokenId, kind, name, tasks, labels, policies, capacity, expiresAt, by };
  await context.outbox.send([context.encoding.token({ type: 'TOKEN_ISSUED', key: tokenId, payload }, claims.issuedAt)]);
  return token;
};

const create = async (context: GatewayContext, body: unknown) => {
  const { validMs, by, ...allowed } = read(creation, body);
  const now = context.now();
  const claims = { ...allowed, id: randomUUID(), issuedAt: now, expiresAt: now + validMs };
  const token = await issue(context, claims, by);
  return { token, tokenId: claims.id, expiresAt: claims.expiresAt };
};

/**
 * The same claims with a later expiry, or, in the first half of its time, the same expiry, signed with the current
 * secret. Only the first is recorded: a client that renews in a loop writes nothing.
 */
const renew = async (context: GatewayContext, principal: Principal) => {
  if (principal.kind === 'operator')
    throw new Problem(409, 'no_expiry', "the operator's token does not expire: there is nothing to renew");
  const now = context.now();
  const validMs = principal.expiresAt - principal.issuedAt;
  const isDue = now >= principal.issuedAt + validMs / 2;
  const claims = isDue ? { ...principal, issuedAt: now, expiresAt: now + validMs } : principal;
  const token = isDue
    ? await issue(context, claims, `${principal.kind} ${principal.name}`)
    : await signerOf(context).sign(claims);
  return { token, tokenId: claims.id, expiresAt: claims.expiresAt };
};

const revoke = async ({ issuedTokens, outbox, encoding, now }: GatewayContext, tokenId: string, body: unknown) => {
  const { by, why } = read(revocation, body);
  if (!issuedTokens.isIssued(tokenId))
    throw new Problem(
      404,
      'no_such_token',
      `no token ${JSON.stringify(tokenId)} has been issued: \`vigil token list\` prints their ids`,
    );
  const payload = { tokenId, by, why };
  await outbox.send([encoding.token({ type: 'TOKEN_REVOKED', key: `revoked:${tokenId}`, payload }, now())]);
  return { tokenId };
};

type Named = { Params: { tokenId: string } };

/** The operator creates, lists and revokes tokens of runtimes and agents; these renew their own. */
export const routeTokens = (
  app: FastifyInstance,
  context: GatewayContext,
  principalOf: (request: FastifyRequest) => Principal,
): void => {
  app.post('/v1/tokens', async ({ body }, reply) => reply.code(201).send(await create(context, body)));
  app.post('/v1/token', async (request) => renew(context, principalOf(request)));
  app.get('/v1/tokens', async () => ({ tokens: context.issuedTokens.list(context.now()) }));
  app.post<Named>('/v1/tokens/:tokenId/revoke', async ({ params, body }) => revoke(context, params.tokenId, body));
};
