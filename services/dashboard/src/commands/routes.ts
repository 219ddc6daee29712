import type { ReadModel } from '@vigil/read-model';
import { includesRole } from '@vigil/read-model/people';
import type { FastifyInstance } from 'fastify';
import { type Caller, needs, signed } from '../access/people.ts';
import { Problem } from '../problem.ts';
import { type Command, parseCommand, ROLE_OF_COMMAND } from './command.ts';
import type { CommandWriter } from './command-writer.ts';
import { inGroup } from './control-agent.ts';
import { draftsOf } from './drafts.ts';

/** The command with the name of the caller's token. Throws Problem 403 if the caller's role does not permit it. */
const signedBy = (caller: Caller, command: Command): Command => {
  const role = ROLE_OF_COMMAND[command.kind];
  if (!includesRole(caller.role, role)) throw new Problem(403, 'not_permitted', needs(caller, role, command.kind));
  return { ...command, by: signed(caller, command.by) };
};

/** Throws Problem 409 where the command of this id has an outcome: nothing is written again. */
const requireNew = async (eventId: string, model: ReadModel): Promise<void> => {
  if ((await model.outcomes(eventId)).length === 0) return;
  throw new Problem(
    409,
    'already_written',
    `The command ${eventId} was written before, and is not written again: GET /v1/commands/${eventId} shows what became of it.`,
  );
};

/**
 * Commands of people, as events on a command topic. 202: written, with further keys in `alsoFor`, and all ids in `eventIds`. The outcome of
 * `eventId` counts the answers to all of them. A retry with the id of an earlier try is written once.
 */
export const commandRoutes = (
  app: FastifyInstance,
  model: ReadModel,
  { write }: CommandWriter,
  now: () => number,
): void => {
  app.post('/v1/commands', async (request, reply) => {
    const { eventId = null, ...command } = signedBy(request.getDecorator<Caller>('caller'), parseCommand(request.body));
    const written = await write(eventId, JSON.stringify(command), async (id) => {
      if (eventId !== null) await requireNew(eventId, model);
      const drafts = await draftsOf(command, model, now());
      return drafts.map((draft, place) => (place === 0 ? draft : inGroup(draft, id)));
    });
    return reply.code(202).send(written);
  });
};
