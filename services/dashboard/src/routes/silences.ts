import type { ReadModel } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';

/** The silences in force now. `now`: epoch milliseconds. */
export const silenceRoutes = (app: FastifyInstance, model: ReadModel, now: () => number): void => {
  app.get('/v1/silences', async () => ({ silences: await model.silences(now()) }));
};
