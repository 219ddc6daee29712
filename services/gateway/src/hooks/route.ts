import { randomUUID } from 'node:crypto';
import type { Logger } from '@vigil/chassis';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { GatewayContext } from '../http/answers.ts';
import type { Principal } from '../http/tokens.ts';
import { goneOf, onceOver } from '../requests/route.ts';
import { acceptHook } from './accept.ts';

type Hook = { Params: { client: string }; Headers: { 'vigil-agent'?: string; 'vigil-task'?: string } };

/**
 * Hook events as a client posts them (`type: http` hooks of Claude Code), answered in the client's format: no supervisor is needed.
 * `vigil hook install --http` writes the address into the client's settings.
 */
export const routeHooks = (
  app: FastifyInstance,
  context: GatewayContext,
  principalOf: (request: FastifyRequest) => Principal,
  logger: Logger,
): void => {
  app.post<Hook>('/v1/hooks/:client', async (request, reply) => {
    const { 'vigil-agent': agent, 'vigil-task': task } = request.headers;
    const sent = { client: request.params.client, agent, task, payload: request.body };
    const { answer, printed } = await acceptHook(context, principalOf(request), sent, randomUUID(), goneOf(reply));
    // A write to a broken connection may not have arrived.
    // The client may have left before the answer was ready.
    onceOver(reply, (isSent) => {
      printed(isSent).catch((err: unknown) =>
        logger.warn({ err, agent }, 'the receipt of a text that a hook was given could not be written'),
      );
    });
    return reply.type('application/json').send(answer ?? '{}');
  });
};
