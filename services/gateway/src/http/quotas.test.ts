import { Topic } from '@vigil/events';
import { describe, expect, test } from 'vitest';
import { answerOf, claimsOf, least, showingClaims, testGateway } from '../testing.ts';
import { COUNTED_MS, createQuotas } from './quotas.ts';
import { exited } from './rights.fixture.ts';

const QUOTA = { requestsPerS: 2, bytesPerS: 1000, agents: 2, tasks: 1 };
const token = claimsOf('runtime', 'host-1');

describe('a token', () => {
  test('makes as many requests a second as its quota, and more in the next', () => {
    const quotas = createQuotas(QUOTA);
    const request = (now: number) => () => quotas.countRequest(token, 0, now);
    request(0)();
    request(0)();
    expect(request(0)).toThrow('more than 2 requests a second');
    expect(request(499)).toThrow();
    expect(request(500)).not.toThrow();
    request(10_000)();
    request(10_000)();
    expect(request(10_000)).toThrow();
  });

  test('sends as many bytes a second as its quota; a body of unknown size counts as the largest', () => {
    const quotas = createQuotas(QUOTA);
    quotas.countRequest(token, 1000, 0);
    expect(() => quotas.countRequest(token, 1, 0)).toThrow('more than 1000 bytes a second');
    expect(() => quotas.countRequest(token, 500, 500)).not.toThrow();
    expect(() => quotas.countRequest(token, null, 10_000)).toThrow('bytes');
  });

  test('has the bytes of a decompressed body counted that its request did not state', () => {
    const quotas = createQuotas(QUOTA);
    quotas.countRequest(token, 100, 0);
    quotas.countDecompressed(token, 100, 1000, 0);
    expect(() => quotas.countDecompressed(token, 100, 101, 0)).toThrow('more than 1000 bytes a second');
    for (const stated of [101, 100, null]) quotas.countDecompressed(token, stated, 100, 0);
    quotas.countDecompressed({ kind: 'operator' }, 0, 10_000, 0);
    expect(() => quotas.countDecompressed(token, 0, 1, 1)).not.toThrow();
  });

  test('reports as many agents and tasks as its quota, each until ten minutes after its last report', () => {
    const quotas = createQuotas(QUOTA);
    const report = (agentId: string, taskId: string | null, now: number) => () =>
      quotas.countAgents(token, [{ agentId, taskId }], now);
    report('a', 't', 0)();
    report('b', null, 0)();
    expect(report('c', null, 0)).toThrow('"c" is one of more than 2 agents');
    expect(report('a', 'u', 0)).toThrow('"u" is one of more than 1 tasks');
    expect(report('a', 't', COUNTED_MS - 1)).not.toThrow();
    expect(report('c', null, COUNTED_MS - 1)).toThrow();
    expect(report('c', null, COUNTED_MS)).not.toThrow();
  });

  test('that reports too many in a list has reported none of them', () => {
    const quotas = createQuotas(QUOTA);
    const list = ['a', 'b', 'c'].map((agentId) => ({ agentId, taskId: null }));
    expect(() => quotas.countAgents(token, list, 0)).toThrow();
    expect(() => quotas.countAgents(token, [{ agentId: 'd', taskId: null }], 0)).not.toThrow();
  });

  test("uses nothing of another's quota, and the operator has none", () => {
    const quotas = createQuotas(QUOTA);
    for (let i = 0; i < 2; i++) quotas.countRequest(token, 0, 0);
    expect(() => quotas.countRequest(claimsOf('runtime', 'host-2'), 0, 0)).not.toThrow();
    for (let i = 0; i < 10; i++) quotas.countRequest({ kind: 'operator' }, null, 0);
  });
});

describe('the gateway', () => {
  const { log, post, get } = testGateway();

  test('answers 429 with the time of the next try, and writes nothing, when a token reports its 201st agent', async () => {
    const own = await showingClaims('runtime', 'host-1');
    const heartbeatsAs = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...least, agent_id: `worker-${from + i}`, runtime_id: 'host-1' }));
    expect((await post('/v1/heartbeats', heartbeatsAs(0, 200), own)).status).toBe(202);
    const response = await post('/v1/heartbeats', heartbeatsAs(200, 1), own);
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await answerOf(response)).toMatchObject({ status: 429, body: { type: 'urn:vigil:problem:too_many' } });
    expect(log().events(Topic.heartbeat)).toHaveLength(200);
    expect((await post('/v1/heartbeats', heartbeatsAs(0, 200), own)).status).toBe(202);
  });

  test('counts the agents of exits with those of heartbeats, and writes no exit of the 201st agent', async () => {
    const own = await showingClaims('runtime', 'host-1');
    const exitsOf = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => ({
        type: 'AGENT_EXITED',
        payload: exited({ agentId: `worker-${from + i}`, taskId: null, labels: {}, policy: null }),
      }));
    expect((await post('/v1/heartbeats', { ...least, agent_id: 'worker-0', runtime_id: 'host-1' }, own)).status).toBe(
      202,
    );
    expect((await post('/v1/receipts', exitsOf(0, 200), own)).status).toBe(202);
    const response = await post('/v1/receipts', exitsOf(200, 1), own);
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await answerOf(response)).toMatchObject({ status: 429, body: { type: 'urn:vigil:problem:too_many' } });
    expect((await post('/v1/heartbeats', { ...least, agent_id: 'worker-200', runtime_id: 'host-1' }, own)).status).toBe(
      429,
    );
    expect(log().events(Topic.controlAgent)).toHaveLength(200);
    expect((await post('/v1/receipts', exitsOf(0, 200), own)).status).toBe(202);
    expect((await post('/v1/receipts', exitsOf(200, 1))).status).toBe(202);
  });

  test('answers 429 to the requests of a token above 50 a second', async () => {
    const own = await showingClaims('agent', 'worker-1');
    const all = await Promise.all(Array.from({ length: 500 }, () => get('/v1/policies/vigil', own)));
    const refused = all.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(all.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(50);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect((await get('/v1/policies/vigil')).status).toBe(200);
  });
});
