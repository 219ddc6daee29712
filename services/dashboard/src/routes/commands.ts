import type { Draft } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { draftOf, parseCommand } from '../commands.ts';

/** Writes one event, acknowledged by all replicas; its id. */
export type Write = (draft: Draft) => Promise<string>;

/** What people want: each is one event on a command topic. 202: it is written; what became of it is told by the events it causes. */
export function commandRoutes(app: FastifyInstance, model: ReadModel, write: Write, now: () => number): void {
  app.post('/v1/commands', async ({ body }, reply) => {
    const draft = await draftOf(parseCommand(body), model, now());
    const eventId = await write(draft);
    return reply.code(202).send({ eventId, topic: draft.topic, type: draft.type, key: draft.key });
  });
}
