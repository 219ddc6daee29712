import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboard } from '../app.fixture.ts';
import { MOST_LINKS, SESSION_MS } from './sessions.ts';

type Dashboard = ReturnType<typeof dashboard>;

const createLink = async ({ app }: Dashboard, token: string): Promise<string> => {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await app.inject({ method: 'POST', url: '/v1/login-links', headers });
  expect(answer.statusCode).toBe(201);
  return answer.json().path;
};

const cookieOf = (answer: { readonly headers: Record<string, unknown> }): string =>
  String(answer.headers['set-cookie']).split(';')[0] ?? '';

const logIn = async (one: Dashboard, token: string): Promise<string> =>
  cookieOf(await one.app.inject({ url: await createLink(one, token) }));

const me = ({ app }: Dashboard, cookie: string) => app.inject({ url: '/v1/me', headers: { cookie } });
const halt = ({ app }: Dashboard, headers: Record<string, string>) =>
  app.inject({ method: 'POST', url: '/v1/commands', headers, payload: { kind: 'halt', by: '', why: 'because' } });

const OWN = { host: '127.0.0.1:7420', origin: 'http://127.0.0.1:7420' };

test('a login link begins a session with the name and role of its token, in a cookie that no script and no other site can use', async () => {
  const one = dashboard();
  const answer = await one.app.inject({ url: await createLink(one, 'responder') });
  expect(answer.statusCode).toBe(303);
  expect(answer.headers.location).toBe('/');
  expect(answer.headers['set-cookie']).toMatch(
    /^vigil_session=\S+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect((await me(one, cookieOf(answer))).json()).toMatchObject({
    name: 'rob',
    role: 'responder',
    commands: expect.not.arrayContaining(['halt']),
  });
});

test('a login link works once; loaded again by the browser that has logged in, it shows the page', async () => {
  const one = dashboard();
  const url = await createLink(one, 'viewer');
  const cookie = cookieOf(await one.app.inject({ url }));
  const again = await one.app.inject({ url, headers: { accept: 'text/html' } });
  expect(again.statusCode).toBe(410);
  expect(again.headers['set-cookie']).toBeUndefined();
  expect(again.body).toContain('vigil login');
  expect((await one.app.inject({ url, headers: { cookie } })).statusCode).toBe(303);
});

test('a question for the headers of a login link does not use it', async () => {
  const one = dashboard();
  const url = await createLink(one, 'viewer');
  await one.app.inject({ method: 'HEAD', url });
  expect((await one.app.inject({ url })).statusCode).toBe(303);
});

test('a login link works until five minutes have passed', async () => {
  for (const [after, status] of [
    [299_999, 303],
    [300_000, 410],
  ] as const) {
    const one = dashboard();
    const url = await createLink(one, 'viewer');
    one.clock.now += after;
    expect((await one.app.inject({ url })).statusCode).toBe(status);
  }
});

test(`a caller has at most ${MOST_LINKS} login links; a further one replaces the oldest, and those of others stay`, async () => {
  const one = dashboard();
  const ofOther = await createLink(one, 'responder');
  const links: string[] = [];
  for (let count = 0; count <= MOST_LINKS; count++) links.push(await createLink(one, 'viewer'));
  const answers = [];
  for (const url of [...links, ofOther]) answers.push((await one.app.inject({ url })).statusCode);
  expect(answers).toEqual([410, 303, 303, 303, 303, 303, 303]);
});

test('a session ends with its time, its logout, and the token of its link', async () => {
  const old = dashboard();
  const ofOld = await logIn(old, 'viewer');
  old.clock.now += SESSION_MS - 1;
  expect((await me(old, ofOld)).statusCode).toBe(200);
  old.clock.now += 1;
  expect((await me(old, ofOld)).statusCode).toBe(401);

  const left = dashboard();
  const [ofLeft, other] = [await logIn(left, 'viewer'), await logIn(left, 'viewer')];
  const answer = await left.app.inject({ method: 'POST', url: '/v1/logout', headers: { ...OWN, cookie: ofLeft } });
  expect(answer.statusCode).toBe(204);
  expect(answer.headers['set-cookie']).toMatch(/^vigil_session=; .*Expires=Thu, 01 Jan 1970/);
  expect((await me(left, ofLeft)).statusCode).toBe(401);
  expect((await me(left, other)).statusCode).toBe(200);

  const revoked = dashboard();
  const ofRevoked = await logIn(revoked, 'viewer');
  revoked.revoked.add('viewer');
  expect((await me(revoked, ofRevoked)).statusCode).toBe(401);
});

test('a restart of the dashboard ends every session, so that it revives none that has ended by logout', async () => {
  const before = dashboard();
  const [ofLeft, other] = [await logIn(before, 'viewer'), await logIn(before, 'viewer')];
  await before.app.inject({ method: 'POST', url: '/v1/logout', headers: { ...OWN, cookie: ofLeft } });
  const restarted = dashboard();
  expect((await me(restarted, ofLeft)).statusCode).toBe(401);
  expect((await me(restarted, other)).statusCode).toBe(401);
  expect((await me(restarted, await logIn(restarted, 'viewer'))).statusCode).toBe(200);
});

test('a cookie that another has changed is worth nothing', async () => {
  const one = dashboard();
  const cookie = await logIn(one, 'viewer');
  expect((await me(one, cookie.replace('=', '=0'))).statusCode).toBe(401);
  expect((await me(one, 'vigil_session=')).statusCode).toBe(401);
});

test('a stream of events ends with the logout of its session', async () => {
  const one = dashboard();
  const cookie = await logIn(one, 'viewer');
  const stream = one.app.inject({ url: '/v1/events', headers: { cookie } });
  while (one.listeners.size === 0) await new Promise(setImmediate);
  await one.app.inject({ method: 'POST', url: '/v1/logout', headers: { ...OWN, cookie } });
  expect((await stream).statusCode).toBe(200);
  expect(one.listeners.size).toBe(0);
});

describe('a change with the cookie of a session', () => {
  test('is accepted from the page of the dashboard, under the name of the token', async () => {
    const one = dashboard();
    const cookie = await logIn(one, 'operator');
    expect((await halt(one, { ...OWN, cookie })).statusCode).toBe(400);
    const payload = { kind: 'halt', by: 'page', why: 'because' };
    const answer = await one.app.inject({ method: 'POST', url: '/v1/commands', headers: { ...OWN, cookie }, payload });
    expect(answer.statusCode).toBe(202);
    expect(one.written).toMatchObject([{ payload: { by: 'olga (page)' } }]);
  });

  test.each(['http://attacker.example', 'http://127.0.0.1:7421', 'null', ''])('is refused from %j', async (origin) => {
    const one = dashboard();
    const cookie = await logIn(one, 'operator');
    const answer = await halt(one, { host: OWN.host, cookie, ...(origin !== '' && { origin }) });
    expect(answer.json()).toMatchObject({ status: 403, type: 'urn:vigil:other_origin' });
    expect(one.written).toEqual([]);
  });

  test('needs the same role as with the token', async () => {
    const one = dashboard();
    const cookie = await logIn(one, 'viewer');
    expect((await halt(one, { ...OWN, cookie })).json()).toMatchObject({ type: 'urn:vigil:not_permitted' });
  });

  test('cannot prolong the session by a new login link', async () => {
    const one = dashboard();
    const cookie = await logIn(one, 'viewer');
    const answer = await one.app.inject({ method: 'POST', url: '/v1/login-links', headers: { ...OWN, cookie } });
    expect(answer.json()).toMatchObject({ status: 403, type: 'urn:vigil:needs_token' });
  });
});

describe('the page', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'vigil-page-'));
    mkdirSync(path.join(folder, 'page/assets'), { recursive: true });
    writeFileSync(path.join(folder, 'page/index.html'), '<!doctype html><title>Vigil</title>');
    writeFileSync(path.join(folder, 'page/assets/app.js'), 'start();');
    writeFileSync(path.join(folder, 'secret.js'), 'secret');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const get = (url: string) => dashboard({}, path.join(folder, 'page')).app.inject({ url });

  test('is served without a token, and runs only its own scripts', async () => {
    const page = await get('/');
    expect(page.body).toContain('<title>Vigil</title>');
    const script = await get('/assets/app.js');
    expect(script.body).toBe('start();');
    expect(script.headers['content-type']).toContain('javascript');
    for (const { headers } of [page, script])
      expect(headers).toMatchObject({
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-cache',
      });
  });

  test.each(['/assets/../../secret.js', '/assets/..%2f..%2fsecret.js', '/assets/none.js', '/assets/', '/index.html'])(
    'has nothing at %s',
    async (url) => {
      const answer = await get(url);
      expect(answer.statusCode).toBeGreaterThanOrEqual(400);
      expect(answer.body).not.toContain('secret\n');
      expect(answer.headers['content-type']).toContain('application/problem+json');
    },
  );

  test('that is not built names the setting', async () => {
    const answer = await dashboard({}, path.join(folder, 'absent')).app.inject({ url: '/' });
    expect(answer.body).toContain('VIGIL_PAGE_FOLDER');
  });
});
