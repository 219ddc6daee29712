import { catalogue, Topic, type TopicName } from '@vigil/events';
import { example } from '@vigil/events/examples';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recorded } from '../otlp/exports.fixture.ts';
import { least, showingClaims, signer, testGateway } from '../testing.ts';
import { ROUTES, type Route } from './routes.ts';

/** In every name that belongs to another. */
const THEIRS = 'theirs';
/** In everything that others have and only they may read. */
const THEIR_WORDS = 'words-for-another';

const { log, get, post } = testGateway();

const CLAIMS = {
  tasks: ['own-*'],
  labels: { team: ['own-*'], host: ['own-*'], core: ['own-*'] },
  policies: ['own-policy'],
  capacity: 100,
};
const principals = {
  agent: await showingClaims('agent', 'own-agent', CLAIMS),
  runtime: await showingClaims('runtime', 'own-runtime', CLAIMS),
};
type Kind = keyof typeof principals;
const KINDS = Object.keys(principals) as Kind[];

/** Every topic that the gateway may write, and every type of record there. */
const WRITTEN = (Object.keys(catalogue) as TopicName[]).filter((topic) => catalogue[topic].writers.includes('gateway'));
const TYPES = WRITTEN.flatMap((topic) => catalogue[topic].events.map(({ type }) => [topic, type] as const));

/**
 * What a principal reports of its own agent, order or checkpoint: words, hashes, and names that only that agent gives. Every other text names
 * something, so a new field of a schema fails this test until the gateway refuses it or it is listed here.
 */
const checkpointTexts = (id: string, parent: string, rest: readonly string[]) => [id, parent, 'uri', 'sha256', ...rest];
const CHECKPOINT = checkpointTexts('checkpointId', 'parentId', ['invalidReason', 'completedWork', 'remainingWork']);
const HEARTBEAT_CHECKPOINT = checkpointTexts('checkpoint_id', 'parent_id', [
  ...['invalid_reason', 'completed_work', 'remaining_work'],
]);
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  HEARTBEAT: [
    ...['phase', 'progress_indicator', 'instance_id', 'waiting_for.text', 'client.name', 'client.session_id'],
    ...['call_id', 'tool', 'args_hash', 'result_hash', 'masked_result_hash', 'error_class', 'target'].map(
      (field) => `tool_calls.${field}`,
    ),
    ...HEARTBEAT_CHECKPOINT.map((field) => `checkpoint.${field}`),
    ...['breakers.name', 'usage.model', 'work.id', 'work.status', 'limits.name', 'handoff', 'blockers', 'probe_reply'],
    ...['output.matched_patterns.kind', 'output.matched_patterns.source', 'output.repeated_error.hash', 'output.tail'],
    ...['output.shown_errors.kind', 'output.shown_errors.message'],
    ...['errors.error_class', 'errors.hash', 'errors.message', 'exit.signal'],
  ],
  AGENT_EXITED: [
    ...['instanceId', 'signal', 'details', 'lastOutput', 'forensics'],
    ...CHECKPOINT.map((field) => `checkpoint.${field}`),
  ],
  ORDER_RECEIPT: [
    ...['why', 'signal', 'claimsReleased', 'completedWork', 'remainingWork', 'forensics', 'lastOutput'],
    ...CHECKPOINT.map((field) => `checkpoint.${field}`),
  ],
  TERMINAL_USED: ['instanceId', 'by'],
  TERMINAL_CHANGED: ['instanceId', 'lines'],
  TERMINAL_CLOSED: ['instanceId', 'why'],
  SPAWN_RECEIPT: ['why', 'instanceId', 'checkpointId', 'skipped.checkpointId', 'skipped.why'],
};
const isText = (type: string, name: string): boolean => TEXTS[type]?.includes(name) ?? false;

type Values = Readonly<Record<string, unknown>>;

/** The places of all texts in a value. */
const placesOf = (value: unknown, at: readonly string[] = []): readonly (readonly string[])[] => {
  if (typeof value === 'string') return [at];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => placesOf(one, [...at, key]));
};

/** The value with a text in the place of another. */
const withText = (value: unknown, [key, ...rest]: readonly string[], text: string): unknown => {
  if (key === undefined) return text;
  const copy = Array.isArray(value) ? [...value] : { ...(value as Values) };
  (copy as Record<string, unknown>)[key] = withText((value as Values)[key], rest, text);
  return copy;
};

const nameOf = (place: readonly string[]): string => place.filter((part) => !/^\d+$/.test(part)).join('.');

const filled = (topic: TopicName, type: string): Values =>
  (example(topic, type as never) as { readonly payload: Values }).payload;

/** The names that a principal may give, by field. */
const OWN: Values = {
  ...{ agent_id: 'own-agent', agentId: 'own-agent', agents: ['own-agent'], parent_agent_id: null },
  ...{ task_id: 'own-task', taskId: 'own-task', templates: [{ task: 'own-task', labels: { team: 'own-team' } }] },
  ...{ runtimeId: 'own-runtime', runtime_id: null, host: 'own-host', labels: { team: 'own-team' } },
  ...{ policy: 'own-policy', orderId: 'own-order', requestId: 'own-request' },
};

/** What a receipt of an agent leaves out, because only a runtime reports it. */
const NO_END: Values = {
  ...{ confirmed: false, forced: false, by: null, code: null, signal: null, claimsReleased: [], checkpoint: null },
  ...{ completedWork: [], remainingWork: [], forensics: null, lastOutput: [] },
};

/** The records that a principal may write, as it may write them. It may write no other type. */
const PERMITTED: Readonly<Record<Kind, Readonly<Record<string, Values>>>> = {
  agent: { HEARTBEAT: least, ORDER_RECEIPT: NO_END },
  runtime: {
    HEARTBEAT: { ...least, runtime_id: 'own-runtime' },
    ORDER_RECEIPT: {},
    SPAWN_RECEIPT: { orderId: 'own-spawn' },
    AGENT_EXITED: { orderId: null },
    TERMINAL_USED: {},
    RUNTIME_ANNOUNCED: {},
    TERMINAL_CHANGED: {},
    TERMINAL_CLOSED: {},
  },
};

const ownRecord = (kind: Kind, topic: TopicName, type: string): Values => {
  const record = filled(topic, type);
  const own = Object.entries(OWN).filter(([field]) => Object.hasOwn(record, field));
  const changed = { ...record, ...Object.fromEntries(own), ...PERMITTED[kind][type] };
  return type === 'HEARTBEAT' ? { ...changed, agent_id: 'own-agent', task_id: 'own-task' } : changed;
};

/** A field of another's, in a record that is one's own otherwise. */
const withTheirs = (record: Values, whole: Values, place: readonly string[]): Values => {
  const [field = ''] = place;
  return { ...record, [field]: (withText(whole, place, THEIRS) as Values)[field] };
};

const givenOrders = async (): Promise<void> => {
  const words = { message: THEIR_WORDS, ttlMs: 60_000 };
  const own = { agentId: 'own-agent', runtimeId: 'own-runtime', taskId: 'own-task' };
  const others = { agentId: THEIRS, instanceId: 'i-1', runtimeId: THEIRS, taskId: THEIRS };
  await log().publish(
    example(Topic.fleetPresence, 'AGENT_PRESENT', others),
    example(Topic.agentOrder, 'NUDGE_AGENT', { ...others, ...words, orderId: THEIRS }),
    example(Topic.agentOrder, 'NUDGE_AGENT', { ...own, ttlMs: 60_000, orderId: 'own-order' }),
    example(Topic.agentOrder, 'SPAWN_AGENT', { ...own, orderId: 'own-spawn', requestId: 'own-request' }),
  );
};

/** Its agent runs with it, and a person looks at the terminals of all. */
const givenLeases = async (): Promise<void> => {
  const own = { agentId: 'own-agent', instanceId: 'own-i', runtimeId: 'own-runtime' };
  await log().publish(
    example(Topic.fleetPresence, 'AGENT_PRESENT', own),
    ...['own-agent', THEIRS].map((agentId) =>
      example(Topic.leaseTerminal, 'LEASE_TERMINAL', { agentId, leaseId: `lease-${agentId}`, ttlMs: 60_000 }),
    ),
  );
};

const send = async (type: string, record: Values, headers: Record<string, string>) => {
  if (type === 'HEARTBEAT') return post('/v1/heartbeats', record, headers);
  if (type !== 'TERMINAL_CHANGED' && type !== 'TERMINAL_CLOSED')
    return post('/v1/receipts', { type, payload: record }, headers);
  await givenLeases();
  return post('/v1/terminals', { type, payload: record }, headers);
};

/** The places where a name of others is in what was written. */
const namedThere = (): readonly string[] =>
  WRITTEN.flatMap((topic) =>
    log()
      .events(topic)
      .flatMap(({ type, key, payload }) => [
        ...(key === THEIRS ? [`${type} key`] : []),
        ...placesOf(payload).flatMap((place) => {
          const text = place.reduce((value: unknown, part) => (value as Values)[part], payload);
          const isNamed = text === THEIRS || place.includes(THEIRS);
          return isNamed && !isText(type, nameOf(place)) ? [`${type} ${nameOf(place)}`] : [];
        }),
      ]),
  );
const written = (): number => WRITTEN.reduce((sum, topic) => sum + log().events(topic).length, 0);

const withAllTheirs = (record: Values, whole: Values, places: readonly (readonly string[])[]): Values => {
  let changed = record;
  // A field that the record leaves out has a text only in the example.
  for (const place of places) changed = withTheirs(changed, Object.assign({}, whole, changed), place);
  return changed;
};

/** Its own record with names of others in some fields, and with labels of others. */
const foreignRecords = (kind: Kind, topic: TopicName, type: string): readonly Values[] => {
  const record = ownRecord(kind, topic, type);
  const whole = filled(topic, type);
  const labels = { [THEIRS]: 'own-team' };
  return [
    ...placesOf(whole).map((place) => withTheirs(record, whole, place)),
    ...('labels' in record ? [{ ...record, labels }] : []),
    ...('templates' in record ? [{ ...record, templates: [{ task: 'own-task', labels }] }] : []),
  ];
};

describe.each(KINDS)('the token of one %s', (kind) => {
  const headers = principals[kind];

  test.each(TYPES)(
    'writes no %s %s that names anything of another, whichever field has the name',
    async (topic, type) => {
      await givenOrders();
      const isPermitted = Object.hasOwn(PERMITTED[kind], type);
      const { status } = await send(type, ownRecord(kind, topic, type), headers);
      expect(status < 300, `its own ${type} is answered ${status}`).toBe(isPermitted);
      if (!isPermitted) expect(written()).toBe(0);
      for (const record of foreignRecords(kind, topic, type)) await send(type, record, headers);
      expect(namedThere()).toEqual([]);
    },
  );

  test.each(TYPES.filter(([, type]) => Object.hasOwn(PERMITTED[kind], type)))(
    'writes no %s %s that names anything of another in several fields',
    async (topic, type) => {
      await givenOrders();
      const record = ownRecord(kind, topic, type);
      const whole = filled(topic, type);
      const places = placesOf(whole).filter((place) => !isText(type, nameOf(place)));
      await fc.assert(
        fc.asyncProperty(fc.subarray([...places], { minLength: 2 }), async (foreign) => {
          const changed = withAllTheirs(record, whole, foreign);
          expect((await send(type, changed, headers)).status).toBeLessThan(500);
          expect(namedThere()).toEqual([]);
        }),
        { numRuns: 40 },
      );
    },
  );
});

type Names = Readonly<Record<'agent' | 'runtime' | 'task' | 'policy', string>>;
const OWN_NAMES: Names = { agent: 'own-agent', runtime: 'own-runtime', task: 'own-task', policy: 'vigil' };
const THEIR_NAMES: Names = { agent: THEIRS, runtime: THEIRS, task: THEIRS, policy: THEIRS };

type Request = { readonly path: string; readonly body?: object; readonly headers?: Record<string, string> };

const telemetry = (recording: string, { agent, task }: Names): object =>
  JSON.parse(
    JSON.stringify(recorded(recording)[0]?.json)
      .replaceAll('worker-1', agent)
      .replaceAll(/\bOMN-1\b/g, task),
  ) as object;

const receipt = ({ agent, runtime, task }: Names): Request => ({
  path: '/v1/receipts',
  body: {
    type: 'AGENT_EXITED',
    payload: {
      ...filled(Topic.controlAgent, 'AGENT_EXITED'),
      ...{ agentId: agent, taskId: task, runtimeId: runtime, orderId: null, labels: {}, policy: null },
    },
  },
});

const asked = ({ agent, task }: Names): object => ({
  ...{ requestId: 'r-1', agentId: agent, instanceId: 'i-1', taskId: task, client: 'codex', kind: 'permission' },
  ...{ text: 'Bash: ls', choices: [{ name: 'allow', label: 'Allow' }], waitMs: 60_000 },
});

/** A request to each route about one agent, task and runtime. A new route does not compile without one. */
const REQUESTS: Readonly<Record<Route, (names: Names, kind: Kind) => Request>> = {
  'POST /v1/heartbeats': ({ agent, task, runtime }, kind) => ({
    path: '/v1/heartbeats',
    body: { ...least, agent_id: agent, task_id: task, runtime_id: kind === 'runtime' ? runtime : null },
  }),
  'POST /v1/receipts': receipt,
  'GET /v1/runtimes/:runtimeId/orders': ({ runtime }) => ({ path: `/v1/runtimes/${runtime}/orders?wait=0` }),
  'GET /v1/agents/:agentId/orders': ({ agent }) => ({ path: `/v1/agents/${agent}/orders` }),
  'GET /v1/policies/:name': ({ policy }) => ({ path: `/v1/policies/${policy}` }),
  'POST /v1/hooks/:client': ({ agent, task }) => ({
    path: '/v1/hooks/claude-code',
    body: { hook_event_name: 'SessionStart', session_id: 's-1', source: 'startup' },
    headers: { 'vigil-agent': agent, 'vigil-task': task },
  }),
  'POST /v1/requests': (names) => ({ path: '/v1/requests?wait=0', body: asked(names) }),
  'POST /v1/requests/withdraw': ({ agent }) => ({
    path: '/v1/requests/withdraw',
    body: { requestId: 'r-1', agentId: agent, instanceId: 'i-1', why: 'x' },
  }),
  'POST /otlp/v1/logs': (names) => ({ path: '/otlp/v1/logs', body: telemetry('claude-code.works', names) }),
  'POST /otlp/v1/metrics': (names) => ({ path: '/otlp/v1/metrics', body: telemetry('claude-code.metrics', names) }),
  'POST /otlp/v1/traces': (names) => ({ path: '/otlp/v1/traces', body: telemetry('claude-code.traces', names) }),
  'POST /v1/terminals': ({ agent, runtime }) => ({
    path: '/v1/terminals',
    body: {
      type: 'TERMINAL_CLOSED',
      payload: { agentId: agent, instanceId: null, runtimeId: runtime, why: 'it has ended' },
    },
  }),
  'POST /v1/token': ({ agent, task }) => ({ path: '/v1/token', body: { kind: 'agent', name: agent, tasks: [task] } }),
  'POST /v1/tokens': ({ agent }) => ({ path: '/v1/tokens', body: { kind: 'agent', name: agent, by: agent } }),
  'GET /v1/tokens': () => ({ path: '/v1/tokens' }),
  'POST /v1/tokens/:tokenId/revoke': ({ agent }) => ({
    path: `/v1/tokens/agent-${agent}/revoke`,
    body: { by: agent, why: 'x' },
  }),
};

const request = async (route: Route, names: Names, kind: Kind) => {
  if (route === 'POST /v1/terminals') await givenLeases();
  const { path, body, headers } = REQUESTS[route](names, kind);
  const all = { ...principals[kind], ...headers };
  return route.startsWith('GET') ? get(path, all) : post(path, body, all);
};

describe.each(Object.keys(ROUTES) as Route[])('%s', (route) => {
  test.each(KINDS)("writes and reveals nothing of another's for the token of one %s", async (kind) => {
    await givenOrders();
    const answer = await request(route, THEIR_NAMES, kind);
    expect(answer.status).toBeLessThan(500);
    expect(await answer.text()).not.toContain(THEIR_WORDS);
    expect(namedThere()).toEqual([]);
    if (ROUTES[route] === 'operator') expect(answer.status).toBe(403);
  });

  test.runIf(ROUTES[route] === 'principal')('is open to one of them for its own', async () => {
    await givenOrders();
    const statuses = await Promise.all(KINDS.map(async (kind) => (await request(route, OWN_NAMES, kind)).status));
    expect(Math.min(...statuses)).toBeLessThan(300);
  });
});

test('a renewed token has the name and claims of the one that was shown, not those of the request', async () => {
  const answer = await request('POST /v1/token', THEIR_NAMES, 'agent');
  const { token } = (await answer.json()) as { readonly token: string };
  expect(await signer.verify(token, Date.now())).toMatchObject({ kind: 'agent', name: 'own-agent', ...CLAIMS });
});
