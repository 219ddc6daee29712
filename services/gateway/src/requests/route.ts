import type { Logger } from '@vigil/chassis';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type GatewayContext, waitOf } from '../http/answers.ts';
import type { Principal } from '../http/tokens.ts';
import { ask, readRequest, withdraw, withdrawRef } from './ask.ts';

/** How often requests without a hook are looked for, milliseconds. */
const LOOK_MS = 1000;

/** Aborted when the client closes the connection before it has the answer. */
export const goneOf = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  return gone.signal;
};

/** Calls back once: when the answer was sent, or the connection broke before. */
export const onceOver = (reply: FastifyReply, over: (hasArrived: boolean) => void): void => {
  if (reply.raw.destroyed) over(false);
  else reply.raw.once('close', () => over(reply.raw.writableFinished));
};

/** What agents ask people: a hook opens its request, waits for the answer, and withdraws it when it ends first. */
export const routeRequests = (
  app: FastifyInstance,
  context: GatewayContext,
  principalOf: (request: FastifyRequest) => Principal,
  logger: Logger,
): void => {
  app.post<{ Querystring: { wait?: string } }>('/v1/requests', async (request, reply) => {
    const body = readRequest(request.body);
    const waitMs = waitOf(request.query.wait);
    const { answer, over } = await ask(context, principalOf(request), body, waitMs, goneOf(reply));
    onceOver(reply, over);
    return answer;
  });
  app.post('/v1/requests/withdraw', async (request, reply) => {
    await withdraw(context, principalOf(request), request.body);
    return reply.code(202).send({});
  });
  const { agentRequests, heldRequests, ingress, now } = context;
  const look = setInterval(() => {
    for (const ref of heldRequests.lost(agentRequests.openAt(ingress), now()))
      withdrawRef(context, ref, 'its hook does not wait at the gateway any more').catch((err: unknown) =>
        logger.warn({ err, ...ref }, 'the end of a request could not be written'),
      );
  }, LOOK_MS);
  app.addHook('onClose', async () => clearInterval(look));
};
