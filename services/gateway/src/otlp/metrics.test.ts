import { expect, test } from 'vitest';
import { showingClaims, testGateway } from '../testing.ts';
import { attributes, type Export, exporter, nano, recorded, sendCompressed } from './exports.fixture.ts';

const gateway = testGateway();
const { send, heartbeats, exported } = exporter(gateway);

const last = () => heartbeats().at(-1);

test.each([
  ['claude-code.metrics', 'claude-code', 7100],
  ['claude-code.metrics-cumulative', 'claude-code', 7100],
  ['codex.metrics', 'codex', 7300],
  ['codex.metrics-protobuf', 'codex', 7300],
])('the tokens of a session that exports metrics alone are those of its logs (%s)', async (name, client, tokens) => {
  await exported(name);
  expect(last()).toMatchObject({ agent_id: 'worker-1', token_count: tokens, client: { name: client } });
});

test('the cost of a session of Claude Code is known by its metrics', async () => {
  await exported('claude-code.metrics-cumulative');
  expect(last()?.cost_usd).toBeCloseTo(0.03, 5);
});

test('Gemini CLI counts its tokens twice over, in its own metric and in the general one; they count once', async () => {
  for (const one of recorded('gemini-cli.all-signals').filter(({ signal }) => signal === 'metrics')) await send(one);
  expect(last()).toMatchObject({ agent_id: 'worker-1', token_count: 7100, client: { name: 'gemini-cli' } });
});

test('metrics do not name sub-agents, so their tokens are counted for the session', async () => {
  const all = await exported('claude-code.subagent-metrics');
  expect(new Set(all.map(({ agent_id }) => agent_id))).toEqual(new Set(['worker-1']));
  expect(last()?.token_count).toBeGreaterThan(7100);
});

test.each([
  ['claude-code.all-signals', 7100],
  ['codex.logs-and-metrics', 7300],
  ['gemini-cli.all-signals', 7100],
])(
  'what logs have counted is not counted again by metrics and spans, in any order of arrival (%s)',
  async (name, tokens) => {
    const all = recorded(name);
    const isLog = ({ signal }: Export) => signal === 'logs';
    for (const one of [...all.filter((each) => !isLog(each)), ...all.filter(isLog)]) await send(one);
    expect(last()).toMatchObject({ token_count: tokens });
    for (const one of all) await send(one);
    expect(last()).toMatchObject({ token_count: tokens });
    expect(new Set(heartbeats().map(({ agent_id }) => agent_id))).toEqual(new Set(['worker-1']));
  },
);

test('metrics of Codex name no session: they are of the session that the agent is in', async () => {
  const all = recorded('codex.logs-and-metrics');
  for (const signal of ['logs', 'metrics']) for (const one of all) if (one.signal === signal) await send(one);
  expect(new Set(heartbeats().map(({ instance_id }) => instance_id)).size).toBe(1);
});

const AT = 1_795_393_962_000;

type Point = { readonly start: number; readonly at: number; readonly value: number; readonly type: string };

const usage = (resource: Readonly<Record<string, string>>, metric: object): Export => ({
  signal: 'metrics',
  json: {
    resourceMetrics: [
      {
        resource: { attributes: attributes(resource) },
        scopeMetrics: [{ scope: { name: 'crew' }, metrics: [{ name: 'gen_ai.client.token.usage', ...metric }] }],
      },
    ],
  },
});

const dataPoints = (points: readonly Point[], value: (point: Point) => object) =>
  points.map((point) => ({
    startTimeUnixNano: nano(AT + point.start),
    timeUnixNano: nano(AT + point.at),
    attributes: attributes({
      'gen_ai.token.type': point.type,
      'gen_ai.request.model': 'm1',
      'gen_ai.operation.name': 'chat',
    }),
    ...value(point),
  }));

const CREW = { 'service.name': 'crew', 'vigil.agent': 'crew-1' };

const histogram = (points: readonly Point[], aggregationTemporality: number): object => ({
  histogram: { aggregationTemporality, dataPoints: dataPoints(points, ({ value }) => ({ count: '2', sum: value })) },
});
const sum = (points: readonly Point[], aggregationTemporality: string): object => ({
  sum: {
    aggregationTemporality,
    isMonotonic: true,
    dataPoints: dataPoints(points, ({ value }) => ({ asInt: String(value) })),
  },
});

const CUMULATIVE = 2;

test('a histogram of a framework counts by its sum', async () => {
  const input: Point = { start: 0, at: 1000, value: 100, type: 'input' };
  const output: Point = { ...input, value: 20, type: 'output' };
  await send(usage(CREW, histogram([input, output], CUMULATIVE)));
  expect(last()).toMatchObject({ agent_id: 'crew-1', client: { name: 'crew' }, token_count: 120 });
  expect(last()?.usage).toMatchObject([{ model: 'm1', input_tokens: 100, output_tokens: 20 }]);
  await send(usage(CREW, histogram([{ ...input, at: 2000, value: 150 }], CUMULATIVE)));
  expect(last()).toMatchObject({ token_count: 170 });
});

test('sums count their increments or their totals, as their temporality defines', async () => {
  const point: Point = { start: 0, at: 1000, value: 100, type: 'input' };
  const next = { ...point, start: 1000, at: 2000 };
  for (const one of [point, next]) await send(usage(CREW, sum([one], 'AGGREGATION_TEMPORALITY_DELTA')));
  expect(last()).toMatchObject({ token_count: 200 });
  const other = { ...CREW, 'vigil.agent': 'crew-2' };
  for (const one of [point, { ...point, at: 2000 }])
    await send(usage(other, sum([one], 'AGGREGATION_TEMPORALITY_CUMULATIVE')));
  expect(last()).toMatchObject({ agent_id: 'crew-2', token_count: 100 });
});

test.each(['abc', '-1', '9007199254740993', 'NaN', 'Infinity'])(
  'an unusable value of %s changes nothing, and the next one counts',
  async (asInt) => {
    const point: Point = { start: 0, at: 1000, value: 100, type: 'input' };
    const crew = { ...CREW, 'vigil.agent': `crew${asInt}` };
    const delta = { aggregationTemporality: 'AGGREGATION_TEMPORALITY_DELTA', isMonotonic: true };
    await send(usage(crew, sum([point], delta.aggregationTemporality)));
    const wrong = dataPoints([{ ...point, at: 2000 }], () => ({ asInt }));
    expect((await send(usage(crew, { sum: { ...delta, dataPoints: wrong } }))).status).toBe(200);
    await send(usage(crew, sum([{ ...point, at: 3000 }], delta.aggregationTemporality)));
    expect(last()).toMatchObject({ agent_id: `crew${asInt}`, token_count: 200 });
  },
);

const answer = (at: number): Export => ({
  signal: 'traces',
  json: {
    resourceSpans: [
      {
        resource: { attributes: attributes(CREW) },
        scopeSpans: [
          {
            spans: [
              {
                ...{ traceId: 'aa', spanId: '01', name: 'chat m1' },
                ...{ startTimeUnixNano: nano(AT + at), endTimeUnixNano: nano(AT + at + 500) },
                attributes: attributes({ 'gen_ai.operation.name': 'chat' }),
              },
            ],
          },
        ],
      },
    ],
  },
});

test('a counter that is older than the first report of its agent counts from its second value on', async () => {
  await send(answer(5000));
  const point: Point = { start: 4999, at: 6000, value: 900, type: 'input' };
  await send(usage(CREW, histogram([point], CUMULATIVE)));
  expect(last()).toMatchObject({ agent_id: 'crew-1', token_count: null });
  await send(usage(CREW, histogram([{ ...point, at: 7000, value: 940 }], CUMULATIVE)));
  expect(last()).toMatchObject({ token_count: 40 });
});

test('a counter that began with the first report of its agent counts whole', async () => {
  await send(answer(5000));
  await send(usage(CREW, histogram([{ start: 5000, at: 6000, value: 900, type: 'input' }], CUMULATIVE)));
  expect(last()).toMatchObject({ agent_id: 'crew-1', token_count: 900 });
});

test('an export that counts nothing new reports nothing', async () => {
  const point: Point = { start: 0, at: 1000, value: 100, type: 'input' };
  await send(usage(CREW, histogram([point], CUMULATIVE)));
  const before = heartbeats().length;
  await send(usage(CREW, histogram([{ ...point, at: 2000 }], CUMULATIVE)));
  expect(heartbeats()).toHaveLength(before);
});

test('metrics without a session and an agent are ignored, unless the token is that of an agent', async () => {
  const point: Point = { start: 0, at: 1000, value: 100, type: 'input' };
  const unnamed = usage({ 'service.name': 'crew' }, histogram([point], CUMULATIVE));
  expect((await send(unnamed)).status).toBe(200);
  expect(heartbeats()).toEqual([]);
  const { authorization } = await showingClaims('agent', 'crew-7');
  await send(unnamed, { authorization });
  expect(last()).toMatchObject({ agent_id: 'crew-7', token_count: 100 });
});

test('a gauge, a metric of another name, and a point without a value count nothing', async () => {
  const point: Point = { start: 0, at: 1000, value: 100, type: 'input' };
  const points = dataPoints([point], ({ value }) => ({ asInt: String(value) }));
  const empty = dataPoints([point], () => ({}));
  for (const metric of [
    { gauge: { dataPoints: points } },
    { ...sum([point], 'AGGREGATION_TEMPORALITY_DELTA'), name: 'gen_ai.client.operation.duration' },
    { histogram: { aggregationTemporality: 1, dataPoints: empty } },
  ])
    expect((await send(usage(CREW, metric))).status).toBe(200);
  expect(heartbeats()).toEqual([]);
});

test.each(['codex.metrics', 'codex.metrics-protobuf'])(
  'metrics that are compressed by gzip count as before (%s)',
  async (name) => {
    await sendCompressed(gateway, name);
    expect(last()).toMatchObject({ token_count: 7300 });
  },
);
