import { gzipSync } from 'node:zlib';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test, vi } from 'vitest';
import { LARGEST_BODY } from '../http/body.ts';
import { answerOf, showingClaims, testGateway } from '../testing.ts';
import { attributes, callsOf, type Export, exporter, nano, recorded } from './exports.fixture.ts';

const gateway = testGateway();
const { log, post, postRaw } = gateway;
const { send, heartbeats, exported } = exporter(gateway);

test.each(['claude-code.works', 'claude-code.works-protobuf'])(
  'the calls, tokens and money of a session that Claude Code exports are reported (%s)',
  async (name) => {
    const all = await exported(name);
    expect(new Set(all.map(({ agent_id, task_id }) => `${agent_id} ${task_id}`))).toEqual(new Set(['worker-1 OMN-1']));
    const calls = callsOf(all);
    expect(calls.map(({ tool }) => tool)).toEqual(['Bash', 'Write', 'Read', 'Bash', 'Bash']);
    expect(calls.filter(({ outcome }) => outcome === 'running')).toEqual([]);
    const last = all.at(-1);
    expect(last).toMatchObject({ token_count: 7100, client: { name: 'claude-code' }, event_driven: true });
    expect(last?.cost_usd).toBeCloseTo(0.03, 5);
  },
);

test('facts that telemetry does not carry stay unknown: results, the turn, and waiting for a person', async () => {
  const all = await exported('claude-code.works');
  for (const { turn, waiting_for, activity, output } of all)
    expect({ turn, waiting_for, activity, output }).toEqual({
      turn: null,
      waiting_for: null,
      activity: null,
      output: null,
    });
  expect(callsOf(all).every(({ result_hash }) => result_hash === null)).toBe(true);
});

test("a call is described as by the client's hook, once its arguments are exported", async () => {
  const calls = callsOf(await exported('claude-code.works'));
  expect(calls.find(({ tool }) => tool === 'Write')).toMatchObject({
    mutating: true,
    target: expect.stringMatching(/a\.txt$/),
  });
  expect(calls.every(({ args_hash }) => args_hash !== null)).toBe(true);
});

test('calls of Codex have the exit code of their command', async () => {
  const calls = callsOf(await exported('codex.works'));
  expect(calls).toHaveLength(5);
  expect(calls.map(({ outcome, error_class }) => error_class ?? outcome)).toContain('exit_1');
  expect(heartbeats().at(-1)).toMatchObject({ token_count: 7300, client: { name: 'codex' } });
});

test('calls and tokens of Gemini CLI are reported', async () => {
  expect(callsOf(await exported('gemini-cli.works'))).toHaveLength(5);
  expect(heartbeats().at(-1)).toMatchObject({ token_count: 7100, client: { name: 'gemini-cli' } });
});

test('a sub-agent is an agent of its own, with its parent and without a task', async () => {
  const all = await exported('claude-code.subagent');
  const parent = all.find(({ parent_agent_id }) => parent_agent_id === null);
  const child = all.find(({ parent_agent_id }) => parent_agent_id !== null);
  expect(child).toMatchObject({ parent_agent_id: parent?.agent_id, task_id: null });
  expect(callsOf(all.filter(({ agent_id }) => agent_id === child?.agent_id)).length).toBeGreaterThan(0);
});

test('a request that will not pass blocks the session', async () => {
  expect((await exported('claude-code.wedged')).at(-1)).toMatchObject({ activity: 'blocked' });
});

test('an export that is sent again counts no token and no call again', async () => {
  const [first, ...rest] = recorded('claude-code.works');
  for (const one of [first, first, ...rest]) if (one) await send(one);
  expect(heartbeats().at(-1)).toMatchObject({ token_count: 7100, error_count: 1 });
});

test('an agent that a runtime watches is not reported by its telemetry', async () => {
  const payload = { agentId: 'worker-1', runtimeId: 'host-1' };
  await log().publish(example(Topic.fleetPresence, 'AGENT_PRESENT', payload));
  await vi.waitFor(async () => {
    const answers = await Promise.all(recorded('claude-code.works').map((one) => send(one).then((r) => r.json())));
    expect(JSON.stringify(answers)).toContain('a runtime watches worker-1');
  });
});

test('telemetry of other programs is accepted, and reports nothing', async () => {
  const attributes = [{ key: 'service.name', value: { stringValue: 'nginx' } }];
  const json = {
    resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [{ body: { stringValue: 'GET /' } }] }] }],
  };
  expect((await send({ signal: 'logs', json })).status).toBe(200);
  expect(heartbeats()).toEqual([]);
});

test.each([
  ['JSON of another form', 'application/json', '{"resourceLogs":7}'],
  ['bytes that are not protobuf', 'application/x-protobuf', '\u00ff\u00ff\u00ff'],
])('%s is refused with the reason', async (_, type, body) => {
  const answer = await answerOf(await postRaw('/otlp/v1/logs', body, { 'content-type': type }));
  expect(answer).toMatchObject({ status: 400, body: { type: 'urn:vigil:problem:bad_telemetry' } });
});

const GZIP = { 'content-encoding': 'gzip' };

test.each([
  ['claude-code.works', 'application/json'],
  ['claude-code.works-protobuf', 'application/x-protobuf'],
])('an export that is compressed by gzip is read as it was before (%s)', async (name, type) => {
  for (const { signal, json, protobuf } of recorded(name)) {
    const body = protobuf === undefined ? Buffer.from(JSON.stringify(json)) : Buffer.from(protobuf, 'base64');
    const headers = { 'content-type': type, ...GZIP };
    expect((await postRaw(`/otlp/v1/${signal}`, new Uint8Array(gzipSync(body)), headers)).status).toBe(200);
  }
  expect(heartbeats().at(-1)).toMatchObject({ agent_id: 'worker-1', token_count: 7100 });
});

test('a body that exceeds the largest request after decompression is refused, and so is invalid gzip or another encoding', async () => {
  const bomb = gzipSync(`{"resourceLogs":[]}${' '.repeat(LARGEST_BODY)}`);
  expect(bomb.length).toBeLessThan(LARGEST_BODY / 100);
  const sent = async (body: Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
    (await answerOf(await postRaw('/otlp/v1/logs', body, headers))).body;
  expect(await sent(new Uint8Array(bomb), GZIP)).toMatchObject({ type: 'urn:vigil:problem:too_large', status: 413 });
  const torn = new Uint8Array(gzipSync('{"resourceLogs":[]}').subarray(0, 15));
  for (const body of [torn, new Uint8Array(Buffer.from('{}'))])
    expect(await sent(body, GZIP)).toMatchObject({ type: 'urn:vigil:problem:bad_encoding', status: 400 });
  const other = await sent(new Uint8Array(bomb), { 'content-encoding': 'zstd' });
  expect(other).toMatchObject({ type: 'urn:vigil:problem:bad_encoding', status: 415 });
});

test("an agent's token reports its own agent only", async () => {
  const { authorization } = await showingClaims('agent', 'worker-2');
  const [first] = recorded('claude-code.works');
  expect((await send(first as Export, { authorization })).status).toBe(403);
  const none = await postRaw('/otlp/v1/logs', '{}', { authorization: 'Bearer no' });
  expect(none.status).toBe(401);
});

test("an agent's token reports the sub-agents of its own agent, and no other's", async () => {
  const { authorization } = await showingClaims('agent', 'worker-1');
  for (const one of recorded('claude-code.subagent')) expect((await send(one, { authorization })).status).toBe(200);
  expect(heartbeats().some(({ parent_agent_id }) => parent_agent_id === 'worker-1')).toBe(true);
  const foreign = { ...heartbeats().at(-1), agent_id: 'worker-2:x-1', parent_agent_id: 'worker-1' };
  expect((await post('/v1/heartbeats', foreign, { authorization })).status).toBe(403);
});

test('a span of a framework that follows the general conventions is a call, or tokens', async () => {
  const span = (spanId: string, pairs: Readonly<Record<string, string | number>>, code = 0) => ({
    traceId: 'aa',
    spanId,
    name: 'x',
    startTimeUnixNano: nano(1795393962000),
    endTimeUnixNano: nano(1795393963000),
    status: { code },
    attributes: attributes({ 'gen_ai.conversation.id': 'c1', ...pairs }),
  });
  const spans = [
    span(
      '1',
      { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search', 'gen_ai.tool.call.id': 'k1' },
      2,
    ),
    span('2', { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 10, 'gen_ai.usage.output_tokens': 5 }),
  ];
  const resource = { attributes: attributes({ 'service.name': 'crew', 'vigil.agent': 'crew-1' }) };
  await send({ signal: 'traces', json: { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] } });
  expect(heartbeats().at(-1)).toMatchObject({ agent_id: 'crew-1', token_count: 15, error_count: 1 });
  expect(callsOf(heartbeats())).toMatchObject([{ call_id: 'k1', tool: 'search', outcome: 'error' }]);
});

test('small requests whose bodies are large after decompression are refused above the quota of bytes of their token', async () => {
  const own = await showingClaims('agent', 'worker-1');
  const zipped = gzipSync(`{"resourceLogs":[]}${' '.repeat(LARGEST_BODY - 100)}`);
  const post = async (headers: Record<string, string>) =>
    (await postRaw('/otlp/v1/logs', new Uint8Array(zipped), { ...GZIP, ...headers })).status;
  const statuses = await Promise.all(Array.from({ length: 40 }, () => post(own)));
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10);
  expect(statuses).toContain(429);
  expect(await post({})).toBe(200);
});
