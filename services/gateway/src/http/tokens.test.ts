import { Topic } from '@vigil/events';
import { base64url, SignJWT } from 'jose';
import { describe, expect, test, vi } from 'vitest';
import { answerOf, claimsOf, SECRET, showing, showingClaims, signer, testGateway } from '../testing.ts';
import { createTokenSigner } from './token-signing.ts';
import { guard } from './tokens.ts';

const { log, get, post } = testGateway();
const poll = (headers: Record<string, string>) => get('/v1/runtimes/host-1/orders?wait=0', headers);

const refused = (detail: string) => ({
  status: 401,
  body: { type: 'urn:vigil:problem:bad_token', detail: expect.stringContaining(detail) },
});

describe('a token', () => {
  test('is valid until it expires, also when it has been verified before', async () => {
    const tokens = createTokenSigner([SECRET]);
    const token = await tokens.sign(claimsOf('runtime', 'host-1', { issuedAt: 1_000_000, expiresAt: 2_000_000 }));
    expect(await tokens.verify(token, 1_999_999)).toMatchObject({ name: 'host-1', expiresAt: 2_000_000 });
    await expect(tokens.verify(token, 2_000_000)).rejects.toThrow('expired at 1970-01-01T00:33:20.000Z');
  });

  test('that has expired is refused, with the time', async () => {
    const past = { issuedAt: Date.now() - 7_200_000, expiresAt: Date.now() - 60_000 };
    expect(await answerOf(await poll(await showingClaims('runtime', 'host-1', past)))).toMatchObject(
      refused('expired at 20'),
    );
  });

  test('binds a name that may have dots', async () => {
    const name = 'v1.agent.host-1.example';
    const own = await showingClaims('agent', name);
    expect((await get(`/v1/agents/${name}/orders`, own)).status).toBe(200);
  });
});

describe('a renewal', () => {
  const renew = async (headers: Record<string, string>) => answerOf(await post('/v1/token', {}, headers));
  const hourFrom = (issuedAt: number) => ({ issuedAt, expiresAt: issuedAt + 3_600_000 });
  const inSecondHalf = () =>
    showingClaims('runtime', 'host-1', { ...hourFrom(Date.now() - 2_000_000), tasks: ['OMN-*'] });

  test('in the second half of its time gives a token with the same id and claims, valid as long again', async () => {
    const { status, body } = await renew(await inSecondHalf());
    expect(status).toBe(200);
    const renewed = await signer.verify(String(body.token), Date.now() + 3_500_000);
    expect(renewed).toMatchObject({ id: 'runtime-host-1', tasks: ['OMN-*'], capacity: 100 });
    expect(log().events(Topic.token)).toMatchObject([{ type: 'TOKEN_ISSUED', key: 'runtime-host-1' }]);
  });

  test('in the first half changes nothing and is not recorded', async () => {
    const claims = claimsOf('runtime', 'host-1', hourFrom(1000 * Math.floor(Date.now() / 1000)));
    const { body } = await renew(showing(await signer.sign(claims)));
    expect(await signer.verify(String(body.token), Date.now())).toEqual(claims);
    expect(log().events(Topic.token)).toEqual([]);
  });

  test('of an expired token is refused', async () => {
    const expired = await showingClaims('runtime', 'host-1', hourFrom(Date.now() - 7_200_000));
    expect(await renew(expired)).toMatchObject(refused('expired'));
  });

  test('ends with the revocation of its token', async () => {
    const { body } = await renew(await inSecondHalf());
    const renewed = showing(String(body.token));
    await vi.waitFor(async () => {
      const revoked = await post('/v1/tokens/runtime-host-1/revoke', { by: 'ada', why: 'lost' });
      expect(revoked.status).toBe(200);
    });
    await vi.waitFor(async () => expect((await renew(renewed)).status).toBe(401));
    expect((await poll(renewed)).status).toBe(401);
  });

  test("of the operator's token is none", async () => {
    expect((await renew({})).status).toBe(409);
  });
});

/** Changes of a valid token, and tokens that others have made. */
const [header = '', payload = '', mac = ''] = (await signer.sign(claimsOf('runtime', 'host-1'))).split('.');
const changed = (claims: object) =>
  base64url.encode(JSON.stringify({ ...JSON.parse(Buffer.from(payload, 'base64url').toString()), ...claims }));
const other = createTokenSigner(['another-secret-that-is-long-enough']);
const unsigned = base64url.encode('{"alg":"none"}');
const foreign = (algorithm: string, issuer: string, kid: string) =>
  new SignJWT({ kind: 'runtime', tasks: [], labels: {}, policies: [], capacity: 0 })
    .setProtectedHeader({ alg: algorithm, kid })
    .setIssuer(issuer)
    .setSubject('host-1')
    .setJti('t')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(Buffer.from(SECRET.padEnd(64, 'x')).subarray(0, algorithm === 'HS256' ? SECRET.length : 64));
const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());

test.each([
  ['another name', `${header}.${changed({ sub: 'host-2' })}.${mac}`],
  ['more tasks', `${header}.${changed({ tasks: ['*'], capacity: 9 })}.${mac}`],
  ['a later expiry', `${header}.${changed({ exp: 9_999_999_999 })}.${mac}`],
  ['another secret', await other.sign(claimsOf('runtime', 'host-1'))],
  ['a name that is none', await signer.sign(claimsOf('runtime', 'a b'))],
  ['no algorithm', `${unsigned}.${payload}.`],
  ['another algorithm', await foreign('HS512', 'vigil-gateway', kid)],
  ['another issuer', await foreign('HS256', 'somebody', kid)],
  ['an unknown key', await foreign('HS256', 'vigil-gateway', 'k1')],
  ['no signature', `${header}.${payload}.`],
  ['the form before', 'v1.runtime.host-1.bWFj'],
  ['the secret itself', SECRET],
])('a token with %s is refused', async (_what, token) => {
  expect((await poll(showing(token))).status).toBe(401);
});

describe('a gateway with two secrets', () => {
  const issuedTokens = { isRevoked: () => false };
  const admits = (...secrets: [string, ...string[]]) =>
    guard({ token: 'the-operators-token', signer: createTokenSigner(secrets), issuedTokens, now: Date.now });
  const [old, next] = ['the-old-secret-of-the-gateway-for-tests', 'the-new-secret-of-the-gateway-for-tests'];

  test('accepts the tokens of both, and signs with the first', async () => {
    const oldToken = `Bearer ${await createTokenSigner([old]).sign(claimsOf('agent', 'a'))}`;
    expect(await admits(next, old)(oldToken)).toMatchObject({ kind: 'agent', name: 'a' });
    await expect(admits(next)(oldToken)).rejects.toThrow('a key that this gateway does not have');
    const newToken = `Bearer ${await createTokenSigner([next, old]).sign(claimsOf('agent', 'a'))}`;
    expect(await admits(next)(newToken)).toMatchObject({ name: 'a' });
  });

  test("without any, the operator's token alone is valid", async () => {
    const admit = guard({ token: 'the-operators-token', signer: null, issuedTokens, now: Date.now });
    expect(await admit('Bearer the-operators-token')).toEqual({ kind: 'operator' });
    await expect(admit((await showingClaims('agent', 'a')).authorization)).rejects.toThrow('Authorization');
    await expect(admit('Bearer ')).rejects.toThrow('Authorization');
    await expect(admit(undefined)).rejects.toThrow('Authorization');
  });
});

describe('the operator', () => {
  const wanted = { kind: 'runtime', name: 'host-1', tasks: ['OMN-*'], labels: { team: ['core'] }, by: 'ada' };
  const create = async () => {
    const { status, body } = await answerOf(await post('/v1/tokens', { ...wanted, policies: ['vigil'], capacity: 8 }));
    expect(status).toBe(201);
    return { own: showing(String(body.token)), tokenId: String(body.tokenId) };
  };
  const revoke = (tokenId: string) => post(`/v1/tokens/${tokenId}/revoke`, { by: 'ada', why: 'host-1 is gone' });

  test('creates a token, which is valid at once and is listed', async () => {
    const { own, tokenId } = await create();
    expect((await poll(own)).status).toBe(200);
    expect(log().events(Topic.token)).toMatchObject([{ type: 'TOKEN_ISSUED', key: tokenId, payload: { by: 'ada' } }]);
    const { body } = await answerOf(await get('/v1/tokens'));
    expect(body.tokens).toMatchObject([{ ...wanted, tokenId, policies: ['vigil'], capacity: 8, revoked: null }]);
    expect(JSON.stringify(body)).not.toContain(own.authorization.slice(-20));
  });

  test('cannot permit a policy by a pattern, which would permit none', async () => {
    const answer = await answerOf(await post('/v1/tokens', { ...wanted, policies: ['vigil', '*'] }));
    expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('the name of a policy') } });
    expect(log().events(Topic.token)).toEqual([]);
  });

  test('revokes one token, and that one is refused while the other tokens stay valid', async () => {
    const { own, tokenId } = await create();
    const other = await create();
    expect((await revoke(tokenId)).status).toBe(200);
    await vi.waitFor(async () => expect(await answerOf(await poll(own))).toMatchObject(refused('has been revoked')));
    expect((await poll(other.own)).status).toBe(200);
    const { body } = await answerOf(await get('/v1/tokens'));
    expect(body.tokens).toMatchObject([{ tokenId, revoked: { by: 'ada', why: 'host-1 is gone' } }, { revoked: null }]);
  });

  test('revokes a token whose poll waits, and the poll ends without orders', async () => {
    const { own, tokenId } = await create();
    const waiting = get('/v1/runtimes/host-1/orders?wait=50', own);
    expect((await get('/v1/policies/vigil', own)).status).toBe(200);
    await revoke(tokenId);
    expect(await answerOf(await waiting)).toMatchObject(refused('has been revoked'));
  });

  test('cannot revoke an unknown token', async () => {
    expect(await answerOf(await revoke('t-9'))).toMatchObject({
      status: 404,
      body: { type: 'urn:vigil:problem:no_such_token' },
    });
    expect(log().events(Topic.token)).toEqual([]);
  });

  test.each([
    [{ name: 'a b' }, 'name'],
    [{ kind: 'person' }, 'kind'],
    [{ tasks: 'OMN-*' }, 'tasks'],
    [{ capacity: -1 }, 'capacity'],
    [{ validMs: 400 * 86_400_000 }, 'validMs'],
    [{ labels: { team: 'core' } }, 'labels.team'],
    [{ by: undefined }, 'by'],
  ])('makes no token of %o', async (more, field) => {
    expect(await answerOf(await post('/v1/tokens', { ...wanted, ...more }))).toMatchObject({
      status: 400,
      body: { field, detail: expect.stringMatching(new RegExp(`^${field}: .*give `)) },
    });
    expect(log().events(Topic.token)).toEqual([]);
  });

  test('creates and revokes no token with a control character in by or why', async () => {
    const refusal = (field: string, code: string) => ({
      status: 400,
      body: { field, detail: `${field}: has the control character ${code}: leave it out` },
    });
    const bad = { by: 'ada\u001b[2J' };
    expect(await answerOf(await post('/v1/tokens', { ...wanted, ...bad }))).toMatchObject(refusal('by', 'U+001B'));
    const revocation = (why: string) => post('/v1/tokens/t-9/revoke', { by: 'ada', why });
    expect(await answerOf(await revocation('lost\u0000'))).toMatchObject(refusal('why', 'U+0000'));
    expect((await revocation('lost:\n\tthe host is gone')).status).toBe(404);
    expect(log().events(Topic.token)).toEqual([]);
  });

  test('makes no token of more patterns than fit a request', async () => {
    const tasks = Array.from({ length: 400 }, (_, number) => `OMN-${number}-*`);
    expect((await post('/v1/tokens', { ...wanted, tasks })).status).toBe(413);
  });

  test('is the only one who creates, lists and revokes', async () => {
    const { own, tokenId } = await create();
    expect((await post('/v1/tokens', wanted, own)).status).toBe(403);
    expect((await get('/v1/tokens', own)).status).toBe(403);
    expect((await post(`/v1/tokens/${tokenId}/revoke`, { by: 'x', why: 'y' }, own)).status).toBe(403);
    expect((await poll(own)).status).toBe(200);
  });
});
