import type { Sql } from './apply.ts';
import { positions, projectedUpTo } from './positions.ts';
import { agents, cells } from './queries/agents.ts';
import { caseStory, cases, orders } from './queries/cases.ts';
import { breakers, tickets } from './queries/findings.ts';
import { alerts, deadLetters, fleet, runtimes } from './queries/fleet.ts';
import { history } from './queries/history.ts';
import { story, storyBefore, transitions } from './queries/journal.ts';
import { outcomes } from './queries/outcomes.ts';
import { policies, policyDocument, policyRefusals } from './queries/policies.ts';
import { expiredRequests, requests } from './queries/requests.ts';
import { silences } from './queries/silences.ts';
import { targets } from './queries/targets.ts';
import { checkpoints, recoveries, tasks } from './queries/tasks.ts';

const queries = {
  agents,
  cells,
  agent: async (sql: Sql, agentId: string) => first(await agents(sql, { agentId })),
  cases,
  case: caseStory,
  orders,
  tasks,
  task: async (sql: Sql, taskId: string) => first(await tasks(sql, { taskId })),
  recoveries,
  checkpoints,
  transitions,
  /** of one agent */
  history,
  story,
  storyBefore,
  alerts,
  requests,
  expiredRequests,
  /** null: there is no such request */
  request: async (sql: Sql, requestId: string) => first(await requests(sql, { requestId })),
  silences,
  breakers,
  tickets,
  fleet,
  /** of a command, by its id */
  outcomes,
  targets,
  runtimes,
  deadLetters,
  /** those in force */
  policies,
  policyRefusals,
  /** canonical JSON; null: never published */
  policyDocument,
  positions,
  projectedUpTo,
};

const first = <T>(rows: readonly T[]): T | null => rows[0] ?? null;

type Bound<Query> = Query extends (sql: Sql, ...rest: infer Rest) => infer Found ? (...rest: Rest) => Found : never;

/** All queries of readers. */
export type ReadModel = { readonly [Name in keyof typeof queries]: Bound<(typeof queries)[Name]> };

export const readModel = (sql: Sql): ReadModel => {
  const bound = Object.entries<(sql: Sql, ...rest: never[]) => unknown>(queries).map(([name, query]) => [
    name,
    query.bind(null, sql),
  ]);
  return Object.fromEntries(bound) as ReadModel;
};
