import type { Draft } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { draftsOf, parseCommand } from '../commands.ts';

/** Writes one event, acknowledged by all replicas; its id. */
export type Write = (draft: Draft) => Promise<string>;

/**
 * Commands of people, as events on a command topic. 202: written, with further keys in `alsoFor`. The events that it
 * causes report the outcome.
 */
export function commandRoutes(app: FastifyInstance, model: ReadModel, write: Write, now: () => number): void {
  app.post('/v1/commands', async ({ body }, reply) => {
    const [first, ...more] = await draftsOf(parseCommand(body), model, now());
    if (first === undefined) throw new Error('a command is written as at least one event');
    const eventId = await write(first);
    for (const draft of more) await write(draft);
    const { topic, type, key } = first;
    return reply.code(202).send({ eventId, topic, type, key, alsoFor: more.map((draft) => draft.key) });
  });
}
