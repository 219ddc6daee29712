import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { explain, inbox, type Knowledge, optionsOf, type ReadModel, type SignalsOf } from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { cellsOf } from '../cells.ts';
import { found, Problem } from '../problem.ts';

const state = z.enum(['HEALTHY', 'DEGRADED', 'STUCK', 'FAILING', 'TERMINATED', 'UNKNOWN']);
const yes = z.enum(['true', 'false']).transform((text) => text === 'true');
const limit = z.coerce.number().int().min(1).max(1000).default(100);
const name = z.string().max(128);

const agentFilter = z.strictObject({
  filter: z.enum(['unhealthy', 'waiting']).optional(),
  state: state.optional(),
  task: name.optional(),
});
const caseFilter = z.strictObject({ open: yes.optional(), agent: name.optional() });
const taskFilter = z.strictObject({ review: yes.optional() });
const alertFilter = z.strictObject({ open: yes.optional(), agent: name.optional(), task: name.optional() });
const breakerFilter = z.strictObject({ open: yes.optional(), agent: name.optional(), task: name.optional() });
const recoveryFilter = z.strictObject({ task: name.optional() });
const storyFilter = z.strictObject({ agent: name.optional(), task: name.optional(), limit });
const targetQuery = z.strictObject({ hours: z.coerce.number().positive().max(720).default(24) });
const letterFilter = z.strictObject({ service: name.optional(), limit });

/** How long the openings of a breaker are counted. */
const DAY_MS = 86_400_000;

/** Throws Problem 400, naming the field. */
export const queryOf = <Schema extends z.ZodType>(schema: Schema, query: unknown): z.output<Schema> => {
  const read = schema.safeParse(query);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const field = issue?.path.join('.') || 'query';
  throw new Problem(400, 'bad_filter', `${field}: ${issue?.message}`, field);
};

type One = { Params: { id: string } };

/** The current state: queries to the read model. */
export const readRoutes = (
  app: FastifyInstance,
  {
    model,
    signalsOf,
    knowledge,
    now,
  }: { model: ReadModel; signalsOf: SignalsOf; knowledge: () => Knowledge; now: () => number },
): void => {
  app.get('/v1/agents', async ({ query }) => {
    const { filter, state, task } = queryOf(agentFilter, query);
    return {
      agents: await model.agents({
        unhealthy: filter === 'unhealthy',
        waiting: filter === 'waiting',
        state,
        taskId: task,
      }),
    };
  });
  app.get<One>('/v1/agents/:id', async ({ params: { id } }) => {
    const agent = found(await model.agent(id), 'agent', id, '`vigil health` (/v1/agents)');
    return { ...agent, options: await optionsOf(model, agent, signalsOf) };
  });
  app.get<One>('/v1/agents/:id/explain', async ({ params: { id } }) =>
    found(await explain(model, id, signalsOf), 'agent', id, '`vigil health` (/v1/agents)'),
  );
  app.get('/v1/inbox', async () => ({ inbox: await inbox(model), knowledge: knowledge() }));
  app.get<One>('/v1/requests/:id', async ({ params: { id } }) =>
    found(await model.request(id), 'request', id, '`vigil inbox` (/v1/inbox)'),
  );
  app.get('/v1/cases', async ({ query }) => {
    const { open, agent } = queryOf(caseFilter, query);
    return { cases: await model.cases({ open, agentId: agent }) };
  });
  app.get<One>('/v1/cases/:id', async ({ params: { id } }) =>
    found(await model.case(id), 'case', id, '`vigil case list` (/v1/cases)'),
  );
  app.get('/v1/breakers', async ({ query }) => {
    const { open, agent, task } = queryOf(breakerFilter, query);
    return { breakers: await model.breakers({ open, agentId: agent, taskId: task, tripsSince: now() - DAY_MS }) };
  });
  taskRoutes(app, model);
  fleetRoutes(app, { model, knowledge, now });
};

const taskRoutes = (app: FastifyInstance, model: ReadModel): void => {
  app.get('/v1/tasks', async ({ query }) => ({ tasks: await model.tasks(queryOf(taskFilter, query)) }));
  app.get<One>('/v1/tasks/:id', async ({ params: { id } }) => {
    const task = found(await model.task(id), 'task', id, '`vigil task list` (/v1/tasks)');
    const [checkpoints, recoveries] = await Promise.all([model.checkpoints(id), model.recoveries({ taskId: id })]);
    return { ...task, chain: checkpoints, recoveries };
  });
  app.get('/v1/recoveries', async ({ query }) => {
    const { task } = queryOf(recoveryFilter, query);
    return { recoveries: await model.recoveries({ taskId: task }) };
  });
};

const gzipped = promisify(gzip);

const fleetRoutes = (
  app: FastifyInstance,
  { model, knowledge, now }: { model: ReadModel; knowledge: () => Knowledge; now: () => number },
): void => {
  app.get('/v1/story', async ({ query }) => {
    const { agent, task, limit } = queryOf(storyFilter, query);
    return { story: await model.story({ agentId: agent, taskId: task, limit }) };
  });
  app.get('/v1/alerts', async ({ query }) => {
    const { open, agent, task } = queryOf(alertFilter, query);
    return { alerts: await model.alerts({ open, agentId: agent, taskId: task }) };
  });
  app.get('/v1/fleet', async () => ({
    fleet: await model.fleet(),
    runtimes: await model.runtimes(),
    policies: await model.policies(),
    knowledge: knowledge(),
  }));
  app.get('/v1/fleet/cells', async ({ headers }, reply) => {
    const answer = JSON.stringify({ knowledge: knowledge(), ...cellsOf(await model.cells()) });
    reply.type('application/json').header('vary', 'accept-encoding');
    if (!headers['accept-encoding']?.includes('gzip')) return reply.send(answer);
    return reply.header('content-encoding', 'gzip').send(await gzipped(answer));
  });
  app.get('/v1/fleet/targets', async ({ query }) => {
    const { hours } = queryOf(targetQuery, query);
    return model.targets(now() - hours * 3_600_000);
  });
  app.get('/v1/dead-letters', async ({ query }) => ({
    deadLetters: await model.deadLetters(queryOf(letterFilter, query)),
  }));
};

/** The policies in force with their assignment, and recent refusals. */
export const policyRoutes = (app: FastifyInstance, model: ReadModel): void => {
  app.get('/v1/policies', async () => ({ policies: await model.policies(), refusals: await model.policyRefusals() }));
  app.get<{ Params: { name: string } }>('/v1/policies/:name', async ({ params: { name } }) => {
    const policy = (await model.policies()).find((one) => one.name === name);
    const document = found(policy && (await model.policyDocument(policy.hash)), 'policy', name, '`vigil policy list`');
    return { ...policy, document: JSON.parse(document) as unknown };
  });
};
