import { isDeepStrictEqual } from 'node:util';
import {
  type AgentRow,
  ALERT_ORDER,
  CASE_ORDER,
  type Entry,
  LETTER_ORDER,
  type Order,
  type Paged,
  placeOf,
  type ReadModel,
  type Targets,
} from '@vigil/read-model';
import { waitsForPerson } from '@vigil/read-model/standing';
import { agentsOf } from './world-agents.ts';
import {
  alertsOf,
  breakersOf,
  casesOf,
  checkpointsOf,
  FLEET,
  policiesOf,
  recoveriesOf,
  requestsOf,
  silencesOf,
  tasksOf,
  ticketsOf,
} from './world-rows.ts';
import { historyOf, storyOf, transitionsOf } from './world-story.ts';

/** The rows of a fleet, which a test changes. */
export const rowsOf = (count: number, now: number) => {
  const agents = agentsOf(count, now);
  const tickets = ticketsOf(agents, now);
  return {
    ...{ agents, tickets, cases: casesOf(agents, now), tasks: tasksOf(agents, now) },
    ...{ alerts: alertsOf(agents, tickets, now), breakers: breakersOf(agents, now), policies: policiesOf(now) },
    ...{ requests: requestsOf(agents, now), silences: silencesOf(agents, now), fleet: { ...FLEET } },
    deadLetters: lettersOf(now),
  };
};
export type Rows = ReturnType<typeof rowsOf>;

/** Whether a row has each value that is asked for. A field that it does not have selects nothing. */
const having =
  (wanted: object) =>
  (row: object): boolean =>
    Object.entries(wanted).every(
      ([field, value]) => value === undefined || !(field in row) || Reflect.get(row, field) === value,
    );

const isWaiting = ({ waitingFor }: AgentRow): boolean => waitingFor !== null;

const isOpen = (open: boolean | undefined, endedAt: number | null): boolean =>
  open === undefined || (endedAt === null) === open;

/** A page of the rows, which are in their order here. */
const pageOf = <Row>(
  rows: readonly Row[],
  order: Order<Row>,
  { after, limit }: { readonly [Name in keyof Paged]?: Paged[Name] | undefined },
): readonly Row[] => {
  const from = after === undefined ? 0 : 1 + rows.findIndex((row) => isDeepStrictEqual(placeOf(order, row), after));
  return rows.slice(from, limit === undefined ? undefined : from + limit);
};

/** The read model over these rows. `outcomes`: what became of the next commands; `now`: epoch milliseconds. */
export const modelOf = (rows: Rows, outcomes: () => readonly Entry[], now: () => number): ReadModel => {
  const agent = async (id: string) => rows.agents.find(({ agentId }) => agentId === id) ?? null;
  return {
    agent,
    agents: async ({ unhealthy, waiting, ...wanted }) =>
      rows.agents.filter(
        (one) => having(wanted)(one) && (waiting !== true || isWaiting(one)) && (unhealthy !== true || one.unhealthy),
      ),
    cells: async () => rows.agents.map((one) => ({ ...one, waiting: one.caseWaiting || isWaiting(one) })),
    cases: async ({ open, limit, after, ...wanted }) => {
      const found = rows.cases.filter((one) => having(wanted)(one) && isOpen(open, one.closedAt));
      return pageOf(found, CASE_ORDER, { limit, after });
    },
    case: async (id) => rows.cases.find(({ caseId }) => caseId === id) ?? null,
    orders: async () => [],
    tasks: async ({ review, ...wanted }) =>
      rows.tasks.filter((one) => having(wanted)(one) && (review !== true || waitsForPerson(one))),
    task: async (id) => rows.tasks.find(({ taskId }) => taskId === id) ?? null,
    recoveries: async ({ taskId }) => recoveriesOf(rows.agents, now()).filter((one) => one.taskId === taskId),
    checkpoints: async (taskId) => checkpointsOf(rows.agents, now()).filter((one) => one.taskId === taskId),
    transitions: async ({ agentId }) => {
      const found = await agent(agentId ?? '');
      return found === null ? [] : transitionsOf(found, now());
    },
    history: async ({ agentId, kind, limit }) => {
      const found = await agent(agentId);
      const all = found === null ? [] : historyOf(found, now());
      return all.filter(having({ kind })).slice(0, limit);
    },
    story: async ({ agentId }) => {
      const found = await agent(agentId ?? '');
      return found === null ? [] : storyOf(found, rows.cases, now());
    },
    storyBefore: async ({ agentId, limit }) => {
      const found = await agent(agentId ?? '');
      const story = found === null ? [] : storyOf(found, rows.cases, now());
      return story
        .map((entry, n) => ({ ...entry, order: String(n) }))
        .toReversed()
        .slice(0, limit);
    },
    alerts: async ({ open, limit, after, ...wanted }) => {
      const found = rows.alerts.filter((one) => having(wanted)(one) && isOpen(open, one.resolvedAt));
      return pageOf(found, ALERT_ORDER, { limit, after });
    },
    requests: async ({ open, ...wanted }) =>
      rows.requests.filter((one) => having(wanted)(one) && isOpen(open, one.settledAt)),
    expiredRequests: async (agentIds) =>
      rows.requests.filter(({ agentId, settled }) => settled === 'expired' && agentIds.includes(agentId)),
    request: async (id) => rows.requests.find(({ requestId }) => requestId === id) ?? null,
    silences: async (at) => rows.silences.filter(({ until }) => until > at),
    breakers: async ({ open, tripsSince: _, ...wanted }) =>
      rows.breakers.filter((one) => having(wanted)(one) && (open !== true || one.state !== 'CLOSED')),
    tickets: async ({ limit, labels: _, ...wanted }) => rows.tickets.filter(having(wanted)).slice(0, limit),
    fleet: async () => rows.fleet,
    outcomes: async () => outcomes(),
    targets: async () => TARGETS,
    runtimes: async () => [],
    deadLetters: async ({ limit, after }) => pageOf(rows.deadLetters, LETTER_ORDER, { limit, after }),
    policies: async () => rows.policies,
    policyRefusals: async () => [],
    policyDocument: async (hash) => {
      const found = rows.policies.find((one) => one.hash === hash);
      return found === undefined ? null : JSON.stringify(found.document);
    },
    positions: async () => [],
    projectedUpTo: async () => now(),
  };
};

const TARGETS: Omit<Targets, 'speeds'> = {
  since: 0,
  detection: { count: 41, p50Ms: 4200, p95Ms: 12_400, maxMs: 31_000 },
  intervention: { count: 28, p50Ms: 48_000, p95Ms: 151_000, maxMs: 402_000 },
  recovery: { part: 17, all: 18, rate: 17 / 18 },
  falsePositives: { part: 0, all: 37, rate: 0 },
  watched: 191,
};

const LETTERS = [
  {
    ...{ service: 'heartbeat-ingest', originalTopic: 'onex.cmd.heartbeat-ingest.heartbeat.v1', errorType: 'Unfit' },
    reason: 'context_used is 1.7: 0 to 1 is expected',
    preview: '{"agent_id":"search-perf-31","context_used":1.7,"phase":"implement"}',
  },
  {
    ...{ service: 'projector', originalTopic: 'onex.evt.intervention.case.v1', errorType: 'UnknownSchemaId' },
    ...{ reason: 'schema 412 is not registered', preview: '\\000\\000\\000\\001\\234\\022case-77' },
  },
];

const lettersOf = (now: number) =>
  LETTERS.map((letter, index) => ({
    ...{ ...letter, eventId: `dl-${index}`, originalPartition: index, originalOffset: 41_233 + index * 907 },
    ...{ originalKey: 'search-perf-31', truncated: false, leftOut: 0, failedAt: now - (index + 1) * 840_000 },
  }));
