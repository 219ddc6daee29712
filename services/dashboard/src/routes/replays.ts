import type { ReadModel } from '@vigil/read-model';
import { includesRole } from '@vigil/read-model/people';
import type { FastifyInstance } from 'fastify';
import { type Caller, needs } from '../access/people.ts';
import { found, Problem } from '../problem.ts';
import type { Exports } from '../replays/export.ts';
import type { Replays } from '../replays/replays.ts';
import { readReplay } from '../replays/request.ts';
import * as queries from './queries.ts';
import { queryOf } from './read.ts';

type One = { Params: { id: string } };

const WHERE = '`GET /v1/replays`: the dashboard keeps them for an hour';

/** Replays of the stored observations. They write nothing, so who may read the history may replay it. */
export const replayRoutes = (app: FastifyInstance, model: ReadModel, replays: Replays, exports: Exports): void => {
  app.post('/v1/replays', async (request, reply) => {
    const { name: by } = request.getDecorator<Caller>('caller');
    const row = replays.start({ ...(await readReplay(request.body, model)), by });
    return reply.code(202).header('location', `/v1/replays/${row.replayId}`).send(row);
  });
  app.get('/v1/export', async ({ query }, reply) => {
    const { since: from = null, until: to = null, agent = null } = queryOf(queries.exported, query);
    if (from !== null && to !== null && from > to)
      throw new Problem(400, 'bad_filter', 'until: the span ends before it begins: exchange since and until', 'until');
    const file = await exports.open({ from, to, agent });
    return reply
      .type('application/gzip')
      .header('content-disposition', 'attachment; filename="vigil-span.ndjson.gz"')
      .send(file);
  });
  app.get('/v1/replays', async () => ({ replays: replays.all() }));
  app.get<One>('/v1/replays/:id', async ({ params: { id } }) => found(replays.find(id), 'replay', id, WHERE));
  app.delete<One>('/v1/replays/:id', async (request) => {
    const { id } = request.params;
    const caller = request.getDecorator<Caller>('caller');
    const { by } = found(replays.find(id), 'replay', id, WHERE);
    if (by !== caller.name && !includesRole(caller.role, 'operator'))
      throw new Problem(403, 'not_permitted', needs(caller, 'operator', `the end of a replay of ${by}`));
    return replays.cancel(id, caller.name);
  });
};
