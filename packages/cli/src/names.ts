import type { AlertRow, CaseRow, InboxItem, PolicyRow, TaskRow } from '@vigil/read-model';
import { byName } from '@vigil/read-model/names';
import type { Client } from './client.ts';

/** What the dashboard has names of, as arguments and options call it. */
export const NAME_KINDS = ['agent', 'alert', 'case', 'channel', 'item', 'matcher', 'policy', 'task'] as const;
export type NameKind = (typeof NAME_KINDS)[number];

type Asked = Pick<Client, 'get'>;

/** The most names of a list: a person who wants another one types more of it, or looks at the list. */
const MOST = '1000';
/** Closed cases are looked at while they are new. */
const CLOSED_CASES = '100';
/** A channel is known by its deliveries. */
const DELIVERED_ALERTS = '200';

/** All agents in few bytes. */
const agents = async ({ get }: Asked): Promise<readonly string[]> => {
  type Cells = { readonly fields: readonly string[]; readonly agents: readonly (readonly unknown[])[] };
  const cells = await get<Cells>('/v1/fleet/cells');
  const place = cells.fields.indexOf('agentId');
  return cells.agents.map((row) => String(row[place]));
};

/** The open ones: of these the id, as the agent or the task of an alert may have several. */
const alerts = async ({ get }: Asked): Promise<readonly string[]> => {
  const answer = await get<{ readonly alerts: readonly AlertRow[] }>('/v1/alerts', { open: 'true', limit: MOST });
  return answer.alerts.map(({ alertId }) => alertId);
};

const cases = async ({ get }: Asked): Promise<readonly string[]> => {
  type Cases = { readonly cases: readonly CaseRow[] };
  const answers = await Promise.all([
    get<Cases>('/v1/cases', { open: 'true', limit: MOST }),
    get<Cases>('/v1/cases', { limit: CLOSED_CASES }),
  ]);
  return answers.flatMap((answer) => answer.cases.map(({ caseId }) => caseId));
};

const channels = async ({ get }: Asked): Promise<readonly string[]> => {
  const { alerts } = await get<{ readonly alerts: readonly AlertRow[] }>('/v1/alerts', { limit: DELIVERED_ALERTS });
  return alerts.flatMap(({ deliveries }) => deliveries.map(({ sink }) => sink));
};

const items = async ({ get }: Asked): Promise<readonly string[]> => {
  const { inbox } = await get<{ readonly inbox: readonly InboxItem[] }>('/v1/inbox', { limit: MOST });
  return inbox.map(({ id }) => id);
};

/** What an open alert can be silenced by. */
const matchers = async ({ get }: Asked): Promise<readonly string[]> => {
  const answer = await get<{ readonly alerts: readonly AlertRow[] }>('/v1/alerts', { open: 'true', limit: MOST });
  return answer.alerts.flatMap(({ agentId, taskId, caseId, route }) =>
    Object.entries({ agent: agentId, task: taskId, case: caseId, route }).flatMap(([field, value]) =>
      value === null ? [] : [`${field}=${value}`],
    ),
  );
};

const policies = async ({ get }: Asked): Promise<readonly string[]> => {
  const answer = await get<{ readonly policies: readonly PolicyRow[] }>('/v1/policies', { limit: MOST });
  return answer.policies.map(({ name }) => name);
};

const tasks = async ({ get }: Asked): Promise<readonly string[]> => {
  const answer = await get<{ readonly tasks: readonly TaskRow[] }>('/v1/tasks', { limit: MOST });
  return answer.tasks.map(({ taskId }) => taskId);
};

const LISTS: Readonly<Record<NameKind, (client: Asked) => Promise<readonly string[]>>> = {
  ...{ agent: agents, alert: alerts, case: cases, channel: channels, item: items, policy: policies, task: tasks },
  matcher: matchers,
};

/** One word of any shell, as it stands. Agents choose their names: another one may do something on the line of a person. */
const isWord = (name: string): boolean => /^[\p{L}\p{N}_./][\p{L}\p{N}_./:@+,%=-]*$/u.test(name);

/** The names that a shell completes, each once. */
export const namesOf = async (client: Asked, kind: NameKind): Promise<readonly string[]> =>
  [...new Set(await LISTS[kind](client))].filter(isWord).toSorted(byName);
