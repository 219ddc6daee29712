import type { Draft } from '@vigil/events';
import type { ReadModel } from '@vigil/read-model';
import { includesRole } from '@vigil/read-model/people';
import type { FastifyInstance } from 'fastify';
import { type Caller, needs, signed } from '../access/people.ts';
import { Problem } from '../problem.ts';
import { type Command, parseCommand, ROLE_OF_COMMAND } from './command.ts';
import { inGroup } from './control-agent.ts';
import { draftsOf } from './drafts.ts';

/** The command with the name of the caller's token. Throws Problem 403 if the caller's role does not permit it. */
const signedBy = (caller: Caller, command: Command): Command => {
  const role = ROLE_OF_COMMAND[command.kind];
  if (!includesRole(caller.role, role)) throw new Problem(403, 'not_permitted', needs(caller, role, command.kind));
  return { ...command, by: signed(caller, command.by) };
};

/** Writes one event, acknowledged by all replicas; its id. */
export type Write = (draft: Draft) => Promise<string>;

/**
 * Commands of people, as events on a command topic. 202: written, with further keys in `alsoFor`, and all ids in `eventIds`. The outcome of
 * `eventId` counts the answers to all of them.
 */
export const commandRoutes = (app: FastifyInstance, model: ReadModel, write: Write, now: () => number): void => {
  app.post('/v1/commands', async (request, reply) => {
    const command = signedBy(request.getDecorator<Caller>('caller'), parseCommand(request.body));
    const [first, ...more] = await draftsOf(command, model, now());
    if (first === undefined) throw new Error('a command is written as at least one event');
    const eventId = await write(first);
    const eventIds = [eventId];
    for (const draft of more) eventIds.push(await write(inGroup(draft, eventId)));
    const { topic, type, key } = first;
    return reply.code(202).send({ eventId, topic, type, key, alsoFor: more.map((draft) => draft.key), eventIds });
  });
};
