// Records what the real clients export by OTLP: node test/clients/recordings/make/telemetry.ts [WORD…]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { clients } from '../../client/clients.ts';
import { installClients } from '../../client/pinned.ts';
import { makePlace, type Place } from '../../client/session.ts';
import type { ClientKind } from '../../model/answer.ts';
import { startModel } from '../../model/model.ts';
import type { ScenarioName } from '../../model/scenarios.ts';

type Protocol = 'json' | 'protobuf';
type Signal = 'logs' | 'metrics' | 'traces';
type Recording = {
  readonly name: string;
  readonly client: ClientKind;
  readonly scenario: ScenarioName;
  readonly protocol: Protocol;
  readonly signals: readonly Signal[];
  readonly isCumulative: boolean;
  readonly skipsPermissions: boolean;
};

const NAMED = 'vigil.agent=worker-1,vigil.task=OMN-1';
const target = path.resolve(import.meta.dirname, '../../../../services/gateway/src/otlp/recordings');

const recording = (client: ClientKind, name: string, more: Partial<Recording>): Recording => ({
  name: `${client}.${name}`,
  client,
  scenario: 'works',
  protocol: 'json',
  signals: ['logs', 'metrics', 'traces'],
  isCumulative: false,
  skipsPermissions: true,
  ...more,
});

const recordings: readonly Recording[] = [
  recording('claude-code', 'metrics', { signals: ['metrics'] }),
  recording('claude-code', 'metrics-cumulative', { signals: ['metrics'], isCumulative: true }),
  recording('claude-code', 'subagent-metrics', { signals: ['metrics'], scenario: 'subagent' }),
  recording('claude-code', 'traces', { signals: ['traces'] }),
  recording('claude-code', 'traces-protobuf', { signals: ['traces'], protocol: 'protobuf' }),
  recording('claude-code', 'traces-subagent', { signals: ['traces'], scenario: 'subagent' }),
  recording('claude-code', 'traces-loops', { signals: ['traces'], scenario: 'loops' }),
  recording('claude-code', 'traces-refused', { signals: ['traces'], scenario: 'refusedCall', skipsPermissions: false }),
  recording('claude-code', 'traces-wedged', { signals: ['traces'], scenario: 'invalidRequest' }),
  recording('claude-code', 'all-signals', {}),
  recording('codex', 'metrics', { signals: ['metrics'] }),
  recording('codex', 'metrics-protobuf', { signals: ['metrics'], protocol: 'protobuf' }),
  recording('codex', 'logs-and-metrics', { signals: ['logs', 'metrics'] }),
  recording('codex', 'loops', { signals: ['logs', 'metrics'], scenario: 'loops' }),
  recording('gemini-cli', 'all-signals', {}),
  recording('gemini-cli', 'loops', { scenario: 'loops' }),
];

const exporter = (is: boolean): string => (is ? 'otlp' : 'none');

/** The telemetry settings of each client. */
const settings: Readonly<
  Record<ClientKind, (recording: Recording, endpoint: string, place: Place) => Readonly<Record<string, string>>>
> = {
  'claude-code': ({ protocol, signals, isCumulative }, endpoint) => ({
    CLAUDE_CODE_ENABLE_TELEMETRY: '1',
    CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: '1',
    OTEL_LOGS_EXPORTER: exporter(signals.includes('logs')),
    OTEL_METRICS_EXPORTER: exporter(signals.includes('metrics')),
    OTEL_TRACES_EXPORTER: exporter(signals.includes('traces')),
    OTEL_EXPORTER_OTLP_PROTOCOL: `http/${protocol}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: isCumulative ? 'cumulative' : 'delta',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    OTEL_LOGS_EXPORT_INTERVAL: '300',
    OTEL_TRACES_EXPORT_INTERVAL: '300',
    OTEL_RESOURCE_ATTRIBUTES: NAMED,
    OTEL_LOG_TOOL_DETAILS: '1',
  }),
  codex: ({ protocol, signals }, endpoint, { home }) => {
    const encoding = protocol === 'json' ? 'json' : 'binary';
    const names: Readonly<Record<Signal, string>> = {
      logs: 'exporter',
      metrics: 'metrics_exporter',
      traces: 'trace_exporter',
    };
    const lines = signals.map(
      (signal) =>
        `${names[signal]} = { otlp-http = { endpoint = "${endpoint}/v1/${signal}", protocol = "${encoding}" } }`,
    );
    const otel = ['', '[otel]', 'environment = "test"', ...lines, ''].join('\n');
    appendFileSync(path.join(home, '.codex/config.toml'), otel);
    return { OTEL_RESOURCE_ATTRIBUTES: NAMED };
  },
  'gemini-cli': (_, endpoint) => ({
    GEMINI_TELEMETRY_ENABLED: 'true',
    GEMINI_TELEMETRY_TARGET: 'local',
    GEMINI_TELEMETRY_OTLP_ENDPOINT: endpoint,
    GEMINI_TELEMETRY_OTLP_PROTOCOL: 'http',
    GEMINI_TELEMETRY_TRACES_ENABLED: 'true',
    OTEL_RESOURCE_ATTRIBUTES: NAMED,
  }),
};

/** Longer texts are prompts, tool descriptions and the like. */
const LONGEST = 300;

type Attribute = { readonly key?: unknown; readonly value?: { readonly stringValue?: unknown } };

/** Names the machine, or is long and never read. */
const isLeftOut = ({ key, value }: Attribute): boolean =>
  /^(?:process|host|os|user)\./.test(String(key)) || JSON.stringify(value ?? null).length > LONGEST;

/** A request in JSON without the omitted parts. Counts of a histogram are not read. */
const trimmed = (body: string): unknown =>
  JSON.parse(body, (key: string, value: unknown) => {
    if (key === 'attributes' && Array.isArray(value)) return value.filter((one: Attribute) => !isLeftOut(one));
    return key === 'bucketCounts' || key === 'explicitBounds' ? undefined : value;
  });

const startReceiver = async () => {
  const lines: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const signal = request.url?.split('/').at(-1);
    const isJson = request.headers['content-type']?.startsWith('application/json') === true;
    const sent = isJson ? { json: trimmed(body.toString('utf8')) } : { protobuf: body.toString('base64') };
    lines.push(JSON.stringify({ signal, ...sent }));
    response.writeHead(200, { 'content-type': isJson ? 'application/json' : 'application/x-protobuf' });
    response.end(isJson ? '{}' : '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver listens on no port');
  return { endpoint: `http://127.0.0.1:${address.port}`, lines, close: () => server.close() };
};

const record = async (one: Recording): Promise<void> => {
  const base = process.env.RECORDING_FOLDER ?? path.join(os.tmpdir(), 'recording');
  rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 });
  const place = { home: path.join(base, 'home'), project: path.join(base, 'project'), hookLog: null };
  makePlace(place);
  const receiver = await startReceiver();
  const model = await startModel({ onRequest: () => undefined });
  const modelUrl = model.open(one.client, { name: 's', scenario: one.scenario, workdir: place.project, thinkMs: 300 });
  const command = clients[one.client].prepare({
    place,
    modelUrl,
    openQuestions: [],
    skipsPermissions: one.skipsPermissions,
    prompt: 'Do the work.',
    isHeadless: true,
    moreArgs: [],
  });
  const env = { ...command.env, ...settings[one.client](one, receiver.endpoint, place) };
  const child = spawn(command.command, command.args, {
    cwd: command.cwd,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  await once(child, 'exit');
  await model.close();
  receiver.close();
  mkdirSync(target, { recursive: true });
  writeFileSync(path.join(target, `${one.name}.jsonl.gz`), gzipSync(`${receiver.lines.join('\n')}\n`));
  console.log(`${one.name}: ${receiver.lines.length} exports`);
};

const words = process.argv.slice(2);
const chosen = recordings.filter(({ name }) => words.every((word) => name.includes(word)));
installClients([...new Set(chosen.map(({ client }) => client))]);
for (const one of chosen) await record(one);
