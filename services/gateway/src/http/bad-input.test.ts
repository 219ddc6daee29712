import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { Topic } from '@vigil/events';
import { describe, expect, test } from 'vitest';
import { answerOf, least, TOKEN, testGateway } from '../testing.ts';
import { LARGEST_BODY } from './body.ts';

const { log, get, post, postRaw, url } = testGateway();

const { agent_id: _, ...nameless } = least;
const invalidUtf8 = new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]);
const text = (value: unknown) => JSON.stringify(value);

describe('bad input has its documented answer, and nothing is written', () => {
  test.each<[string, string | Uint8Array<ArrayBuffer>, number, string, string | null]>([
    ['not JSON', 'I am fine', 400, 'not_json', null],
    ['nothing', '', 400, 'not_json', null],
    ['half a document', text(least).slice(0, 40), 400, 'not_json', null],
    ['invalid UTF-8', invalidUtf8, 400, 'invalid_utf8', null],
    ['gzip', new Uint8Array([0x1f, 0x8b, 8, 0]), 400, 'invalid_utf8', null],
    ['a number', '5', 400, 'bad_field', ''],
    ['no agent id', text(nameless), 400, 'missing_field:agent_id', 'agent_id'],
    ['a key of our own as agent id', text({ ...least, agent_id: '@tick/0' }), 400, 'bad_id', 'agent_id'],
    ['control characters', text({ ...least, agent_id: 'a\u0000\u001b[2J' }), 400, 'bad_id', 'agent_id'],
    ['a hostile task id', text({ ...least, task_id: "'; DROP TABLE agents; --" }), 400, 'bad_id', 'task_id'],
    ['an invalid time', text({ ...least, timestamp: 'yesterday' }), 400, 'bad_field', 'timestamp'],
    ['a list too long', text({ ...least, blockers: Array(1_001).fill('x') }), 400, 'bad_field', 'blockers'],
    ['more than 512 KiB', text({ ...least, handoff: 'x'.repeat(LARGEST_BODY) }), 413, 'too_large', null],
  ])('%s', async (_name, body, status, reason, field) => {
    const response = await postRaw('/v1/heartbeats', body);
    expect(response.headers.get('content-type')).toContain('application/problem+json');
    expect(await answerOf(response)).toMatchObject({
      status,
      body: { type: `urn:vigil:problem:${reason}`, status, field, index: null },
    });
    expect(log().events(Topic.heartbeat)).toEqual([]);
  });

  test.each([
    ['nonsense', 'nonsense\r\n\r\n', 400, 'bad_request'],
    [
      'headers above 16 KB',
      `GET /v1/policies/${'a'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'headers_too_large',
    ],
  ])('%s, which Node cannot read', async (_name, request, status, reason) => {
    const { hostname, port } = new URL(url());
    const socket = connect(Number(port), hostname);
    socket.write(request);
    const [head = '', body = ''] = (await textOf(socket)).split('\r\n\r\n');
    expect(head).toContain('Content-Type: application/problem+json');
    expect(JSON.parse(body)).toMatchObject({ status, type: `urn:vigil:problem:${reason}` });
  });

  test('a content type that is not JSON', async () => {
    const response = await postRaw('/v1/heartbeats', text(least), { 'content-type': 'text/plain' });
    expect(response.status).toBe(415);
  });

  test('hostile texts in fields are stored as texts', async () => {
    const hostile = "<script>alert(1)</script>\u0000\u202e'; DROP TABLE agents; --";
    expect((await post('/v1/heartbeats', { ...least, phase: hostile })).status).toBe(202);
    expect(log().events(Topic.heartbeat)).toMatchObject([{ payload: { phase: hostile } }]);
  });

  test('an unknown address', async () => {
    expect(await answerOf(await get('/v2/heartbeats'))).toMatchObject({ status: 404, body: { title: 'Not here' } });
    expect((await get('/v1/policies/%zz')).status).toBe(400);
  });
});

test.each([
  ['just above the limit', LARGEST_BODY + 1],
  ['ten times above it', 10 * LARGEST_BODY],
])(
  'a body %s is refused with 413, which a client gets that reads nothing before it has written it',
  async (_name, bytes) => {
    const { hostname, port } = new URL(url());
    const head = `POST /v1/heartbeats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nConnection: close\r\n`;
    const body = 'x'.repeat(bytes);
    for (const request of [
      `${head}Content-Length: ${bytes}\r\n\r\n${body}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ]) {
      const socket = connect(Number(port), hostname).pause();
      await new Promise<void>((resolve, reject) => void socket.once('error', reject).write(request, () => resolve()));
      expect(await textOf(socket)).toMatch(/^HTTP\/1\.1 413 [\s\S]*urn:vigil:problem:too_large/);
    }
  },
);

test('a wait of any fraction of a second is one', async () => {
  for (const wait of ['0.0005', '0.0125', '1e-9', '-0'])
    expect((await get(`/v1/runtimes/host-1/orders?wait=${wait}`)).status).toBe(200);
  for (const wait of ['-1', 'soon', '1&wait=2'])
    expect((await get(`/v1/runtimes/host-1/orders?wait=${wait}`)).status).toBe(400);
});

test('endlessly nested input is refused, as the whole body or in a field', async () => {
  const nested = '['.repeat(200_000) + ']'.repeat(200_000);
  for (const body of [nested, text(least).replace('"implement"', nested)])
    expect((await postRaw('/v1/heartbeats', body)).status).toBe(400);
  expect(log().events(Topic.heartbeat)).toEqual([]);
});

describe('the token', () => {
  test.each(['', 'Bearer', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`, TOKEN])(
    '%j is not accepted as a token',
    async (wrong) => {
      const response = await postRaw('/v1/heartbeats', JSON.stringify(least), { authorization: wrong });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(log().events(Topic.heartbeat)).toEqual([]);
    },
  );
});

test('a receipt whose type is nested deep is refused as a mistake of its sender', async () => {
  const deep = `{"type":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(await answerOf(await postRaw('/v1/receipts', deep))).toMatchObject({
    status: 400,
    body: { type: 'urn:vigil:problem:bad_field', field: 'type' },
  });
});

test('where the log does not take it, the answer is to send it again, not what went wrong', async () => {
  Object.assign(log(), { write: () => Promise.reject(new Error('the broker is away')) });
  const response = await post('/v1/heartbeats', least);
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.text()).not.toContain('broker');
});
