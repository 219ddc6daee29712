import { gzipSync } from 'node:zlib';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import fc, { type Arbitrary } from 'fast-check';
import { ROLE_OF_ROUTE } from '../../services/dashboard/src/access/roles.ts';
import { ROUTES } from '../../services/gateway/src/http/routes.ts';
import { recorded } from '../../services/gateway/src/otlp/exports.fixture.ts';
import { least } from '../../services/gateway/src/testing.ts';
import type { Started } from './servers.ts';

/** A request as bytes. `isWhole`: its length is as its header states, so it must be answered. */
export type Sent = { readonly to: 'gateway' | 'dashboard'; readonly bytes: Buffer; readonly isWhole: boolean };

const NASTY = [
  ...[
    '',
    ' ',
    '%',
    '%zz',
    '%00',
    '%2e%2e%2f',
    '../..',
    '\u0000',
    '\ud800',
    '\u202e',
    '\ufeff',
    '<script>',
    "' OR 1=1 --",
  ],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '1e999',
    '-1',
    'NaN',
    '9'.repeat(400),
    'a'.repeat(3000),
    '[]',
    '{}',
    'null',
  ],
];
const KNOWN = ['worker-1', 'host-1', 'T-1', 'case-1', 'vigil', 'claude-code', 'alert-1', 'OMN-1234'];
export const word: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...KNOWN) },
  { weight: 2, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
);

const deep = (depth: number): unknown => Array.from({ length: depth }).reduce((inner) => [inner], 0);
const value: Arbitrary<unknown> = fc.oneof(
  word,
  fc.jsonValue({ depthSize: 'small' }),
  fc.constantFrom<unknown>(null, true, -0, 1e308, -1, 2 ** 53, 1.5, [], {}, [null], { a: { b: [] } }, deep(150)),
);

const by = { by: 'ada', why: 'because' };
const nudge = { type: 'ORDER_RECEIPT', payload: example(Topic.orderReceipt, 'ORDER_RECEIPT').payload };
const exported = (name: string): unknown => recorded(name)[0]?.json;
const heartbeat = { ...example(Topic.heartbeat, 'HEARTBEAT', { verified: null }).payload, ...least };

/** Bodies that each route accepts, or nearly. */
const BODIES: Readonly<Record<string, readonly unknown[]>> = {
  'POST /v1/heartbeats': [least, heartbeat, [least, heartbeat]],
  'POST /v1/receipts': [
    ...[nudge, [nudge]],
    { type: 'SPAWN_RECEIPT', payload: example(Topic.spawnReceipt, 'SPAWN_RECEIPT').payload },
    { type: 'AGENT_EXITED', payload: example(Topic.controlAgent, 'AGENT_EXITED', { orderId: null }).payload },
    { type: 'RUNTIME_ANNOUNCED', payload: example(Topic.runtimePresence, 'RUNTIME_ANNOUNCED').payload },
  ],
  'POST /v1/hooks/:client': [
    { hook_event_name: 'SessionStart', session_id: 's-1', source: 'startup' },
    { hook_event_name: 'PreToolUse', session_id: 's-1', tool_name: 'Bash', tool_input: { command: 'ls' } },
  ],
  'POST /v1/tokens': [
    { kind: 'agent', name: 'worker-2', tasks: ['*'], labels: { team: ['core'] }, policies: [], capacity: 1, by: 'ada' },
  ],
  'POST /v1/tokens/:tokenId/revoke': [by],
  'POST /otlp/v1/logs': ['claude-code.works', 'codex.works', 'gemini-cli.works'].map(exported),
  'POST /otlp/v1/metrics': [exported('claude-code.metrics')],
  'POST /otlp/v1/traces': [exported('claude-code.traces')],
  'POST /v1/commands': [
    { kind: 'decide_case', caseId: 'case-1', decision: 'pardon', ...by },
    { kind: 'request_step', agentId: 'worker-1', step: 'terminate_and_recover', ...by },
    { kind: 'review_task', taskId: 'T-1', decision: 'retry', ...by },
    { kind: 'silence', matchers: [{ field: 'route', value: 'stuck_agent' }], forMs: 1000, ...by },
    { kind: 'host_gone', host: 'h1', ...by },
    { kind: 'apply_policy', name: 'vigil', document: { policy: 'vigil', signals: {} }, ...by },
    { kind: 'halt', ...by },
  ],
  'POST /v1/replays': [
    { kind: 'verify', since: 0, until: '2026-11-27T14:00Z', agent: 'worker-1' },
    { kind: 'what_if', document: { policy: 'vigil', signals: {}, states: {} }, insteadOf: 'vigil' },
  ],
  'POST /v1/decision': [{ decision: 'pardon', why: 'it works' }],
};
const ANY = Object.values(BODIES).flat();

type Json = Record<string, unknown>;
const isObject = (one: unknown): one is Json => typeof one === 'object' && one !== null;

/** The places of a body, except those far below, which take most of the time. */
const placesIn = (body: unknown, depth = 10): readonly (readonly string[])[] =>
  isObject(body) && depth > 0
    ? Object.entries(body).flatMap(([key, one]) => [[key], ...placesIn(one, depth - 1).map((rest) => [key, ...rest])])
    : [];

/** A change at the n-th place of a body: another value there, none, or a further field beside it. */
type Change = {
  readonly at: number;
  readonly how: 'replace' | 'remove' | 'add';
  readonly name: string;
  readonly value: unknown;
};

export const change = (body: unknown, { at, how, name, value }: Change): unknown => {
  const copy: unknown = structuredClone(body);
  const places = placesIn(copy);
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return value;
  const parent = place.slice(0, -1).reduce((one, key) => one[key] as Json, copy as Json);
  const key = place.at(-1) ?? '';
  if (how === 'remove') delete parent[key];
  else
    Object.defineProperty(parent, how === 'add' ? name : key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return copy;
};

export const changes = fc.array(
  fc.record({
    at: fc.nat(400),
    how: fc.constantFrom('replace', 'remove', 'add'),
    name: word,
    value,
  }) as Arbitrary<Change>,
  { maxLength: 4 },
);
export const jsonFor = (route: string): Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...(BODIES[route] ?? ANY)), fc.oneof(fc.constant([]), changes))
    .map(([body, all]) => JSON.stringify(all.reduce(change, body)) ?? '');
const json = jsonFor('any');

const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');
const otherBody: Arbitrary<Buffer> = fc.oneof(
  { weight: 3, arbitrary: json.map(utf8) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        ...['', ' ', 'null', '"', '[', '{"a":', '1e999', '\ufeff{}', 'why=x&decision=pardon', '{"__proto__":{"x":1}}'],
        ...['['.repeat(100_000), `"${'\\ud800'.repeat(100)}"`, `[${'{},'.repeat(5000)}{}]`, 'x'.repeat(600_000)],
      )
      .map(utf8),
  },
  { weight: 1, arbitrary: json.map((text) => gzipSync(text)) },
  { weight: 1, arbitrary: fc.constant(gzipSync(Buffer.alloc(20_000_000))) },
);

const bodyFor = (route: string): Arbitrary<Buffer> =>
  fc.oneof({ weight: 3, arbitrary: jsonFor(route).map(utf8) }, otherBody);

const QUERIES = [
  ...['wait', 'instance', 'policy', 'label', 'filter', 'state', 'task', 'open', 'agent', 'limit', 'service', 'review'],
  ...['topic', 'heartbeats', 'link', 'unknown'],
];
const pairs = fc.array(fc.tuple(fc.constantFrom(...QUERIES), word), { maxLength: 3 });

/** Mostly percent-encoded, and sometimes only so far that the request line stays one. */
const inPath = fc.tuple(word, fc.boolean()).map(([text, isEncoded]) => {
  if (isEncoded) return encodeURIComponent(text.toWellFormed());
  return text.replaceAll(/[\s?#\p{Cc}]/gu, '_');
});

const TYPES = [
  ...[
    'application/json',
    'application/x-protobuf',
    'application/x-www-form-urlencoded',
    'text/plain',
    '',
    'application/',
  ],
  'application/json; charset=utf-16',
];
/** `share`: of the requests that have it */
const optionally = <T>(arbitrary: Arbitrary<T>, share: number): Arbitrary<T | null> =>
  fc.oneof({ weight: share, arbitrary }, { weight: 100 - share, arbitrary: fc.constant(null) });
const headersOf = (tokens: readonly string[]) =>
  fc.record({
    authorization: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...tokens).map((token) => `Bearer ${token}`) },
      { weight: 1, arbitrary: word },
      { weight: 1, arbitrary: word.map((text) => `Bearer ${text}`) },
    ),
    'content-type': fc.oneof({ weight: 8, arbitrary: fc.constant('application/json') }, fc.constantFrom(...TYPES)),
    'content-encoding': optionally(fc.constantFrom('gzip', 'identity', 'br', 'deflate', ''), 15),
    accept: optionally(fc.constantFrom('text/html', '*/*', 'application/json'), 50),
    'if-none-match': optionally(word, 10),
    'vigil-agent': optionally(word, 50),
    'vigil-task': optionally(word, 30),
    'x-forwarded-for': optionally(word, 10),
    expect: optionally(fc.constantFrom('100-continue', 'x'), 2),
  });

const host = fc.oneof(
  { weight: 9, arbitrary: fc.constant('127.0.0.1') },
  fc.constantFrom('vigil.example', 'attacker.example', '', '[::1', 'a b', '127.0.0.1:99999'),
);

/** Any characters of a header, as bytes, but no end of its line. */
const inHeader = (text: string): string => text.replaceAll(/\p{Cc}/gu, '');

type Edit = readonly [at: number, how: 'set' | 'insert' | 'cut', byte: number];
export const edited = (bytes: Buffer, edits: readonly Edit[]): Buffer => {
  let all = bytes;
  for (const [at, how, byte] of edits) {
    const place = at % (all.length + 1);
    const rest = all.subarray(how === 'insert' ? place : place + 1);
    all = Buffer.concat([all.subarray(0, place), how === 'cut' ? Buffer.alloc(0) : Buffer.from([byte]), rest]);
  }
  return all;
};
export const edits: Arbitrary<readonly Edit[]> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<readonly Edit[]>([]) },
  fc.array(fc.tuple(fc.nat(2000), fc.constantFrom('set', 'insert', 'cut'), fc.nat(255)), {
    minLength: 1,
    maxLength: 6,
  }),
);

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const;
const otherRoute = fc.tuple(fc.constantFrom(...METHODS), inPath).map(([method, text]) => `${method} /${text}`);

type Target = {
  readonly to: Sent['to'];
  readonly routes: readonly string[];
  readonly tokens: readonly string[];
  readonly link: string;
};

/** A query of a request. A long poll would wait as it should, so it has none to wait for. */
const queryOf = (pattern: string, query: readonly (readonly [string, string])[], link: string | null): string => {
  const linked = link !== null && pattern.endsWith('/decision') ? [['link', link] as const] : [];
  const isPoll = pattern.includes('/runtimes/') && !query.some(([name]) => name === 'wait');
  const all = [...linked, ...query, ...(isPoll ? [['wait', '0'] as const] : [])];
  const textOf = (name: string, text: string) => (name === 'wait' && Number(text) > 0 ? '0' : text.toWellFormed());
  return all.map(([name, text]) => `${name}=${encodeURIComponent(textOf(name, text))}`).join('&');
};

const requestTo = ({ to, routes, tokens, link }: Target): Arbitrary<Sent> => {
  const route = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...routes) }, otherRoute);
  const parts = (chosen: string) =>
    fc.record({
      ...{ route: fc.constant(chosen), name: inPath, query: pairs, isLinked: fc.boolean() },
      ...{ headers: headersOf(tokens), host, body: bodyFor(chosen), edits },
    });
  return route.chain(parts).map(({ route, name, query, isLinked, headers, host, body, edits }) => {
    const [method = '', pattern = ''] = route.split(' ');
    const path = pattern.replaceAll(/:\w+/g, () => name);
    const search = queryOf(pattern, query, isLinked ? link : null);
    const sent = method === 'GET' ? Buffer.alloc(0) : body;
    const lines = [
      `${method} ${path}${search === '' ? '' : `?${search}`} HTTP/1.1`,
      `host: ${host}`,
      'connection: close',
      ...Object.entries(headers).flatMap(([name, text]) => (text === null ? [] : [`${name}: ${inHeader(text)}`])),
      ...(method === 'GET' ? [] : [`content-length: ${sent.length}`]),
    ];
    const whole = Buffer.concat([utf8(`${lines.join('\r\n')}\r\n\r\n`), sent]);
    return { to, bytes: edited(whole, edits), isWhole: edits.length === 0 };
  });
};

/** Requests to both servers, to each of their routes and to others. The same seed gives the same. */
export const requests = (started: Started, count: number, seed: number): readonly Sent[] => {
  const { gatewayTokens, dashboardToken, link } = started;
  const gateway = { to: 'gateway', routes: Object.keys(ROUTES), tokens: gatewayTokens, link } as const;
  const dashboard = { to: 'dashboard', routes: Object.keys(ROLE_OF_ROUTE), tokens: [dashboardToken], link } as const;
  return fc.sample(fc.oneof(requestTo(gateway), requestTo(dashboard)), { numRuns: count, seed });
};
