import type { Logger } from '@vigil/chassis';
import { type FastifyInstance, type FastifyRequest, fastify } from 'fastify';
import {
  acceptHeartbeats,
  acceptReceipts,
  type Behind,
  collectOrders,
  findPolicy,
  idOf,
  labelsOf,
  pollOrders,
  waitOf,
} from './answers.ts';
import { LARGEST_BODY, readJson } from './body.ts';
import { routeHooks } from './hooks/route.ts';
import { routeTelemetry } from './otlp/route.ts';
import { Problem } from './problem.ts';
import { answerProblems } from './problem-answers.ts';
import { mayCollect, mayPoll } from './rights.ts';
import type { Holder } from './tokens.ts';

type Polling = { Params: { runtimeId: string }; Querystring: { wait?: string } };
type Collecting = {
  Params: { agentId: string };
  Querystring: { instance?: string; policy?: string; label?: string | readonly string[] };
};
/** How long a request may take to arrive, milliseconds. */
const ARRIVAL_MS = 30_000;

type Named = { Params: { name: string } };

/** The agents' door: heartbeats in, orders out, receipts in. Not listening yet. */
export const createDoor = (behind: Behind, logger: Logger): FastifyInstance => {
  const answerProblem = answerProblems(logger, behind.count);
  const app = fastify({
    bodyLimit: LARGEST_BODY,
    requestTimeout: ARRIVAL_MS,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: answerProblem,
  });
  app.decorateRequest('holder');
  app.addHook('onRequest', async (request) => {
    request.setDecorator<Holder>('holder', behind.admit(request.headers.authorization));
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    readJson(body),
  );
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler(({ method, url }) => {
    throw new Problem(404, 'no_such_address', `${method} ${url.slice(0, 200)} is not part of the agents' door`);
  });
  route(app, behind);
  routeTelemetry(app, behind, holderOf);
  routeHooks(app, behind, holderOf, logger);
  return app;
};

/** Who shows the token: known before anything is read. */
const holderOf = (request: FastifyRequest): Holder => request.getDecorator<Holder>('holder');

const route = (app: FastifyInstance, behind: Behind): void => {
  app.post('/v1/heartbeats', (request, reply) =>
    acceptHeartbeats(behind, holderOf(request), request.body).then((answer) => reply.code(202).send(answer)),
  );
  app.post('/v1/receipts', (request, reply) =>
    acceptReceipts(behind, holderOf(request), request.body).then((answer) => reply.code(202).send(answer)),
  );
  app.get<Polling>('/v1/runtimes/:runtimeId/orders', async (request) => {
    const { params, query } = request;
    const runtimeId = idOf('runtimeId', params.runtimeId);
    mayPoll(holderOf(request), runtimeId);
    return pollOrders(behind, runtimeId, waitOf(query.wait));
  });
  app.get<Collecting>('/v1/agents/:agentId/orders', async (request) => {
    const { instance = null, policy, label } = request.query;
    const { params } = request;
    const agent = {
      agentId: idOf('agentId', params.agentId),
      labels: labelsOf(label),
      requestedPolicy: policy ?? null,
    };
    mayCollect(holderOf(request), agent.agentId);
    return collectOrders(behind, agent, instance && idOf('instance', instance));
  });
  app.get<Named>('/v1/policies/:name', ({ params, headers }, reply) => {
    const { name, hash, document } = findPolicy(behind, params.name);
    const etag = `"${hash}"`;
    reply.header('etag', etag);
    if (headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.send({ name, hash, document });
  });
};
