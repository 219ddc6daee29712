import { type Changes, type Outcome, outcomeOf, type ReadModel } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../access/people.ts';
import { Problem } from '../problem.ts';
import * as queries from './queries.ts';
import { queryOf } from './read.ts';

export type OutcomeDeps = {
  readonly model: Pick<ReadModel, 'outcomes'>;
  readonly changes: Changes;
  /** ends the waits */
  readonly signal: AbortSignal;
};

/** Waits of one caller at once. */
export const MOST_WAITS = 16;
/** A change is looked up at once, and everything again after this time, milliseconds. */
const LOOK_AGAIN_MS = 1000;

const COMMAND_ID = z.uuid();

/** Throws Problem 400 for a text that is not the id of a command. No outcome of it will ever come. */
const commandIdOf = (text: string): string => {
  if (COMMAND_ID.safeParse(text).success) return text;
  const remedy = 'give the eventId that the command was answered with, which is a UUID';
  throw new Problem(400, 'bad_command_id', `id: ${JSON.stringify(text)} is not the id of a command; ${remedy}`, 'id');
};

/** What became of a command, at once or when it is decided. */
export const outcomeRoutes = (app: FastifyInstance, { model, changes, signal }: OutcomeDeps): void => {
  const waits = new Map<string, number>();

  const begin = (caller: string): Disposable => {
    const count = (waits.get(caller) ?? 0) + 1;
    if (count > MOST_WAITS)
      throw new Problem(
        429,
        'too_many_waits',
        `${caller} waits for ${MOST_WAITS} outcomes, the most of one caller: try again when one has arrived.`,
      );
    waits.set(caller, count);
    return {
      [Symbol.dispose]: () => {
        const left = (waits.get(caller) ?? 1) - 1;
        if (left === 0) waits.delete(caller);
        else waits.set(caller, left);
      },
    };
  };

  const read = async (id: string): Promise<Outcome> => outcomeOf(id, await model.outcomes(id));

  const decided = async (id: string, until: AbortSignal): Promise<Outcome> => {
    const ids = new Set([id, `case-${id}`]);
    let wake = Promise.withResolvers<void>();
    const stop = changes.listen((changed) => {
      if (changed === null || changed.some(([, one]) => ids.has(one))) wake.resolve();
    });
    const lookAgain = setInterval(() => wake.resolve(), LOOK_AGAIN_MS);
    const end = () => wake.resolve();
    until.addEventListener('abort', end);
    try {
      for (;;) {
        const outcome = await read(id);
        if (outcome.outcome !== 'pending' || until.aborted) return outcome;
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    } finally {
      stop();
      clearInterval(lookAgain);
      until.removeEventListener('abort', end);
    }
  };

  app.get<{ Params: { id: string } }>('/v1/commands/:id', async (request, reply) => {
    const { wait } = queryOf(queries.outcome, request.query);
    const id = commandIdOf(request.params.id);
    if (wait === 0) return read(id);
    using _ = begin(request.getDecorator<Caller>('caller').name);
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    return await decided(id, AbortSignal.any([AbortSignal.timeout(wait * 1000), gone.signal, signal]));
  });
};
