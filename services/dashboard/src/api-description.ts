import { z } from 'zod';
import type { Route } from './access/roles.ts';
import { commandShape } from './commands/command.ts';
import { replayShape } from './replays/request.ts';
import * as queries from './routes/queries.ts';

/** JSON Schema. */
type Schema = { readonly [key: string]: unknown };

/** `schema`: null for an answer without a body. */
type Answer = { readonly text: string; readonly type: string; readonly schema: Schema | null };

type Description = {
  readonly summary: string;
  /** the fields of its query; null: it has none */
  readonly query: z.ZodType | null;
  readonly body: Schema | null;
  /** by status, those of a request that is answered */
  readonly answers: Readonly<Record<number, Answer>>;
};

/** Types of packages/read-model in answers. */
export const PUBLISHED = [
  'AgentRow',
  'CaseRow',
  'CaseStory',
  'TaskRow',
  'CheckpointRow',
  'RecoveryRow',
  'AlertRow',
  'SilenceRow',
  'BreakerRow',
  'TicketRow',
  'RequestRow',
  'FleetRow',
  'RuntimeRow',
  'DeadLetterRow',
  'PolicyRow',
  'PolicyRefusalRow',
  'TransitionRow',
  'HistoryRow',
  'OrderRow',
  'Entry',
  'InboxItem',
  'Knowledge',
  'Explanation',
  'RecoveryOptions',
  'Doctor',
  'Outcome',
  'Targets',
  'ReplayRow',
  'Replay',
  'ReplayResult',
  'VerifyResult',
  'WhatIfResult',
  'FiguresResult',
] as const;
type Published = (typeof PUBLISHED)[number];

const ref = (name: Published): Schema => ({ $ref: `#/components/schemas/${name}` });
const listOf = (name: Published): Schema => ({ type: 'array', items: ref(name) });
const TEXT: Schema = { type: 'string' };
const TEXTS = { type: 'array', items: TEXT };
const COUNT: Schema = { type: 'number' };
const object = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
/** A written command. */
const WRITTEN = object({ eventId: TEXT, topic: TEXT, type: TEXT, key: TEXT, alsoFor: TEXTS, eventIds: TEXTS });

const json = (schema: Schema, text = 'the answer'): Answer => ({ text, type: 'application/json', schema });
const get = (summary: string, schema: Schema, query: z.ZodType | null = null): Description => ({
  summary,
  query,
  body: null,
  answers: { 200: json(schema) },
});
const page = (type: string, text: string): Answer => ({ text, type, schema: TEXT });
const html = (text: string): Answer => page('text/html', text);

const NEXT: Schema = {
  type: ['string', 'null'],
  description: 'the cursor of the next page; null: this is the last one',
};
const TOTAL: Schema = { type: 'number', description: 'how many items all pages have' };
const listing = (summary: string, field: string, name: Published, query: z.ZodType): Description =>
  get(summary, object({ [field]: listOf(name), next: NEXT, knowledge: ref('Knowledge') }), query);
/** An answer that shows states has how old they are: the server adds it to each answer that is described so. */
const aged = (...parts: readonly Schema[]): Schema => ({
  allOf: [...parts, object({ knowledge: ref('Knowledge') })],
});

const isAged = (schema: Schema | null): boolean => {
  const { properties = {}, allOf = [] } = (schema ?? {}) as { properties?: object; allOf?: readonly Schema[] };
  return Object.hasOwn(properties, 'knowledge') || allOf.some(isAged);
};

const KIND = (kind: string): Schema => ({ const: kind });
const LINES = { lines: { type: 'array', items: TEXT }, instanceId: TEXT, at: COUNT, unseen: COUNT };
const OUTPUT_AT: Schema = { type: ['number', 'null'], description: 'by the clock of the agent’s host' };
const TERMINAL: Schema = {
  oneOf: [
    object({
      kind: KIND('status'),
      status: { enum: ['waiting', 'live', 'away', 'closed'] },
      since: COUNT,
      runtimeId: TEXT,
    }),
    object({ kind: KIND('whole'), ...LINES, outputAt: OUTPUT_AT }),
    object({ kind: KIND('change'), removed: COUNT, kept: COUNT, ...LINES, outputAt: OUTPUT_AT }),
    object({ kind: KIND('closed'), why: TEXT, at: COUNT }),
  ],
};

const NOT_ACKNOWLEDGED: Answer = {
  text: 'Kafka has not acknowledged the command in time. It may still be applied: /v1/commands/{id} with the `eventId` of this problem shows it. The same command with this `eventId` takes effect once',
  type: 'application/problem+json',
  schema: { allOf: [{ $ref: '#/components/schemas/Problem' }, object({ eventId: TEXT })] },
};

const DECISION = z.object({ link: z.string().meta({ description: 'the signed link of an alert' }) });

/** Every route, for docs/openapi.json. A route without a description does not compile. */
export const DESCRIPTIONS: Readonly<Record<Route, Description>> = {
  'GET /': { summary: 'The page for people', query: null, body: null, answers: { 200: html('the page') } },
  'GET /assets/*': {
    summary: 'What the page loads',
    query: null,
    body: null,
    answers: { 200: page('application/octet-stream', 'a file') },
  },
  'GET /login': {
    summary: 'Begins the session of a browser with a login link',
    query: z.object({ code: z.string() }),
    body: null,
    answers: { 303: { text: 'to the page, with the cookie of the session', type: 'text/html', schema: null } },
  },
  'POST /v1/login-links': {
    summary: 'Creates a login link, which works once within five minutes',
    query: null,
    body: null,
    answers: { 201: json(object({ path: TEXT, expiresAt: COUNT }), 'the link') },
  },
  'POST /v1/logout': {
    summary: 'Ends the session of the cookie',
    query: null,
    body: null,
    answers: { 204: { text: 'it has ended', type: 'application/json', schema: null } },
  },
  'GET /v1/me': get(
    'The caller, and the commands that the role permits',
    object({ name: TEXT, role: TEXT, commands: { type: 'array', items: TEXT } }),
  ),
  'GET /v1/openapi.json': get('This description', { type: 'object' }),
  'GET /v1/agents': listing('Agents by name', 'agents', 'AgentRow', queries.agents),
  'GET /v1/agents/:id': get(
    'One agent, with what can be done next',
    aged(ref('AgentRow'), object({ options: { anyOf: [ref('RecoveryOptions'), { type: 'null' }] } })),
  ),
  'GET /v1/agents/:id/explain': get('All reasons for the state of an agent', aged(ref('Explanation'))),
  'GET /v1/agents/:id/terminal': {
    summary:
      'The terminal of an agent while this stream is open: the last 200 lines, then what changes, without secrets. A line of JSON each or, with Accept: text/event-stream, a server-sent event',
    query: queries.terminal,
    body: null,
    answers: {
      200: {
        text: '`status`: whether the runtime answers; `whole`: all lines; `change`: of the lines, `removed` leave at the top, `kept` stay, and `lines` follow; `closed`: why there are none',
        type: 'text/event-stream',
        schema: TERMINAL,
      },
    },
  },
  'GET /v1/agents/:id/history': listing(
    'The states, calls and compactions of an agent, newest first',
    'history',
    'HistoryRow',
    queries.history,
  ),
  'GET /v1/inbox': get(
    'Everything that waits for a person: the earliest deadline first, then what has waited longest',
    aged(object({ inbox: listOf('InboxItem'), total: TOTAL, next: NEXT })),
    queries.inbox,
  ),
  'GET /v1/requests/:id': get('One request of an agent', aged(ref('RequestRow'))),
  'GET /v1/cases': listing('Cases; those that wait for a person first', 'cases', 'CaseRow', queries.cases),
  'GET /v1/cases/:id': get('One complete case', aged(ref('CaseStory'))),
  'GET /v1/tasks': listing('Tasks by name', 'tasks', 'TaskRow', queries.tasks),
  'GET /v1/tasks/:id': get(
    'One task, with its checkpoints and attempts',
    aged(ref('TaskRow'), object({ chain: listOf('CheckpointRow'), recoveries: listOf('RecoveryRow') })),
  ),
  'GET /v1/recoveries': listing('Attempts of recovery, newest first', 'recoveries', 'RecoveryRow', queries.recoveries),
  'GET /v1/story': listing(
    'The history: a page is in the order of time, and the next one is older',
    'story',
    'Entry',
    queries.story,
  ),
  'GET /v1/alerts': listing('Alerts; the unresolved first', 'alerts', 'AlertRow', queries.alerts),
  'GET /v1/silences': listing('Silences in force, by their end', 'silences', 'SilenceRow', queries.silences),
  'GET /v1/breakers': listing(
    'Circuit breakers; those that are not closed first',
    'breakers',
    'BreakerRow',
    queries.breakers,
  ),
  'GET /v1/tickets': listing('Tickets, newest first', 'tickets', 'TicketRow', queries.tickets),
  'GET /v1/runtimes': listing('Runtimes by name', 'runtimes', 'RuntimeRow', queries.runtimes),
  'GET /v1/fleet': get(
    'What holds the fleet, its runtimes and policies',
    object({
      fleet: ref('FleetRow'),
      runtimes: listOf('RuntimeRow'),
      policies: listOf('PolicyRow'),
      knowledge: ref('Knowledge'),
    }),
  ),
  'GET /v1/fleet/cells': get(
    'Every agent in few bytes: a row of values for each, in the order of `fields`',
    object({
      knowledge: ref('Knowledge'),
      fields: { type: 'array', items: TEXT },
      agents: { type: 'array', items: { type: 'array' } },
      labels: { type: 'array', items: { type: 'object' } },
    }),
  ),
  'GET /v1/fleet/targets': get(
    'How fast Vigil detects, intervenes and works, and what recovers',
    aged(ref('Targets')),
    queries.targets,
  ),
  'GET /v1/dead-letters': listing('Unreadable records, newest first', 'deadLetters', 'DeadLetterRow', queries.letters),
  'GET /v1/policies': get(
    'Policies in force, by name, and the newest refused ones',
    object({
      policies: listOf('PolicyRow'),
      next: NEXT,
      refusals: listOf('PolicyRefusalRow'),
      knowledge: ref('Knowledge'),
    }),
    queries.policies,
  ),
  'GET /v1/policies/:name': get(
    'One policy with its document',
    aged(ref('PolicyRow'), object({ document: { type: 'object' } })),
  ),
  'GET /v1/events': {
    summary: 'Live events, as lines of JSON or, with Accept: text/event-stream, as server-sent events',
    query: queries.events,
    body: null,
    answers: { 200: page('text/event-stream', 'events until the caller leaves') },
  },
  'GET /v1/changes': {
    summary: 'The ids of rows as they change: events `changes` with [[table, id], …], and `reset`',
    query: null,
    body: null,
    answers: { 200: page('text/event-stream', 'changes until the caller leaves') },
  },
  'GET /v1/commands/:id': get('What became of a command', aged(ref('Outcome')), queries.outcome),
  'GET /v1/doctor': get('The state of Vigil itself', ref('Doctor')),
  'POST /v1/replays': {
    summary:
      'Starts a replay of the stored observations: `verify` compares with the recorded decisions, `what_if` with another policy. Nothing is written. One runs at a time, for 30 minutes at most. The dashboard keeps the result in its memory for an hour, or until it stops or 20 newer ones have ended',
    query: null,
    body: z.toJSONSchema(replayShape, { io: 'input' }),
    answers: {
      202: json(ref('ReplayRow'), 'it waits or runs; `location` has its address'),
      422: {
        text: 'every mistake of the document',
        type: 'application/problem+json',
        schema: { $ref: '#/components/schemas/Problem' },
      },
      429: {
        text: 'too many replays wait',
        type: 'application/problem+json',
        schema: { $ref: '#/components/schemas/Problem' },
      },
    },
  },
  'GET /v1/replays': get(
    'The replays in the memory of this dashboard, newest first, without their results',
    object({ replays: listOf('ReplayRow') }),
  ),
  'GET /v1/replays/:id': get('One replay: how far it is, and its result', ref('Replay')),
  'DELETE /v1/replays/:id': {
    summary: 'Ends a replay that waits or runs. That of another caller needs the role operator',
    query: null,
    body: null,
    answers: { 200: json(ref('ReplayRow'), 'as it is now; one that has ended stays as it was') },
  },
  'GET /v1/export': {
    summary:
      'A span of the log as the file that `vigil replay export` writes. One export runs at a time, for 30 minutes at most. A failure after the first part breaks the download off, and a replay refuses such a file',
    query: queries.exported,
    body: null,
    answers: {
      200: page('application/gzip', 'gzipped lines of JSON'),
      422: {
        text: 'why the span cannot be exported',
        type: 'application/problem+json',
        schema: { $ref: '#/components/schemas/Problem' },
      },
      429: {
        text: 'another export runs',
        type: 'application/problem+json',
        schema: { $ref: '#/components/schemas/Problem' },
      },
    },
  },
  'GET /v1/decision': {
    summary: 'The question of a decision link, as a page',
    query: DECISION,
    body: null,
    answers: { 200: html('a page with a button') },
  },
  'POST /v1/decision': {
    summary: 'Answers the question of a decision link',
    query: DECISION,
    body: { type: 'object' },
    answers: {
      202: json({ allOf: [WRITTEN, object({ by: TEXT })] }, 'the answer is written'),
      504: NOT_ACKNOWLEDGED,
    },
  },
  'POST /mcp': {
    summary: 'A message of the Model Context Protocol, without a session: see docs/mcp.md',
    query: null,
    body: { type: 'object' },
    answers: {
      200: json({ type: 'object' }, 'the result'),
      202: { text: 'a notification is accepted', type: 'application/json', schema: null },
    },
  },
  'GET /mcp': {
    summary: 'Refused: the protocol runs without a stream of messages here',
    query: null,
    body: null,
    answers: { 405: { text: 'use POST', type: 'application/problem+json', schema: { type: 'object' } } },
  },
  'DELETE /mcp': {
    summary: 'Refused: the protocol runs without a session here',
    query: null,
    body: null,
    answers: { 405: { text: 'use POST', type: 'application/problem+json', schema: { type: 'object' } } },
  },
  'POST /v1/commands': {
    summary:
      'Writes a command to Kafka; each kind of command needs a role of its own. Its outcome: /v1/commands/{id} with the eventId of the answer, which counts all eventIds',
    query: null,
    body: z.toJSONSchema(commandShape, { io: 'input' }),
    answers: {
      202: json(WRITTEN, 'it is written'),
      504: NOT_ACKNOWLEDGED,
    },
  },
};

/** The routes of the API that read, and take no query. */
export const WITHOUT_QUERY: ReadonlySet<string> = new Set(
  Object.entries(DESCRIPTIONS).flatMap(([route, { query }]) =>
    query === null && route.startsWith('GET /v1/') ? [route] : [],
  ),
);

/** The routes whose answers have how old they are. */
export const AGED: ReadonlySet<string> = new Set(
  Object.entries(DESCRIPTIONS).flatMap(([route, { answers }]) => (isAged(answers[200]?.schema ?? null) ? [route] : [])),
);
