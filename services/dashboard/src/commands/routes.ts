import type { ReadModel } from '@vigil/read-model';
import { includesRole, type Role } from '@vigil/read-model/people';
import type { FastifyInstance } from 'fastify';
import { type Caller, needs, signed } from '../access/people.ts';
import { Problem } from '../problem.ts';
import { type Command, parseCommand, ROLE_OF_COMMAND } from './command.ts';
import type { CommandWriter } from './command-writer.ts';
import { inGroup } from './control-agent.ts';
import { draftsOf } from './drafts.ts';

/** The role that a body needs, and what for. One that names no kind of command needs the lowest role of all commands. */
const neededFor = (body: unknown): readonly [role: Role, what: string] => {
  const { kind } = (body ?? {}) as { readonly kind?: unknown };
  return typeof kind === 'string' && Object.hasOwn(ROLE_OF_COMMAND, kind)
    ? [ROLE_OF_COMMAND[kind as Command['kind']], kind]
    : ['responder', 'POST /v1/commands'];
};

/** The command with the name of the caller's token. Throws Problem 403 if the caller's role does not permit it, before its fields are read. */
const commandOf = (caller: Caller, body: unknown): Command => {
  const [role, what] = neededFor(body);
  if (!includesRole(caller.role, role)) throw new Problem(403, 'not_permitted', needs(caller, role, what));
  const command = parseCommand(body);
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
    const { eventId = null, ...command } = commandOf(request.getDecorator<Caller>('caller'), request.body);
    const written = await write(eventId, JSON.stringify(command), async (id) => {
      if (eventId !== null) await requireNew(eventId, model);
      const drafts = await draftsOf(command, model, now());
      return drafts.map((draft, place) => (place === 0 ? draft : inGroup(draft, id)));
    });
    return reply.code(202).send(written);
  });
};
