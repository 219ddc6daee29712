import type { Heartbeat } from '@vigil/events';
import { expect, test } from 'vitest';
import { testGateway } from '../testing.ts';
import { attributes, callsOf, type Export, exporter, nano, recorded, sendCompressed } from './exports.fixture.ts';

const gateway = testGateway();
const { send, heartbeats, exported } = exporter(gateway);

const last = () => heartbeats().at(-1);
const own = (all: readonly Heartbeat[]) => all.filter(({ parent_agent_id }) => parent_agent_id === null);
const outcomes = (all: readonly Heartbeat[]) => callsOf(all).map(({ tool, outcome }) => `${tool} ${outcome}`);

test.each(['claude-code.traces', 'claude-code.traces-protobuf'])(
  'the calls and tokens of a session that Claude Code exports as spans alone are reported (%s)',
  async (name) => {
    const all = await exported(name);
    expect(outcomes(all)).toEqual(['Bash ok', 'Write ok', 'Read ok', 'Bash ok', 'Bash ok']);
    expect(last()).toMatchObject({ agent_id: 'worker-1', task_id: 'OMN-1', token_count: 7100, event_driven: true });
    for (const { started_at, ended_at } of callsOf(all)) expect(started_at).toBeLessThan(ended_at ?? 0);
  },
);

test('a command that fails again and again is the same call each time', async () => {
  const calls = callsOf(await exported('claude-code.traces-loops'));
  expect(calls).toHaveLength(16);
  expect(new Set(calls.map(({ error_class }) => error_class))).toEqual(new Set(['tool_error']));
  expect(new Set(calls.map(({ args_hash }) => args_hash)).size).toBe(1);
  expect(last()).toMatchObject({ error_count: 16 });
});

test('a call that permissions refuse is refused, and no failure', async () => {
  const all = await exported('claude-code.traces-refused');
  expect(outcomes(all).slice(0, 3)).toEqual(['Bash refused', 'Write refused', 'Bash ok']);
  expect(last()).toMatchObject({ error_count: 0 });
});

test('a request that will not pass blocks the session', async () => {
  expect((await exported('claude-code.traces-wedged')).at(-1)).toMatchObject({
    activity: 'blocked',
    token_count: 1020,
  });
});

test('a sub-agent is an agent of its own, with its calls and tokens', async () => {
  const all = await exported('claude-code.traces-subagent');
  const child = all.filter(({ parent_agent_id }) => parent_agent_id === 'worker-1');
  expect(outcomes(child)).toEqual(Array.from({ length: 4 }, () => 'Bash ok'));
  const tokens = [child.at(-1)?.token_count ?? 0, own(all).at(-1)?.token_count ?? 0];
  for (const one of tokens) expect(one).toBeGreaterThan(0);
  const metrics = await exported('claude-code.subagent-metrics');
  const counted = own(metrics).at(-1)?.token_count;
  expect(tokens[0]! + tokens[1]!).toBe(counted);
});

test('a call whose parts are not in the same export has ended, and nothing else is known', async () => {
  const parts = new Set(['claude_code.tool.execution', 'claude_code.tool.blocked_on_user']);
  const without = JSON.parse(JSON.stringify(recorded('claude-code.traces')), (_, value) =>
    Array.isArray(value) ? value.filter((one) => !parts.has(one?.name)) : value,
  ) as readonly Export[];
  for (const one of without) await send(one);
  expect(new Set(callsOf(heartbeats()).map(({ outcome }) => outcome))).toEqual(new Set(['abandoned']));
});

test('log events and spans of the same calls report each call once, with what the log events know of it', async () => {
  const all = await exported('claude-code.all-signals');
  const ended = all.flatMap(({ tool_calls }) => tool_calls).filter(({ outcome }) => outcome !== 'running');
  expect(ended).toHaveLength(5);
  expect(last()).toMatchObject({ token_count: 7100 });
  for (const one of recorded('claude-code.all-signals')) await send(one);
  expect(callsOf(heartbeats())).toHaveLength(5);
});

test('spans that are exported before the log events of the same calls report them once, too', async () => {
  const all = recorded('claude-code.all-signals');
  for (const signal of ['traces', 'metrics', 'logs']) for (const one of all) if (one.signal === signal) await send(one);
  expect(outcomes(heartbeats())).toEqual(['Bash ok', 'Write ok', 'Read ok', 'Bash ok', 'Bash ok']);
  expect(last()).toMatchObject({ token_count: 7100, error_count: 0 });
});

const sessionOf = (name: string): string =>
  /"key":"session\.id","value":\{"stringValue":"([^"]+)"/.exec(JSON.stringify(recorded(name)))?.[1] ?? '';

test('beside hooks, telemetry counts the tokens, and reports no call, no turn and no wait', async () => {
  const hook = (event: string, more: object = {}) =>
    gateway.post(
      '/v1/hooks/claude-code',
      { session_id: sessionOf('claude-code.all-signals'), hook_event_name: event, ...more },
      { 'vigil-agent': 'worker-1' },
    );
  await hook('UserPromptSubmit', { prompt: 'go' });
  await hook('PreToolUse', { tool_name: 'Bash', tool_use_id: 'c-1', tool_input: { command: 'ls' } });
  await exported('claude-code.all-signals');
  expect(last()).toMatchObject({ token_count: 7100, event_driven: false, turn: { open: true }, task_id: 'OMN-1' });
  expect(callsOf(heartbeats()).map(({ call_id }) => call_id)).toEqual(['c-1']);
  await hook('Stop');
  expect(last()).toMatchObject({ token_count: 7100, activity: 'awaiting_input', turn: { open: false } });
});

test.each(['codex', 'gemini-cli'])('spans of %s report nothing', async (client) => {
  const pairs = { 'service.name': client === 'codex' ? 'codex_exec' : client, 'vigil.agent': 'worker-1' };
  const names = client === 'codex' ? ['handle_responses', 'exec_command'] : ['llm_call', 'tool_call'];
  const spans = names.map((name) => ({
    ...{ traceId: 'aa', spanId: name, name, startTimeUnixNano: nano(1000), endTimeUnixNano: nano(2000) },
    attributes: attributes({
      ...{ 'gen_ai.operation.name': name, 'gen_ai.conversation.id': 'c1', 'session.id': 's1' },
      ...{ 'gen_ai.usage.input_tokens': 10, 'gen_ai.tool.name': 'x' },
    }),
  }));
  const resource = { attributes: attributes(pairs) };
  await send({ signal: 'traces', json: { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] } });
  expect(heartbeats()).toEqual([]);
});

const AT = 1_795_393_962_000;

type Span = {
  readonly id: string;
  readonly pairs: Readonly<Record<string, string | number>>;
  readonly code?: number;
};

const spans = (all: readonly Span[], resource: Readonly<Record<string, string>>): Export => ({
  signal: 'traces',
  json: {
    resourceSpans: [
      {
        resource: { attributes: attributes(resource) },
        scopeSpans: [
          {
            spans: all.map(({ id, pairs, code }) => ({
              ...{ traceId: 'aa', spanId: id, name: `span ${id}`, status: { code: code ?? 0 } },
              ...{ startTimeUnixNano: nano(AT), endTimeUnixNano: nano(AT + 1000) },
              attributes: attributes(pairs),
            })),
          },
        ],
      },
    ],
  },
});

const CREW = { 'service.name': 'crew', 'vigil.agent': 'crew-1' };
const SEARCH = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' };

test('a call of a framework has the hashes of its arguments and result where they are exported', async () => {
  const full = { ...SEARCH, 'gen_ai.tool.call.arguments': '{"q":"x"}', 'gen_ai.tool.call.result': 'secret' };
  await send(
    spans(
      [
        { id: '1', pairs: { ...full, 'gen_ai.tool.call.id': 'k1' } },
        { id: '2', pairs: { ...full, 'gen_ai.tool.call.id': 'k2' } },
        { id: '3', pairs: SEARCH },
      ],
      CREW,
    ),
  );
  const [first, second, third] = callsOf(heartbeats());
  expect(first).toMatchObject({ call_id: 'k1', tool: 'search', outcome: 'ok', started_at: AT, ended_at: AT + 1000 });
  expect(first?.args_hash).not.toBeNull();
  expect(first?.result_hash).not.toBeNull();
  expect([second?.args_hash, second?.result_hash]).toEqual([first?.args_hash, first?.result_hash]);
  expect(third).toMatchObject({ args_hash: null, result_hash: null, outcome: 'ok' });
  expect(JSON.stringify(heartbeats())).not.toContain('secret');
});

test('the start of a call whose span names none is unknown', async () => {
  const started = spans([{ id: '1', pairs: SEARCH }], CREW);
  const json = JSON.parse(JSON.stringify(started.json), (key, value) =>
    key === 'startTimeUnixNano' ? undefined : value,
  );
  await send({ ...started, json });
  expect(callsOf(heartbeats())).toMatchObject([{ started_at: null, ended_at: AT + 1000 }]);
});

test('a span that is exported again counts no call and no token again', async () => {
  const answer = {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 5 },
    ...{ 'gen_ai.usage.cache_read.input_tokens': 30, 'gen_ai.usage.cache_creation.input_tokens': 20 },
  };
  const one = spans(
    [
      { id: '1', pairs: answer },
      { id: '2', pairs: SEARCH, code: 2 },
    ],
    CREW,
  );
  await send(one);
  await send(one);
  expect(last()).toMatchObject({ token_count: 105, error_count: 1, client: { name: 'crew' } });
  expect(last()?.usage).toMatchObject([
    { input_tokens: 50, cache_read_tokens: 30, cache_write_tokens: 20, output_tokens: 5 },
  ]);
});

test('the span of an agent repeats the tokens of its answers; they count once', async () => {
  const used = { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 5 };
  await send(
    spans(
      [
        { id: '1', pairs: { ...used, 'gen_ai.operation.name': 'chat' } },
        { id: '2', pairs: { ...used, 'gen_ai.operation.name': 'invoke_agent' } },
      ],
      CREW,
    ),
  );
  expect(last()).toMatchObject({ token_count: 105 });
});

test('spans of a framework without a conversation belong to the named agent, and are ignored without a name', async () => {
  expect((await send(spans([{ id: '1', pairs: SEARCH }], { 'service.name': 'crew' }))).status).toBe(200);
  expect(heartbeats()).toEqual([]);
  await send(spans([{ id: '1', pairs: SEARCH }], { ...CREW, 'service.instance.id': 'run-1' }));
  expect(last()).toMatchObject({ agent_id: 'crew-1', instance_id: 'run-1' });
});

test.each(['claude-code.traces', 'claude-code.traces-protobuf'])(
  'spans that are compressed by gzip count as before (%s)',
  async (name) => {
    await sendCompressed(gateway, name);
    expect(callsOf(heartbeats())).toHaveLength(5);
  },
);
