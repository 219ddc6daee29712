import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import {
  type AgentRow,
  ALERT_ORDER,
  BREAKER_ORDER,
  CASE_ORDER,
  explain,
  HISTORY_ORDER,
  inbox,
  inboxPlace,
  type Knowledge,
  LETTER_ORDER,
  optionsOf,
  type Paged,
  RECOVERY_ORDER,
  type ReadModel,
  type SignalsOf,
  type Speeds,
  STORY_ORDER,
  TASK_ORDER,
  type Targets,
  TICKET_ORDER,
} from '@vigil/read-model';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { cellsOf } from '../cells.ts';
import { badInput, found } from '../problem.ts';
import { pageFrom, pageOf } from './paging.ts';
import * as queries from './queries.ts';

/** How long the openings of a breaker are counted. */
const DAY_MS = 86_400_000;

/** The fields of a query; none: the schema has no list of them. */
const shapeOf = (schema: z.ZodType): object => (schema instanceof z.ZodObject ? schema.shape : {});

/** Throws Problem 400, naming the field; of an unknown one, those that the route has. */
export const queryOf = <Schema extends z.ZodType>(schema: Schema, query: unknown): z.output<Schema> => {
  const read = schema.safeParse(query);
  if (read.success) return read.data;
  throw badInput('bad_filter', read.error, query, 'query', Object.keys(shapeOf(schema)));
};

type One = { Params: { id: string } };

type AgentSelection = Pick<z.output<typeof queries.agents>, 'policy' | 'host' | 'label' | 'since' | 'until'>;

/** Whether an agent has the policy, the host and all labels, and its state has changed in the time. */
const selectsAgent =
  ({ policy, host, label, since, until }: AgentSelection) =>
  (agent: AgentRow): boolean =>
    (policy === undefined || agent.policyName === policy) &&
    (host === undefined || agent.host === host) &&
    label.every(([name, value]) => agent.labels[name] === value) &&
    (since === undefined || (agent.since ?? 0) >= since) &&
    (until === undefined || (agent.since ?? 0) < until);

type ReadDeps = {
  readonly model: ReadModel;
  readonly signalsOf: SignalsOf;
  readonly speeds: () => Promise<Speeds>;
  readonly knowledge: () => Knowledge;
  readonly now: () => number;
};

/** The current state: queries to the read model. The app adds to each answer how old it is. */
export const readRoutes = (app: FastifyInstance, { model, signalsOf, speeds, knowledge, now }: ReadDeps): void => {
  app.get('/v1/agents', async ({ query }) => {
    const { filter, state, task, ...asked } = queryOf(queries.agents, query);
    const waiting = filter === 'waiting';
    const found = await model.agents({ unhealthy: filter === 'unhealthy', waiting, state, taskId: task });
    const keyOf = ({ agentId, exemptionSince }: AgentRow) => (waiting ? [exemptionSince ?? 0, agentId] : [agentId]);
    const { rows: agents, next } = pageOf(
      waiting ? 'waiting agents' : 'agents',
      found.filter(selectsAgent(asked)),
      keyOf,
      asked,
    );
    return { agents, next };
  });
  app.get<One>('/v1/agents/:id', async ({ params: { id } }) => {
    const agent = found(await model.agent(id), 'agent', id, '`vigil health` (/v1/agents)');
    return { ...agent, options: await optionsOf(model, agent, signalsOf) };
  });
  app.get<One>('/v1/agents/:id/explain', async ({ params: { id } }) => ({
    ...found(await explain(model, id, signalsOf), 'agent', id, '`vigil health` (/v1/agents)'),
  }));
  app.get<One>('/v1/agents/:id/history', async ({ params: { id }, query }) => {
    const { kind, since, until, ...asked } = queryOf(queries.history, query);
    found(await model.agent(id), 'agent', id, '`vigil health` (/v1/agents)');
    const read = (paged: object) => model.history({ agentId: id, kind, since, until, ...paged });
    const { rows: history, next } = await pageFrom(`history of ${id}`, read, HISTORY_ORDER, asked);
    return { history, next };
  });
  app.get('/v1/inbox', async ({ query }) => {
    const { kind, agent, task, policy, state, host, label, since, until, ...asked } = queryOf(queries.inbox, query);
    const isOfAny = [policy, state, host, ...label].every((one) => one === undefined);
    const selected = selectsAgent({ policy, host, label, since: undefined, until: undefined });
    const agents = isOfAny ? [] : (await model.agents({ state })).filter(selected).map(({ agentId }) => agentId);
    const ofAgents = new Set(agents);
    const items = (await inbox(model)).filter(
      (item) =>
        (kind === undefined || item.kind === kind) &&
        (agent === undefined || item.agentId === agent) &&
        (task === undefined || item.taskId === task) &&
        (isOfAny || (item.agentId !== null && ofAgents.has(item.agentId))) &&
        (since === undefined || (item.since ?? 0) >= since) &&
        (until === undefined || (item.since ?? 0) < until),
    );
    const { rows, next } = pageOf('inbox', items, inboxPlace, asked);
    return { inbox: rows, total: items.length, next };
  });
  app.get<One>('/v1/requests/:id', async ({ params: { id } }) =>
    found(await model.request(id), 'request', id, '`vigil inbox` (/v1/inbox)'),
  );
  app.get('/v1/cases', async ({ query }) => {
    const { open, state, agent, task, policy, host, label, since, until, ...asked } = queryOf(queries.cases, query);
    const filter = { open, state, agentId: agent, taskId: task, policyName: policy, host, labels: label, since, until };
    const read = (paged: object) => model.cases({ ...filter, ...paged });
    const { rows: cases, next } = await pageFrom('cases', read, CASE_ORDER, asked);
    return { cases, next };
  });
  app.get<One>('/v1/cases/:id', async ({ params: { id } }) => ({
    ...found(await model.case(id), 'case', id, '`vigil case list` (/v1/cases)'),
  }));
  app.get('/v1/breakers', async ({ query }) => {
    const { limit, cursor, agent, task, label, ...asked } = queryOf(queries.breakers, query);
    const filter = { ...asked, agentId: agent, taskId: task, labels: label, tripsSince: now() - DAY_MS };
    const read = (paged: object) => model.breakers({ ...filter, ...paged });
    const { rows: breakers, next } = await pageFrom('breakers', read, BREAKER_ORDER, { limit, cursor });
    return { breakers, next };
  });
  app.get('/v1/tickets', async ({ query }) => {
    const { limit, cursor, agent, task, label, ...asked } = queryOf(queries.tickets, query);
    const read = (paged: object) => model.tickets({ ...asked, agentId: agent, taskId: task, labels: label, ...paged });
    const { rows: tickets, next } = await pageFrom('tickets', read, TICKET_ORDER, { limit, cursor });
    return { tickets, next };
  });
  taskRoutes(app, model);
  fleetRoutes(app, { model, speeds, knowledge, now });
};

const taskRoutes = (app: FastifyInstance, model: ReadModel): void => {
  app.get('/v1/tasks', async ({ query }) => {
    const { limit, cursor, agent, label, ...asked } = queryOf(queries.tasks, query);
    const read = (paged: object) => model.tasks({ ...asked, agentId: agent, labels: label, ...paged });
    const { rows: tasks, next } = await pageFrom('tasks', read, TASK_ORDER, { limit, cursor });
    return { tasks, next };
  });
  app.get<One>('/v1/tasks/:id', async ({ params: { id } }) => {
    const task = found(await model.task(id), 'task', id, '`vigil task list` (/v1/tasks)');
    const [checkpoints, recoveries] = await Promise.all([model.checkpoints(id), model.recoveries({ taskId: id })]);
    return { ...task, chain: checkpoints, recoveries };
  });
  app.get('/v1/recoveries', async ({ query }) => {
    const { task, since, until, ...asked } = queryOf(queries.recoveries, query);
    const read = (paged: object) => model.recoveries({ taskId: task, since, until, ...paged });
    const { rows: recoveries, next } = await pageFrom('recoveries', read, RECOVERY_ORDER, asked);
    return { recoveries, next };
  });
};

const gzipped = promisify(gzip);

const fleetRoutes = (app: FastifyInstance, { model, speeds, knowledge, now }: Omit<ReadDeps, 'signalsOf'>): void => {
  app.get('/v1/story', async ({ query }) => {
    const { agent, task, since, until, ...asked } = queryOf(queries.story, query);
    // A page is in the order of time; the next one is older.
    const read = async ({ limit, after }: Partial<Paged> & Pick<Paged, 'limit'>) => {
      const [at, order, eventId] = after ?? [];
      const before = after === undefined ? null : { at: Number(at), order: String(order), eventId: String(eventId) };
      return model.storyBefore({ agentId: agent, taskId: task, since, until, limit, before });
    };
    const { rows, next } = await pageFrom('story', read, STORY_ORDER, asked);
    return { story: rows.map(({ order: _, ...entry }) => entry).toReversed(), next };
  });
  app.get('/v1/alerts', async ({ query }) => {
    const { limit, cursor, agent, task, label, ...asked } = queryOf(queries.alerts, query);
    const read = (paged: object) => model.alerts({ ...asked, agentId: agent, taskId: task, labels: label, ...paged });
    const { rows: alerts, next } = await pageFrom('alerts', read, ALERT_ORDER, { limit, cursor });
    return { alerts, next };
  });
  app.get('/v1/runtimes', async ({ query }) => {
    const asked = queryOf(queries.runtimes, query);
    const { rows: runtimes, next } = pageOf('runtimes', await model.runtimes(), ({ runtimeId }) => [runtimeId], asked);
    return { runtimes, next };
  });
  app.get('/v1/fleet', async () => ({
    fleet: await model.fleet(),
    runtimes: await model.runtimes(),
    policies: await model.policies(),
  }));
  app.get('/v1/fleet/cells', async ({ headers }, reply) => {
    const answer = JSON.stringify({ knowledge: knowledge(), ...cellsOf(await model.cells()) });
    reply.type('application/json').header('vary', 'accept-encoding');
    if (!headers['accept-encoding']?.includes('gzip')) return reply.send(answer);
    return reply.header('content-encoding', 'gzip').send(await gzipped(answer));
  });
  app.get('/v1/fleet/targets', async ({ query }) => {
    const { hours } = queryOf(queries.targets, query);
    const [measured, found] = await Promise.all([speeds(), model.targets(now() - hours * 3_600_000)]);
    return { ...found, speeds: measured } satisfies Targets;
  });
  app.get('/v1/dead-letters', async ({ query }) => {
    const { service, since, until, ...asked } = queryOf(queries.letters, query);
    const read = (paged: object) => model.deadLetters({ service, since, until, ...paged });
    const { rows: deadLetters, next } = await pageFrom('deadLetters', read, LETTER_ORDER, asked);
    return { deadLetters, next };
  });
};

/** The policies in force with their assignment, and recent refusals. */
export const policyRoutes = (app: FastifyInstance, model: ReadModel): void => {
  app.get('/v1/policies', async ({ query }) => {
    const asked = queryOf(queries.policies, query);
    const { rows: policies, next } = pageOf('policies', await model.policies(), ({ name }) => [name], asked);
    return { policies, next, refusals: await model.policyRefusals() };
  });
  app.get<{ Params: { name: string } }>('/v1/policies/:name', async ({ params: { name } }) => {
    const policy = (await model.policies()).find((one) => one.name === name);
    const document = found(policy && (await model.policyDocument(policy.hash)), 'policy', name, '`vigil policy list`');
    return { ...policy, document: JSON.parse(document) as unknown };
  });
};
