import { readFileSync } from 'node:fs';
import path from 'node:path';
import fastifyCookie from '@fastify/cookie';
import { openHttp, type RefusalLog, type Tls } from '@vigil/chassis';
import type { Changes, Doctor, Knowledge, ReadModel, SignalsOf, Speeds } from '@vigil/read-model';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { requireRoles, roleOf, routeOf } from './access/authentication.ts';
import { isAcceptedHost } from './access/hosts.ts';
import type { Caller, People } from './access/people.ts';
import { methodsOf } from './access/roles.ts';
import type { Sessions } from './access/sessions.ts';
import { AGED, WITHOUT_QUERY } from './api-description.ts';
import type { CommandDraft } from './commands/command.ts';
import type { CommandWriter } from './commands/command-writer.ts';
import { commandRoutes } from './commands/routes.ts';
import type { Feed } from './feed.ts';
import { POSTGRES } from './own-health/knowledge.ts';
import { sendPage, wantsPage } from './page.ts';
import {
  answerUnreadable,
  isExplainedByPostgres,
  LARGEST_BODY,
  Problem,
  problemFor,
  ReadModelAway,
  sendProblem,
} from './problem.ts';
import type { Exports } from './replays/export.ts';
import type { Replays } from './replays/replays.ts';
import { changeRoutes } from './routes/changes.ts';
import { decisionRoutes } from './routes/decision.ts';
import { eventRoutes } from './routes/events.ts';
import { loginRoutes } from './routes/login.ts';
import { mcpRoutes } from './routes/mcp.ts';
import { outcomeRoutes } from './routes/outcomes.ts';
import { pageRoutes } from './routes/page.ts';
import { policyRoutes, readRoutes } from './routes/read.ts';
import { replayRoutes } from './routes/replays.ts';
import type { Backlog } from './routes/resume.ts';
import { silenceRoutes } from './routes/silences.ts';
import { openStreams } from './routes/streams.ts';
import { type TerminalDeps, terminalRoutes } from './routes/terminal.ts';

export type AppDeps = {
  /** null: plain HTTP */
  readonly tls: Tls | null;
  readonly people: People;
  readonly sessions: Sessions;
  /** whether browsers reach this server by HTTPS only */
  readonly isSecure: boolean;
  /** of the built page */
  readonly pageFolder: string;
  readonly model: ReadModel;
  readonly feed: Feed;
  /** what a resumed stream of events has missed is read from it */
  readonly log: Backlog;
  readonly changes: Changes;
  /** writes a lease of a terminal */
  readonly write: (draft: CommandDraft) => Promise<unknown>;
  readonly commands: CommandWriter;
  /** verifies decision links; null: there are none */
  readonly linkKey: string | null;
  /** an id that no other has */
  readonly newId: () => string;
  readonly signalsOf: SignalsOf;
  readonly doctor: () => Promise<Doctor>;
  readonly replays: Replays;
  readonly exports: Exports;
  /** how fast the services work, by their own metrics */
  readonly speeds: () => Promise<Speeds>;
  /** how old the read model is, and which parts do not answer */
  readonly knowledge: () => Knowledge;
  /** epoch milliseconds */
  readonly now: () => number;
  /** gets every request that is answered with a problem; disposed when the app closes */
  readonly refusals: RefusalLog;
  /** names by which callers reach this server, lower-case */
  readonly hosts: readonly string[];
  /** called with every error whose cause the caller does not receive */
  readonly onFailure: (error: unknown) => void;
  /** records who sees the terminal of an agent, and why */
  readonly onTerminal: TerminalDeps['onTerminal'];
  /** ends the streams of events */
  readonly signal: AbortSignal;
};

/** `npm run generate` writes it. */
const OPENAPI: unknown = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8'));

/** In an address, characters. An id may be so long that no agent has it: then it is unknown. */
const LONGEST_ID = 4096;

/** No answer of an API is a page: a browser neither guesses its type nor shows it in a frame. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/** The API for people: HTTP in front of the read model and the command topics. */
export const openApp = (deps: AppDeps): FastifyInstance => {
  const options = {
    ...{ bodyLimit: LARGEST_BODY, requestTimeout: 30_000, forceCloseConnections: true },
    routerOptions: { maxParamLength: LONGEST_ID },
    frameworkErrors: (error: FastifyError, _: FastifyRequest, reply: FastifyReply) =>
      void sendProblem(problemFor(error, deps.onFailure), reply.headers(HEADERS)),
    clientErrorHandler: answerUnreadable,
  };
  const app = openHttp(options, deps.tls);
  /** An internal error while Postgres is away is its absence. So is the lack of a connection. */
  const withoutReadModel = (error: unknown): unknown => {
    const gone = deps.knowledge().away.find(({ part }) => part === POSTGRES);
    return gone === undefined || !isExplainedByPostgres(error) ? error : new ReadModelAway(gone.since, gone.detail);
  };
  app.setErrorHandler((error, request, reply) => {
    const { method, url } = request;
    const principal = 'caller' in request ? (request.getDecorator<Caller | undefined>('caller')?.name ?? null) : null;
    const problem = problemFor(withoutReadModel(error), deps.onFailure);
    deps.refusals.record({ principal, address: request.ip ?? null, status: problem.status, method, url });
    const role = roleOf(request);
    if ((role !== 'link' && role !== 'public') || !wantsPage(request)) return sendProblem(problem, reply);
    const title = problem.type.replaceAll('_', ' ');
    return sendPage(reply, problem.status, { title, text: problem.message, facts: {}, button: null });
  });
  app.setNotFoundHandler(({ method, url }, reply) => {
    const methods = methodsOf(url.split('?', 1)[0] ?? '');
    if (methods.length === 0)
      return sendProblem(
        new Problem(
          404,
          'no_such_page',
          `${method} ${url} is not an address of the dashboard; /v1/openapi.json lists them`,
        ),
        reply,
      );
    const allow = methods.join(', ');
    return sendProblem(
      new Problem(405, 'no_such_method', `${url} takes no ${method}: use ${allow}.`),
      reply.header('allow', allow),
    );
  });
  app.addHook('onClose', async () => deps.refusals[Symbol.dispose]());
  app.addHook('onRequest', async ({ headers: { host } }, reply) => {
    reply.headers(HEADERS);
    if (!isAcceptedHost(host, deps.hosts))
      throw new Problem(
        421,
        'unknown_host_name',
        `${JSON.stringify(host ?? '')} is not a name of this dashboard: add it to VIGIL_DASHBOARD_HOSTS, or use one that is there.`,
      );
  });
  app.register(fastifyCookie, { secret: deps.sessions.cookieKey });
  requireRoles(app, deps.people, deps.sessions);
  app.addHook('onRequest', async ({ url }) => {
    if (url.includes('%00')) throw new Problem(400, 'bad_address', 'Nothing has a name with a NUL in it.');
  });
  app.addHook('preHandler', async (request) => {
    const [unknown] = Object.keys(request.query as object);
    if (unknown === undefined || !WITHOUT_QUERY.has(routeOf(request))) return;
    throw new Problem(
      400,
      'bad_filter',
      `query: ${JSON.stringify(unknown)} is unknown here: this address takes no query`,
    );
  });
  app.addHook('preSerialization', async (request, reply, answer) =>
    reply.statusCode === 200 && AGED.has(routeOf(request))
      ? Object.assign({}, answer, { knowledge: deps.knowledge() })
      : answer,
  );
  pageRoutes(app, deps.pageFolder);
  loginRoutes(app, deps);
  readRoutes(app, deps);
  policyRoutes(app, deps.model);
  silenceRoutes(app, deps.model, deps.now);
  commandRoutes(app, deps.model, deps.commands, deps.now);
  decisionRoutes(app, deps);
  replayRoutes(app, deps.model, deps.replays, deps.exports);
  outcomeRoutes(app, deps);
  const streams = openStreams(deps.signal);
  eventRoutes(app, { ...deps, streams });
  terminalRoutes(app, { ...deps, streams });
  mcpRoutes(app, deps.now);
  changeRoutes(app, deps.changes, streams);
  app.get('/v1/doctor', deps.doctor);
  app.get('/v1/openapi.json', async () => OPENAPI);
  return app;
};
