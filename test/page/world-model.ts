import { createReadStream, existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import type { AgentRow, CellRow, Entry, Explanation, Knowledge, Targets } from '@vigil/read-model';
import { agentsOf } from './world-agents.ts';
import { heartbeatsOf } from './world-heartbeats.ts';
import {
  alertsOf,
  breakersOf,
  casesOf,
  explanationOf,
  FLEET,
  inboxOf,
  policiesOf,
  tasksOf,
  ticketsOf,
} from './world-rows.ts';

/** The page, as the bundles have it. */
export const BUILT_PAGE = path.join(import.meta.dirname, '../../.cache/bundles/page');

const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const RESPONDER = ['decide_case', 'review_task', 'acknowledge', 'resolve_alert', 'answer_request'];
const OPERATOR = [
  ...RESPONDER,
  ...[
    'request_step',
    'hold',
    'release',
    'reset_breaker',
    'halt',
    'resume',
    'lift_brake',
    'dry_run',
    'silence',
    'test_channel',
  ],
];
const ROLES = { viewer: [], responder: RESPONDER, operator: OPERATOR } as const;
export type Role = keyof typeof ROLES;

const APPLIED: Outcome = { outcome: 'applied', reason: null, events: [] };

export type Command = { readonly kind: string; readonly [field: string]: unknown };
type Outcome = {
  readonly outcome: 'pending' | 'applied' | 'refused';
  readonly reason: string | null;
  readonly events: readonly Pick<Entry, 'type' | 'payload'>[];
};

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  let text = '';
  for await (const part of request) text += String(part);
  return JSON.parse(text);
};

const send = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/**
 * A dashboard in memory for tests of the page: the API's routes over real HTTP, with a fleet whose rows a test changes.
 * It applies commands itself, when the test lets it.
 */
export const openWorld = async (count: number, now: () => number = Date.now) => {
  const start = now();
  const agents = agentsOf(count, start);
  const cases = casesOf(agents, start);
  const tickets = ticketsOf(agents, start);
  const rows = {
    ...{ agents, cases, tickets, alerts: alertsOf(agents, tickets, start), breakers: breakersOf(agents, start) },
    ...{ tasks: tasksOf(agents, start), policies: policiesOf(start), fleet: { ...FLEET } },
  };
  const state = {
    role: 'operator' as Role,
    /** null: the knowledge is current */
    knowledge: null as Knowledge | null,
    /** requests are not answered */
    isSilent: false,
    explained: {} as Partial<Explanation>,
    /** what becomes of the next commands; `pending` until a test changes it */
    outcome: APPLIED,
  };
  const commands: Command[] = [];
  const asked: string[] = [];
  const streams = new Set<ServerResponse>();

  const change = (...pairs: readonly (readonly [table: string, id: string])[]): void => {
    for (const stream of streams) stream.write(`event: changes\ndata: ${JSON.stringify(pairs)}\n\n`);
  };

  const agent = (id: string): AgentRow | undefined => rows.agents.find(({ agentId }) => agentId === id);
  const changeAgent = (id: string, more: Partial<AgentRow>): void => {
    rows.agents = rows.agents.map((one) => (one.agentId === id ? { ...one, ...more } : one));
    change(['agents', id]);
  };

  const knowledge = (): Knowledge => state.knowledge ?? { upTo: now() - 400, blindSince: null, away: [] };

  const answers: Readonly<Record<string, () => unknown>> = {
    '/v1/me': () => ({ name: 'ada', role: state.role, commands: ROLES[state.role] }),
    '/v1/fleet': () => ({
      fleet: rows.fleet,
      runtimes: [],
      policies: rows.policies,
      knowledge: knowledge(),
    }),
    '/v1/fleet/cells': () => cellsAnswer(rows.agents),
    '/v1/fleet/targets': () => TARGETS,
    '/v1/inbox': () => ({ inbox: inboxOf(rows.agents, rows.cases, rows.tasks), knowledge: knowledge() }),
    '/v1/cases': () => ({ cases: rows.cases }),
    '/v1/tasks': () => ({ tasks: rows.tasks }),
    '/v1/breakers': () => ({ breakers: rows.breakers }),
    '/v1/alerts': () => ({ alerts: rows.alerts }),
    '/v1/tickets': () => ({ tickets: rows.tickets }),
    '/v1/policies': () => ({ policies: rows.policies, refusals: [] }),
    '/v1/dead-letters': () => ({ deadLetters: LETTERS(start) }),
    '/v1/story': () => ({ story: [] }),
  };

  const one = (kind: string, id: string, rest: string | undefined): unknown => {
    const found = agent(id);
    if (kind === 'agents' && rest === 'explain' && found !== undefined)
      return explanationOf(found, rows.cases, state.explained, now());
    if (kind === 'cases') return rows.cases.find(({ caseId }) => caseId === id);
    if (kind === 'tasks') {
      const task = rows.tasks.find(({ taskId }) => taskId === id);
      return task && { ...task, chain: [], recoveries: [] };
    }
    if (kind === 'policies') return rows.policies.find(({ name }) => name === id);
    return kind === 'commands' ? state.outcome : undefined;
  };

  /** The API waits for an outcome, too. */
  const settled = async (): Promise<void> => {
    while (state.outcome.outcome === 'pending') await new Promise((resolve) => setTimeout(resolve, 50));
  };

  const openStream = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('event: reset\ndata: {}\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  };

  const serveFile = (name: string, response: ServerResponse): void => {
    const file = path.join(BUILT_PAGE, path.normalize(`/${name}`));
    if (!existsSync(file)) {
      send(response, 404, { detail: `There is no ${name}.` });
      return;
    }
    response.writeHead(200, { ...PAGE_HEADERS, 'content-type': TYPES[path.extname(file)] ?? 'text/plain' });
    createReadStream(file).pipe(response);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (state.isSilent) return;
    if (!pathname.startsWith('/v1/')) return serveFile(pathname === '/' ? 'index.html' : pathname.slice(1), response);
    if (pathname === '/v1/changes') return openStream(response);
    if (pathname === '/v1/events') {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      for (const event of heartbeatsOf(now())) response.write(`${JSON.stringify(event)}\n`);
      return;
    }
    asked.push(pathname);
    if (request.method === 'POST') {
      commands.push((await bodyOf(request)) as Command);
      return send(response, 202, { eventId: `e-${commands.length}` });
    }
    const [, , kind = '', id = '', rest] = pathname.split('/');
    if (kind === 'commands') await settled();
    const found = answers[pathname]?.() ?? one(kind, decodeURIComponent(id), rest);
    return found === undefined
      ? send(response, 404, { detail: `There is no ${pathname}.` })
      : send(response, 200, found);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => send(response, 500, { detail: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    ...{ rows, state, commands, asked, streams, change, changeAgent },
    url: `http://127.0.0.1:${port}`,
    /** ends the streams of changes, as a restart does */
    dropStreams: () => {
      for (const stream of streams) stream.destroy();
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
export type World = Awaited<ReturnType<typeof openWorld>>;

const CELL_FIELDS = [
  ...[
    'agentId',
    'state',
    'exemption',
    'since',
    'taskId',
    'policyName',
    'host',
    'unhealthy',
    'waiting',
    'held',
    'labels',
  ],
] as const satisfies readonly (keyof CellRow)[];

const cellsAnswer = (agents: readonly AgentRow[]): object => ({
  fields: CELL_FIELDS,
  labels: agents.map(({ labels }) => labels),
  agents: agents.map((agent, index) => {
    const waiting = agent.caseWaiting || agent.waitingFor !== null;
    const cell = { ...agent, waiting, labels: index };
    return CELL_FIELDS.map((field) => cell[field]);
  }),
});

const TARGETS: Targets = {
  since: 0,
  detection: { count: 41, p50Ms: 4200, p95Ms: 12_400, maxMs: 31_000 },
  intervention: { count: 28, p50Ms: 48_000, p95Ms: 151_000, maxMs: 402_000 },
  recovery: { part: 17, all: 18, rate: 17 / 18 },
  falsePositives: { part: 0, all: 37, rate: 0 },
};

const LETTERS = (now: number) =>
  [
    [
      'heartbeat-ingest',
      'onex.cmd.heartbeat-ingest.heartbeat.v1',
      'context_used is 1.7: 0 to 1 is expected',
      'Unfit',
      '{"agent_id":"search-perf-31","context_used":1.7,"phase":"implement"}',
    ],
    [
      'projector',
      'onex.evt.intervention.case.v1',
      'schema 412 is not registered',
      'UnknownSchemaId',
      '\\000\\000\\000\\001\\234\\022case-77',
    ],
  ].map(([service, originalTopic, reason, errorType, preview], index) => ({
    ...{
      eventId: `dl-${index}`,
      service,
      originalTopic,
      originalPartition: index,
      originalOffset: 41_233 + index * 907,
    },
    ...{ originalKey: 'search-perf-31', preview, truncated: false, reason, errorType, leftOut: 0 },
    failedAt: now - (index + 1) * 840_000,
  }));
