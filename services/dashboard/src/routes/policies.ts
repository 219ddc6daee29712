import type { ReadModel } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { unknown } from '../problem.ts';

/** The policies in force with their assignment, and recent refusals. */
export function policyRoutes(app: FastifyInstance, model: ReadModel): void {
  app.get('/v1/policies', async () => ({ policies: await model.policies(), refusals: await model.policyRefusals() }));
  app.get<{ Params: { name: string } }>('/v1/policies/:name', async ({ params: { name } }) => {
    const found = (await model.policies()).find((policy) => policy.name === name);
    const document = found && (await model.policyDocument(found.hash));
    if (!found || !document) throw unknown('policy', name, '`vigil policy list`');
    return { ...found, document: JSON.parse(document) as unknown };
  });
}
