import type { Logger } from '@vigil/chassis';
import { type FastifyInstance, fastify } from 'fastify';
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
import { Problem } from './problem.ts';
import { answerProblems } from './problem-answers.ts';
import { guard } from './tokens.ts';

type Polling = { Params: { runtimeId: string }; Querystring: { wait?: string } };
type Collecting = {
  Params: { agentId: string };
  Querystring: { instance?: string; policy?: string; label?: string | readonly string[] };
};
/** How long a request may take to arrive, milliseconds. */
const ARRIVAL_MS = 30_000;

type Named = { Params: { name: string } };

/** The agents' door: heartbeats in, orders out, receipts in. Not listening yet. */
export const createDoor = (behind: Behind, log: Logger): FastifyInstance => {
  const answerProblem = answerProblems(log, behind.count);
  const app = fastify({
    bodyLimit: LARGEST_BODY,
    requestTimeout: ARRIVAL_MS,
    routerOptions: { maxParamLength: 200 },
    frameworkErrors: answerProblem,
  });
  const check = guard(behind.token);
  app.addHook('onRequest', async ({ headers }) => check(headers.authorization));
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) =>
    readJson(body),
  );
  app.setErrorHandler(answerProblem);
  app.setNotFoundHandler(({ method, url }) => {
    throw new Problem(404, 'no_such_address', `${method} ${url.slice(0, 200)} is not part of the agents' door`);
  });
  route(app, behind);
  return app;
};

const route = (app: FastifyInstance, behind: Behind): void => {
  app.post('/v1/heartbeats', ({ body }, reply) =>
    acceptHeartbeats(behind, body).then((answer) => reply.code(202).send(answer)),
  );
  app.post('/v1/receipts', ({ body }, reply) =>
    acceptReceipts(behind, body).then((answer) => reply.code(202).send(answer)),
  );
  app.get<Polling>('/v1/runtimes/:runtimeId/orders', ({ params, query }) =>
    pollOrders(behind, idOf('runtimeId', params.runtimeId), waitOf(query.wait)),
  );
  app.get<Collecting>('/v1/agents/:agentId/orders', async ({ params, query: { instance = null, policy, label } }) => {
    const agent = { agentId: idOf('agentId', params.agentId), labels: labelsOf(label), wish: policy ?? null };
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
