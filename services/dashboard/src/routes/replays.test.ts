import { readFileSync } from 'node:fs';
import path from 'node:path';
import { canonicalJson, PRESETS, parseYaml } from '@vigil/policy';
import { expect, test } from 'vitest';
import { dashboard } from '../app.fixture.ts';

const preset = parseYaml(readFileSync(path.join(PRESETS, 'vigil.yaml'), 'utf8'), 'vigil.yaml') as object;

const opened = () =>
  dashboard({
    policies: async () => ['vigil', 'newer'].map((name) => ({ name, hash: name })),
    policyDocument: async (hash: string) => canonicalJson(hash === 'vigil' ? preset : { ...preset, planets: {} }),
  });

const as = ({ app }: ReturnType<typeof opened>, token: string) => {
  const headers = { authorization: `Bearer ${token}` };
  return (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
    app.inject({ method, url, headers, ...(payload && { payload }) });
};

test('a viewer starts a replay, finds it and cancels it, and nothing is written', async () => {
  const one = opened();
  const vera = as(one, 'viewer');
  const started = await vera('POST', '/v1/replays', { kind: 'verify', since: '2026-11-27T14:00Z', agent: 'worker-1' });
  expect(started.statusCode).toBe(202);
  expect(started.headers.location).toBe('/v1/replays/replay-1');
  const since = Date.UTC(2026, 10, 27, 14);
  expect(started.json()).toMatchObject({ kind: 'verify', since, until: null, agentId: 'worker-1', by: 'vera' });
  expect((await vera('GET', '/v1/replays')).json()).toMatchObject({ replays: [{ replayId: 'replay-1' }] });
  expect((await vera('GET', '/v1/replays/replay-1')).json()).toMatchObject({ state: 'running', result: null });
  expect((await vera('DELETE', '/v1/replays/replay-1')).json()).toMatchObject({
    state: 'cancelled',
    why: 'cancelled by vera',
  });
  expect(one.written).toEqual([]);
});

test('the replay of another caller is ended by an operator, and by no other role', async () => {
  const one = opened();
  await as(one, 'viewer')('POST', '/v1/replays', { kind: 'verify' });
  for (const token of ['viewer-1', 'responder']) {
    const refused = await as(one, token)('DELETE', '/v1/replays/replay-1');
    expect(refused.statusCode).toBe(403);
    expect(refused.json().detail).toContain('the end of a replay of vera needs the role operator');
  }
  expect((await as(one, 'operator')('DELETE', '/v1/replays/replay-1')).json()).toMatchObject({ state: 'cancelled' });
});

test('a what if takes a published policy by its name, or a document', async () => {
  const one = opened();
  const ada = as(one, 'operator');
  const named = await ada('POST', '/v1/replays', { kind: 'what_if', policy: 'vigil', insteadOf: 'demo', until: 5 });
  expect(named.json()).toMatchObject({ kind: 'what_if', policyName: 'vigil', insteadOf: 'demo', until: 5 });
  const given = await ada('POST', '/v1/replays', { kind: 'what_if', document: { ...preset, policy: 'strict' } });
  expect(given.json()).toMatchObject({ policyName: 'strict', insteadOf: null });
  expect(given.json().policyHash).not.toBe(named.json().policyHash);
});

test.each([
  [{}, 400, 'kind'],
  [{ kind: 'verfy' }, 400, 'kind'],
  [{ kind: 'verify', since: 'yesterday' }, 400, 'since: give epoch milliseconds, or a time'],
  [{ kind: 'verify', since: -1 }, 400, 'since: -1 is too small: give at least 0'],
  [{ kind: 'verify', since: 2, until: 1 }, 400, 'until: the span ends before it begins'],
  [{ kind: 'verify', agent: '' }, 400, 'agent: '],
  [{ kind: 'verify', policy: 'vigil' }, 400, '"policy" is unknown here'],
  [{ kind: 'what_if' }, 400, 'policy: give either the name of a published policy, or a document'],
  [{ kind: 'what_if', policy: 'vigil', document: {} }, 400, 'policy: give either'],
  [{ kind: 'what_if', policy: 'vigl' }, 404, 'policy "vigl" does not exist'],
  [{ kind: 'what_if', policy: 'newer' }, 422, 'planets'],
  [{ kind: 'what_if', document: { policy: 'x', signals: { no_cals: '1m' } } }, 422, 'no_cals'],
])('%j is refused and starts nothing', async (body, status, detail) => {
  const one = opened();
  const answer = await one.request('POST', '/v1/replays', body);
  expect(answer.statusCode).toBe(status);
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(answer.json().detail).toContain(detail);
  expect((await one.request('GET', '/v1/replays')).json()).toEqual({ replays: [] });
});

test('too many replays are refused, with the remedy', async () => {
  const one = opened();
  for (let n = 0; n < 2; n += 1) await one.request('POST', '/v1/replays', { kind: 'verify' });
  const answer = await one.request('POST', '/v1/replays', { kind: 'verify' });
  expect(answer.statusCode).toBe(429);
  expect(answer.json()).toMatchObject({ type: 'urn:vigil:too_many_replays' });
});

test('an operator downloads a span as a file, and a responder does not', async () => {
  const one = opened();
  const url = '/v1/export?since=2026-11-27T14:00Z&until=1795791600000&agent=worker-1';
  const { statusCode, headers, body } = await as(one, 'operator')('GET', url);
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/gzip']);
  expect(headers['content-disposition']).toBe('attachment; filename="vigil-span.ndjson.gz"');
  expect(JSON.parse(body)).toEqual({ from: Date.UTC(2026, 10, 27, 14), to: 1795791600000, agent: 'worker-1' });
  expect((await as(one, 'responder')('GET', url)).statusCode).toBe(403);
});

test.each([
  ['since=yesterday', 'since: give epoch milliseconds, or a time'],
  ['since=2&until=1', 'until: the span ends before it begins'],
  ['agent=', 'agent: '],
  ['policy=vigil', '"policy" is unknown here'],
])('an export with %s is refused with the field', async (query, detail) => {
  const answer = await opened().request('GET', `/v1/export?${query}`);
  expect(answer.statusCode).toBe(400);
  expect(answer.headers['content-type']).toContain('application/problem+json');
  expect(answer.json().detail).toContain(detail);
});

test('a span may begin and end at the same moment', async () => {
  expect((await opened().request('GET', '/v1/export?since=5&until=5')).statusCode).toBe(200);
});
