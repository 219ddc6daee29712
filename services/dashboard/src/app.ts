import { openHttp, type RefusalLog, type Tls } from '@vigil/chassis';
import type { Doctor, Knowledge, ReadModel, SignalsOf } from '@vigil/read-model';
import { includesRole } from '@vigil/read-model/people';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { commandRoutes, type Write } from './commands.ts';
import type { Feed } from './feed.ts';
import { isAcceptedHost } from './hosts.ts';
import { POSTGRES } from './knowledge.ts';
import { sendPage, wantsPage } from './page.ts';
import { type Caller, needs, type People } from './people.ts';
import { isInternal, noReadModel, Problem, problemFor, sendProblem } from './problem.ts';
import { ROLE_OF_ROUTE } from './roles.ts';
import { decisionRoutes } from './routes/decision.ts';
import { eventRoutes } from './routes/events.ts';
import { policyRoutes, readRoutes } from './routes/read.ts';

export type AppDeps = {
  /** null: plain HTTP */
  readonly tls: Tls | null;
  readonly people: People;
  readonly model: ReadModel;
  readonly feed: Feed;
  readonly write: Write;
  /** verifies decision links; null: there are none */
  readonly linkKey: string | null;
  readonly signalsOf: SignalsOf;
  readonly doctor: () => Promise<Doctor>;
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
  /** ends the streams of events */
  readonly signal: AbortSignal;
};

const BEARER = /^Bearer +(\S+)$/i;

const routeOf = ({ method, routeOptions }: FastifyRequest): string =>
  `${method === 'HEAD' ? 'GET' : method} ${routeOptions.url ?? ''}`;
const roleOf = (request: FastifyRequest) => ROLE_OF_ROUTE[routeOf(request)];

/** Every route has a role, and a request needs it. */
const requireRoles = (app: FastifyInstance, people: People): void => {
  app.decorateRequest('caller');
  app.decorateRequest('isValid');
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat())
      if (each !== 'HEAD' && ROLE_OF_ROUTE[`${each} ${url}`] === undefined)
        throw new Error(`${each} ${url} has no role: give it one in roles.ts`);
  });
  app.addHook('onRequest', async (request) => {
    const role = roleOf(request);
    if (role === 'link') return;
    const [, token] = BEARER.exec(request.headers.authorization ?? '') ?? [];
    const current = () => (token === undefined ? null : people.callerOf(token));
    const caller = current();
    if (caller === null)
      throw new Problem(
        401,
        'no_token',
        'Send `Authorization: Bearer …` with VIGIL_DASHBOARD_TOKEN, or with the token that `vigil token create person` printed.',
      );
    request.setDecorator<Caller>('caller', caller);
    // A revocation ends streams that are open as well.
    request.setDecorator<() => boolean>('isValid', () => current() !== null);
    if (role !== undefined && !includesRole(caller.role, role))
      throw new Problem(403, 'not_permitted', needs(caller, role, routeOf(request)));
  });
};

/** No answer of an API is a page: a browser neither guesses its type nor shows it in a frame. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
};

/** The API for people: HTTP in front of the read model and the command topics. */
export const openApp = (deps: AppDeps): FastifyInstance => {
  const options = { bodyLimit: 64 * 1024, requestTimeout: 30_000, forceCloseConnections: true };
  const app = openHttp(options, deps.tls);
  /** An internal error while Postgres is away is its absence. */
  const withoutReadModel = (error: unknown): unknown => {
    const gone = deps.knowledge().away.find(({ part }) => part === POSTGRES);
    return gone === undefined || !isInternal(error) ? error : noReadModel(gone.since, gone.detail);
  };
  app.setErrorHandler((error, request, reply) => {
    const { method, url } = request;
    const principal = 'caller' in request ? (request.getDecorator<Caller | undefined>('caller')?.name ?? null) : null;
    const problem = problemFor(withoutReadModel(error), deps.onFailure);
    deps.refusals.record({ principal, address: request.ip ?? null, status: problem.status, method, url });
    if (roleOf(request) !== 'link' || !wantsPage(request)) return sendProblem(problem, reply);
    const title = problem.type.replaceAll('_', ' ');
    return sendPage(reply, problem.status, { title, text: problem.message, facts: {}, button: null });
  });
  app.setNotFoundHandler(({ method, url }, reply) =>
    sendProblem(new Problem(404, 'no_such_page', `There is no ${method} ${url}.`), reply),
  );
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
  requireRoles(app, deps.people);
  app.addHook('onRequest', async ({ url }) => {
    if (url.includes('%00')) throw new Problem(400, 'bad_address', 'Nothing has a name with a NUL in it.');
  });
  readRoutes(app, deps);
  policyRoutes(app, deps.model);
  commandRoutes(app, deps.model, deps.write, deps.now);
  decisionRoutes(app, deps);
  eventRoutes(app, deps.feed, deps.signal);
  app.get('/v1/doctor', deps.doctor);
  return app;
};
