import type { Logger } from '@vigil/chassis';
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import { routeHooks } from '../hooks/route.ts';
import { routeTelemetry } from '../otlp/route.ts';
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
import { Problem } from './problem.ts';
import { answerProblems } from './problem-answers.ts';
import { authorizeCollect, authorizePoll } from './rights.ts';
import type { Principal } from './tokens.ts';

type Polling = { Params: { runtimeId: string }; Querystring: { wait?: string } };
type Collecting = {
  Params: { agentId: string };
  Querystring: { instance?: string; policy?: string; label?: string | readonly string[] };
};
/** How long a request may take to arrive, milliseconds. */
const ARRIVAL_MS = 30_000;

type Named = { Params: { name: string } };

/** The gateway's HTTP API: heartbeats in, orders out, receipts in. Not listening yet. */
export const createIngress = (context: GatewayContext, logger: Logger): FastifyInstance => {
  const answerProblem = answerProblems(logger, context.count);
  const app = fastify({
    bodyLimit: LARGEST_BODY,
    requestTimeout: ARRIVAL_MS,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: answerProblem,
  });
  app.decorateRequest('holder');
  app.addHook('onRequest', async (request) => {
    request.setDecorator<Principal>('holder', context.admit(request.headers.authorization));
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    readJson(body),
  );
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler(({ method, url }) => {
    throw new Problem(404, 'no_such_address', `${method} ${url.slice(0, 200)} is not part of the gateway's API`);
  });
  route(app, context);
  routeTelemetry(app, context, principalOf);
  routeHooks(app, context, principalOf, logger);
  return app;
};

/** Who shows the token: known before anything is read. */
const principalOf = (request: FastifyRequest): Principal => request.getDecorator<Principal>('holder');

const route = (app: FastifyInstance, context: GatewayContext): void => {
  app.post('/v1/heartbeats', (request, reply) =>
    acceptHeartbeats(context, principalOf(request), request.body).then((answer) => reply.code(202).send(answer)),
  );
  app.post('/v1/receipts', (request, reply) =>
    acceptReceipts(context, principalOf(request), request.body).then((answer) => reply.code(202).send(answer)),
  );
  app.get<Polling>('/v1/runtimes/:runtimeId/orders', async (request) => {
    const { params, query } = request;
    const runtimeId = idOf('runtimeId', params.runtimeId);
    authorizePoll(principalOf(request), runtimeId);
    return pollOrders(context, runtimeId, waitOf(query.wait));
  });
  app.get<Collecting>('/v1/agents/:agentId/orders', async (request) => {
    const { instance = null, policy, label } = request.query;
    const { params } = request;
    const agent = {
      agentId: idOf('agentId', params.agentId),
      labels: labelsOf(label),
      requestedPolicy: policy ?? null,
    };
    authorizeCollect(principalOf(request), agent.agentId);
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
