import {
  answerUnreadable,
  type Count,
  createRefusalLog,
  type Logger,
  openHttp,
  type RefusalLog,
  type Tls,
} from '@vigil/chassis';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { routeHooks } from '../hooks/route.ts';
import { routeTelemetry } from '../otlp/route.ts';
import { routeRequests } from '../requests/route.ts';
import { acceptTerminal } from '../terminals/accept.ts';
import {
  acceptHeartbeats,
  acceptReceipts,
  collectOrders,
  findPolicy,
  type GatewayContext,
  idOf,
  labelsOf,
  pollOrders,
  waitOf,
} from './answers.ts';
import { LARGEST_BODY, readJson } from './body.ts';
import { authorizeStated, withoutHost } from './claims.ts';
import { Problem, problemBody } from './problem.ts';
import { TooMany } from './quotas.ts';
import { authorizeCollect, authorizePoll } from './rights.ts';
import { authorizeRoute, requireEntries } from './routes.ts';
import { routeTokens } from './token-routes.ts';
import type { Principal } from './tokens.ts';

type Polling = { Params: { runtimeId: string }; Querystring: { wait?: string } };
type Collecting = {
  Params: { agentId: string };
  Querystring: { instance?: string; policy?: string; label?: string | readonly string[] };
};
/** How long a request may take to arrive, milliseconds. */
const ARRIVAL_MS = 30_000;

type Named = { Params: { name: string } };

/**
 * A problem that the web framework found, as a Problem. Any other error is a bug of the gateway: the records may or
 * may not have been written.
 */
const problemOf = (error: FastifyError | Problem): Problem => {
  if (error instanceof Problem) return error;
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Problem(
        413,
        'too_large',
        `the body is larger than ${LARGEST_BODY} bytes: send fewer or smaller heartbeats`,
      );
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new Problem(415, 'not_json', 'the content type is not application/json');
    case 'Z_DATA_ERROR':
    case 'Z_BUF_ERROR':
      return new Problem(400, 'bad_encoding', 'the body is not gzip, as its content-encoding claims');
  }
  if (error.statusCode !== undefined && error.statusCode < 500)
    return new Problem(error.statusCode, 'bad_request', error.message);
  return new Problem(503, 'not_written', 'it is not known whether this was written: send it again');
};

type Answer = (error: FastifyError | Problem, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

/** Answers with problem+json, and logs errors of the gateway. */
const answerProblems = (logger: Logger, count: Count, refusals: RefusalLog): Answer => {
  return (error, request, reply) => {
    const { method, url } = request;
    const problem = problemOf(error);
    refusals.record({ principal: nameOf(request), address: request.ip ?? null, status: problem.status, method, url });
    count('requests_refused', 1, { reason: problem.reason.replace(/:.*/, '') });
    if (problem.status >= 500) logger.error({ err: error, method, url }, 'request failed');
    if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
    if (problem.status === 503) reply.header('retry-after', '1');
    if (problem instanceof TooMany) reply.header('retry-after', String(problem.retryAfterS));
    // Another connection may lead to an instance that can write.
    if (problem.reason === 'not_written') reply.header('connection', 'close');
    return reply.code(problem.status).type('application/problem+json').send(problemBody(problem));
  };
};

/** Whose token a request shows; null: no valid one. */
const nameOf = (request: FastifyRequest): string | null => {
  if (!('principal' in request)) return null;
  const principal = request.getDecorator<Principal | undefined>('principal');
  if (principal === undefined) return null;
  return principal.kind === 'operator' ? 'operator' : `${principal.kind} ${principal.name}`;
};

/** The gateway's HTTP API: heartbeats in, orders out, receipts in. Not listening yet. */
export const createIngress = (context: GatewayContext, tls: Tls | null, logger: Logger): FastifyInstance => {
  const refusals = createRefusalLog(logger);
  const answerProblem = answerProblems(logger, context.count, refusals);
  const app = openHttp(
    {
      bodyLimit: LARGEST_BODY,
      requestTimeout: ARRIVAL_MS,
      routerOptions: { maxParamLength: 200 },
      frameworkErrors: answerProblem,
      clientErrorHandler: answerUnreadable(({ status, kind, detail }) =>
        problemBody(new Problem(status, kind, detail)),
      ),
    },
    tls,
  );
  app.addHook('onClose', async () => refusals[Symbol.dispose]());
  requireEntries(app);
  app.decorateRequest('principal');
  app.addHook('onRequest', async (request) => {
    const principal = await context.admit(request.headers.authorization);
    request.setDecorator<Principal>('principal', principal);
    authorizeRoute(principal, request);
    context.quotas.countRequest(principal, bodyBytesOf(request), context.now());
  });
  app.removeAllContentTypeParsers();
  const countBody = (request: FastifyRequest, body: Buffer): void =>
    context.quotas.countDecompressed(principalOf(request), bodyBytesOf(request), body.length, context.now());
  const readBody = async (request: FastifyRequest, body: Buffer): Promise<unknown> => {
    countBody(request, body);
    return readJson(body);
  };
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, readBody);
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler(({ method, url }) => {
    throw new Problem(404, 'no_such_address', `${method} ${url.slice(0, 200)} is not part of the gateway's API`);
  });
  route(app, context);
  routeTelemetry(app, context, { principalOf, countBody });
  routeTokens(app, context, principalOf);
  routeHooks(app, context, principalOf, logger);
  routeRequests(app, context, principalOf, logger);
  return app;
};

/** null: the request does not state it before its body is read */
const bodyBytesOf = ({ method, headers }: FastifyRequest): number | null => {
  if (method === 'GET') return 0;
  return headers['content-length'] === undefined ? null : Number(headers['content-length']);
};

/** Who shows the token: known before anything is read. */
const principalOf = (request: FastifyRequest): Principal => request.getDecorator<Principal>('principal');

const route = (app: FastifyInstance, context: GatewayContext): void => {
  app.post('/v1/heartbeats', (request, reply) =>
    acceptHeartbeats(context, principalOf(request), request.body).then((answer) => reply.code(202).send(answer)),
  );
  app.post('/v1/receipts', (request, reply) =>
    acceptReceipts(context, principalOf(request), request.body).then((answer) => reply.code(202).send(answer)),
  );
  app.post('/v1/terminals', (request, reply) =>
    acceptTerminal(context, principalOf(request), request.body).then((answer) => reply.code(202).send(answer)),
  );
  app.get<Polling>('/v1/runtimes/:runtimeId/orders', async (request) => {
    const { params, query } = request;
    const runtimeId = idOf('runtimeId', params.runtimeId);
    const principal = principalOf(request);
    authorizePoll(principal, runtimeId);
    return pollOrders(context, principal, runtimeId, waitOf(query.wait));
  });
  app.get<Collecting>('/v1/agents/:agentId/orders', async (request) => {
    const { instance = null, policy, label } = request.query;
    const { params } = request;
    const agent = {
      agentId: idOf('agentId', params.agentId),
      labels: labelsOf(label),
      requestedPolicy: policy ?? null,
    };
    const principal = principalOf(request);
    authorizeCollect(principal, agent.agentId);
    const { labels } = withoutHost(principal, agent);
    authorizeStated(principal, { task_id: null, policy: agent.requestedPolicy, labels, parent_agent_id: null }, null);
    return collectOrders(context, agent, instance && idOf('instance', instance));
  });
  app.get<Named>('/v1/policies/:name', ({ params, headers }, reply) => {
    const { name, hash, document } = findPolicy(context, params.name);
    const etag = `"${hash}"`;
    reply.header('etag', etag);
    if (headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.send({ name, hash, document });
  });
};
