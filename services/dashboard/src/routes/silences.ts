import type { ReadModel } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { pageOf } from './paging.ts';
import * as queries from './queries.ts';
import { queryOf } from './read.ts';

/** The silences in force now. `now`: epoch milliseconds. */
export const silenceRoutes = (app: FastifyInstance, model: ReadModel, now: () => number): void => {
  app.get('/v1/silences', async ({ query }) => {
    const asked = queryOf(queries.silences, query);
    const inForce = await model.silences(now());
    const { rows: silences, next } = pageOf('silences', inForce, ({ until, silenceId }) => [until, silenceId], asked);
    return { silences, next };
  });
};
