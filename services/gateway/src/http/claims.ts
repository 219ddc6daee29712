import type { Heartbeat } from '@vigil/events';
import { matches } from '@vigil/policy';
import type { SessionIdentity } from '../sessions/sessions.ts';
import type { AgentRegistry } from '../state/agent-registry.ts';
import { Problem } from './problem.ts';
import type { RuntimeReport } from './receipts.ts';
import type { TokenClaims } from './token-signing.ts';
import type { Bearer, Principal } from './tokens.ts';

/** A value that a token does not permit. `option`: what `vigil token create` needs so that a token does. */
type Outside = {
  readonly field: string;
  readonly value: string | number;
  readonly claim: Claim;
  readonly option: string;
};
type Claim = 'tasks' | 'labels' | 'policies' | 'capacity';

/** What a report or a session states about an agent. */
type Stated = Pick<Heartbeat, 'task_id' | 'policy' | 'labels' | 'parent_agent_id'>;

type Known = { readonly agentRegistry: Pick<AgentRegistry, 'of'>; readonly now: () => number };

/** Only a runtime is trusted to name its host. The SDK sets this label for every agent. */
const HOST = 'host';
/** Labels that Vigil's clients set for sub-agents. */
const PARENT_TASK = 'parent_task';
const AGENT_TYPE = 'agent_type';

/**
 * A heartbeat without the host that an agent's token does not permit. The agent has not chosen that label, so it is
 * no reason to refuse the heartbeat.
 */
export const withoutHost = <T extends Pick<Heartbeat, 'labels'>>(principal: Principal, heartbeat: T): T => {
  if (principal.kind !== 'agent' || Object.hasOwn(principal.labels, HOST)) return heartbeat;
  const { [HOST]: _, ...labels } = heartbeat.labels;
  return { ...heartbeat, labels };
};

/** Throws Problem if a heartbeat names a task, label or policy that the token does not permit. `index`: its place in a list. */
export const authorizeStated = (principal: Principal, stated: Stated, index: number | null): void => {
  if (principal.kind === 'operator') return;
  refuse(
    principal,
    taskOutside(principal, 'task_id', stated.task_id) ??
      policyOutside(principal, stated.policy) ??
      labelsOutside(principal, stated.labels, stated.parent_agent_id !== null, 'labels'),
    index,
  );
};

/**
 * Throws Problem if a session is not the principal's, before anything of it is remembered: later reports of a session
 * are completed from what is remembered.
 */
export const authorizeSession = (principal: Principal, session: SessionIdentity): void => {
  if (principal.kind === 'operator') return;
  const { kind, name } = principal;
  if (kind === 'runtime') throw notYours(principal, 'runtime_id', null, null);
  if (session.agentId !== name) throw notYours(principal, 'agent_id', session.agentId, null);
  const { taskId, policy, labels } = withoutHost(principal, session);
  authorizeStated(principal, { task_id: taskId, policy, labels, parent_agent_id: null }, null);
};

/** Throws Problem if the heartbeat of an agent names a runtime that does not run it. */
const authorizeRuntime = (
  principal: Bearer,
  { runtime_id: runtimeId }: Pick<Heartbeat, 'runtime_id'>,
  { agentRegistry, now }: Known,
  index: number | null,
): void => {
  if (principal.kind === 'runtime' || runtimeId === null) return;
  if (agentRegistry.of(principal.name, now())?.runtimeId !== runtimeId)
    throw notYours(principal, 'runtime_id', runtimeId, index);
};

/** Throws Problem if a heartbeat names a runtime or a parent that is not the principal's. */
export const authorizeRelations = (
  principal: Principal,
  heartbeat: Pick<Heartbeat, 'agent_id' | 'parent_agent_id' | 'runtime_id'>,
  known: Known,
  index: number | null,
): void => {
  if (principal.kind === 'operator') return;
  authorizeRuntime(principal, heartbeat, known, index);
  const { agent_id: agentId, parent_agent_id: parent } = heartbeat;
  if (parent === null) return;
  const isOwn =
    principal.kind === 'agent'
      ? parent === principal.name || agentId.startsWith(`${parent}:`)
      : runsHere(principal, parent, known);
  if (!isOwn) throw notYours(principal, 'parent_agent_id', parent, index);
};

/** A runtime announces the agents that run with it; one that has moved meanwhile does not refuse the announcement. */
export const withOwnAgents = (principal: Principal, report: RuntimeReport, known: Known): RuntimeReport => {
  if (principal.kind !== 'runtime' || report.type !== 'RUNTIME_ANNOUNCED') return report;
  const agents = report.payload.agents.filter((agentId) => runsHere(principal, agentId, known));
  return { ...report, payload: { ...report.payload, agents } };
};

/** An agent without a report so far belongs to the first that reports it. */
const runsHere = ({ name }: TokenClaims, agentId: string, { agentRegistry, now }: Known): boolean => {
  const instance = agentRegistry.of(agentId, now());
  return instance === null || !instance.present || instance.runtimeId === name;
};

const notYours = ({ kind, name }: TokenClaims, field: string, value: string | null, index: number | null): Problem =>
  new Problem(
    403,
    'not_yours',
    `${field} is ${JSON.stringify(value)}: the token belongs to ${kind} ${name} and permits reports about that ${kind} only`,
    { field, index },
  );

/** Throws Problem if a report names a task, label or capacity that the token does not permit. `index`: its place in a list. */
export const authorizeReported = (
  principal: Principal,
  { type, payload }: RuntimeReport,
  index: number | null,
): void => {
  if (principal.kind === 'operator') return;
  switch (type) {
    case 'ORDER_RECEIPT':
    case 'SPAWN_RECEIPT':
      // Such a receipt names what its order names.
      return;
    case 'AGENT_EXITED':
      refuse(
        principal,
        taskOutside(principal, 'taskId', payload.taskId) ??
          policyOutside(principal, payload.policy) ??
          labelsOutside(principal, payload.labels, true, 'labels'),
        index,
      );
      return;
    case 'TERMINAL_USED':
      refuse(principal, taskOutside(principal, 'taskId', payload.taskId), index);
      return;
    case 'RUNTIME_ANNOUNCED':
      refuse(
        principal,
        capacityOutside(principal, payload.capacity) ??
          labelsOutside(principal, { ...payload.labels, [HOST]: payload.host }, false, 'labels') ??
          templateOutside(principal, payload.templates),
        index,
      );
  }
};

const isMatched = (patterns: readonly string[] | undefined, text: string): boolean =>
  patterns?.some((pattern) => matches(pattern, text)) ?? false;

const taskOutside = ({ tasks }: TokenClaims, field: string, task: string | null): Outside | null =>
  task === null || isMatched(tasks, task)
    ? null
    : { field, value: task, claim: 'tasks', option: `--tasks ${quoted(task)}` };

const policyOutside = ({ policies }: TokenClaims, policy: string | null): Outside | null =>
  policy === null || policies.includes(policy)
    ? null
    : { field: 'policy', value: policy, claim: 'policies', option: `--policy ${quoted(policy)}` };

const labelsOutside = (
  claims: TokenClaims,
  labels: Readonly<Record<string, string>>,
  isSubagent: boolean,
  field: string,
): Outside | null => {
  for (const [name, value] of Object.entries(labels)) {
    if (isSubagent && name === AGENT_TYPE) continue;
    if (isSubagent && name === PARENT_TASK) {
      const outside = taskOutside(claims, `${field}.${name}`, value);
      if (outside !== null) return outside;
      continue;
    }
    const patterns = Object.hasOwn(claims.labels, name) ? claims.labels[name] : undefined;
    if (claims.kind === 'runtime' && name === HOST && patterns === undefined) continue;
    if (!isMatched(patterns, value))
      return { field: `${field}.${name}`, value, claim: 'labels', option: `--label ${quoted(`${name}=${value}`)}` };
  }
  return null;
};

const capacityOutside = (claims: TokenClaims, capacity: number): Outside | null =>
  capacity <= claims.capacity
    ? null
    : { field: 'capacity', value: capacity, claim: 'capacity', option: `--capacity ${capacity}` };

type Template = Extract<RuntimeReport, { readonly type: 'RUNTIME_ANNOUNCED' }>['payload']['templates'][number];

/**
 * A template may be for some of the tasks that the token permits. A pattern that matches another as a text matches
 * every task of that one too: its own `*` is matched by a `*` only. The labels of a template count as the runtime's, so they need the same claims.
 */
const templateOutside = (claims: TokenClaims, templates: readonly Template[]): Outside | null => {
  for (const [index, { task, labels }] of templates.entries()) {
    const at = `templates.${index}`;
    const outside = taskOutside(claims, `${at}.task`, task) ?? labelsOutside(claims, labels, false, `${at}.labels`);
    if (outside !== null) return outside;
  }
  return null;
};

const quoted = (text: string): string => (/^[\w.:/=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const permitted = (claims: TokenClaims, claim: Claim): string => {
  switch (claim) {
    case 'tasks':
      return listed(claims.tasks);
    case 'policies':
      return listed(claims.policies);
    case 'capacity':
      return String(claims.capacity);
    case 'labels':
      return listed(labelPairs(claims));
  }
};

const listed = (values: readonly string[]): string => (values.length === 0 ? 'none' : values.join(', ')).slice(0, 300);

const labelPairs = ({ labels }: TokenClaims): readonly string[] =>
  Object.entries(labels).flatMap(([name, values]) => values.map((value) => `${name}=${value}`));

/** The command for a token that permits the same as this one, and the value. */
const commandFor = (claims: TokenClaims, { claim, option }: Outside): string =>
  [
    `vigil token create ${claims.kind} ${claims.name}`,
    ...claims.tasks.map((task) => `--tasks ${quoted(task)}`),
    ...labelPairs(claims).map((pair) => `--label ${quoted(pair)}`),
    ...claims.policies.map((policy) => `--policy ${quoted(policy)}`),
    ...(claim === 'capacity' || claims.capacity === 0 ? [] : [`--capacity ${claims.capacity}`]),
    option,
  ].join(' ');

const refuse = (claims: Bearer, outside: Outside | null, index: number | null): void => {
  if (outside === null) return;
  const { field, value, claim } = outside;
  const { kind, name } = claims;
  throw new Problem(
    403,
    'outside_claims',
    `${field} is ${JSON.stringify(value)}: the token of ${kind} ${name} permits ${claim} ${permitted(claims, claim)}; create one that permits it: ${commandFor(claims, outside)}`,
    { field, index },
  );
};
