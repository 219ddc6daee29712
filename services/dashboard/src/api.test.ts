import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { includesRole, ROLES, type Role } from '@vigil/read-model/people';
import { describe, expect, test } from 'vitest';
import { ROLE_OF_ROUTE, type Route } from './access/roles.ts';
import { DESCRIPTIONS } from './api-description.ts';
import { dashboard, LINK_KEY } from './app.fixture.ts';
import { openApiDocument } from './openapi.ts';

const routes = Object.keys(ROLE_OF_ROUTE) as Route[];
const STREAMS: readonly Route[] = ['GET /v1/events', 'GET /v1/changes', 'GET /v1/agents/:id/terminal'];
/** The token of each role: see CALLERS of the fixture. */
const TOKENS: Readonly<Record<Role, string>> = {
  viewer: 'viewer',
  responder: 'responder',
  operator: 'operator',
  admin: 'a-token-for-tests-only',
};

/** A dashboard with no rows at all. */
const empty = () => {
  const rows = async () => [];
  const nothing = async () => null;
  const answers = {
    ...{ agents: rows, cells: rows, cases: rows, tasks: rows, recoveries: rows, checkpoints: rows },
    ...{ storyBefore: rows, history: rows },
    ...{ alerts: rows, breakers: rows, tickets: rows, requests: rows, runtimes: rows, deadLetters: rows },
    ...{ policies: rows, policyRefusals: rows, outcomes: rows, orders: rows, transitions: rows },
    ...{ agent: nothing, case: nothing, task: nothing, request: nothing, policyDocument: nothing },
    ...{ fleet: async () => ({ braked: false }), targets: async () => ({}) },
  };
  return dashboard(answers);
};

const addressOf = (route: Route, id: string): readonly ['GET' | 'POST', string] => {
  const [method = '', url = ''] = route.split(' ');
  return [method as 'GET', url.replace(/:\w+/, id).replace('*', id)];
};

/** For all routes that answer at once. */
const lasting = empty();

const ask = async (route: Route, role: Role, id = 'known', query = '', headers: object = {}, payload = '{}') => {
  const one = STREAMS.includes(route) ? empty() : lasting;
  const [method, url] = addressOf(route, id);
  const type = method === 'GET' ? {} : { 'content-type': 'application/json' };
  const asked = one.app.inject({
    method,
    url: `${url}${query}`,
    headers: { authorization: `Bearer ${TOKENS[role]}`, ...type, ...headers },
    ...(method === 'GET' ? {} : { payload }),
  });
  // A stream answers until the service ends.
  if (one !== lasting) setTimeout(() => one.stop.abort(), 50);
  const answer = await asked;
  expect(one.failures).toEqual([]);
  expect(one.written).toEqual([]);
  return answer;
};

const problemOf = ({ headers, json }: Awaited<ReturnType<typeof ask>>) => {
  expect(headers['content-type']).toContain('application/problem+json');
  return json();
};

describe.each(routes)('%s', (route) => {
  const needed = ROLE_OF_ROUTE[route];

  test.each(ROLES)('is open to a %s only if the role permits it', async (role) => {
    const { statusCode } = await ask(route, role);
    if (needed === 'public' || needed === 'link') expect(statusCode).not.toBe(401);
    else if (includesRole(role, needed)) expect([401, 403]).not.toContain(statusCode);
    else expect(statusCode).toBe(403);
  });

  test('answers bad input with a problem that names it, and never with an internal error', async () => {
    for (const query of [
      '?nonsense=1',
      '?limit=0',
      '?limit=x',
      '?since=never',
      '?wait=-1',
      `?task=${'a'.repeat(2000)}`,
    ]) {
      const answer = await ask(route, 'admin', 'known', query);
      expect(answer.statusCode).toBeLessThan(500);
      const isChecked = DESCRIPTIONS[route].query !== null || route.startsWith('GET /v1/');
      if (isChecked && needed !== 'public' && needed !== 'link')
        expect(problemOf(answer)).toMatchObject({ status: 400 });
    }
    if (route.includes(':id') || route.includes(':name'))
      for (const id of ['%00', 'a'.repeat(3000), '%zz', '..%2f..', '%F0%9F%92%A9'])
        expect((await ask(route, 'admin', id)).statusCode).toBeLessThan(500);
    if (route.startsWith('POST') && needed !== 'link')
      for (const payload of ['', '[', 'null', '[]', '"text"', '{"kind":"nonsense"}'])
        expect((await ask(route, 'admin', 'known', '', {}, payload)).statusCode).toBeLessThan(500);
  });

  test('is described, and answers as described', async () => {
    await lasting.app.ready();
    const [method, url] = route.split(' ') as ['GET', string];
    expect(lasting.app.hasRoute({ method, url })).toBe(true);
    expect(DESCRIPTIONS[route].summary).not.toBe('');
    if (needed === 'link' || needed === 'public' || route.includes(':') || STREAMS.includes(route)) return;
    if (route.startsWith('POST')) return;
    const answer = await ask(route, 'admin');
    const described = DESCRIPTIONS[route].answers[answer.statusCode];
    expect(described).toBeDefined();
    const { required = [] } = (described?.schema ?? {}) as { required?: readonly string[] };
    expect(Object.keys(answer.json())).toEqual(expect.arrayContaining([...required]));
  });
});

test('an unknown thing is a problem 404 that names where to look', async () => {
  for (const route of routes.filter((one) => /^GET .*:(id|name)/.test(one) && one !== 'GET /v1/commands/:id'))
    expect(problemOf(await ask(route, 'operator'))).toMatchObject({
      status: 404,
      detail: expect.stringContaining('`'),
    });
});

test('an id is unknown however long it is', async () => {
  expect(problemOf(await ask('GET /v1/agents/:id', 'viewer', 'a'.repeat(4096)))).toMatchObject({
    ...{ status: 404, type: 'urn:vigil:unknown_agent' },
  });
});

test('the served description is that of docs/openapi.json, and has every route', async () => {
  const answer = await ask('GET /v1/openapi.json', 'viewer');
  const file = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8'));
  expect(answer.json()).toEqual(file);
  const operations = Object.values(file.paths as Record<string, object>).flatMap((one) => Object.keys(one));
  expect(operations).toHaveLength(routes.length);
  expect(file.openapi).toBe('3.1.0');
  expect(openApiDocument({}).paths).toEqual(file.paths);
});

test('the description is valid OpenAPI 3.1', async () => {
  const description = (await ask('GET /v1/openapi.json', 'viewer')).json();
  expect(await new Validator().validate(description)).toMatchObject({ valid: true });
});

test('every reference of the description has its schema', () => {
  const file = readFileSync(path.join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8');
  const { components } = JSON.parse(file);
  const named = [...file.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(20);
  for (const name of named) expect(components.schemas).toHaveProperty([String(name)]);
});

test('a decision link is verified before anything else', async () => {
  expect(LINK_KEY).not.toBe('');
  expect((await ask('GET /v1/decision', 'admin', '', '?link=x')).statusCode).toBe(403);
});
