import type { AgentRow, Knowledge } from '@vigil/read-model';
import { byName } from '@vigil/read-model/names';
import { stateText } from '../knowledge.ts';
import { ageText, type Column, clockTime, heightOf, orDash, paintState, table, type View } from '../view.ts';
import { withheldText } from './cases.ts';

/** A terminal of so many columns has room for the age of the last heartbeat, and of so many for the time of the next. */
const WIDE = 120;
const WIDER = 140;

const heartbeatColumn = (view: View): Column<AgentRow> => ({
  title: 'LAST HEARTBEAT',
  of: ({ lastHeartbeatAt }) => (lastHeartbeatAt === null ? '-' : `${ageText(view, lastHeartbeatAt)} ago`),
  leftOut: 2,
});

/** When its next heartbeat is due by the interval that it reports, epoch milliseconds; null: it has ended, or reports none. */
const expectedBy = ({ state, lastHeartbeatAt, intervalMs }: AgentRow): number | null =>
  state === 'TERMINATED' || lastHeartbeatAt === null || intervalMs === null ? null : lastHeartbeatAt + intervalMs;

const expectedText = (view: View, agent: AgentRow): string => {
  const at = expectedBy(agent);
  return at === null ? '-' : clockTime(view, at);
};

const expectedColumn = (view: View): Column<AgentRow> => ({
  title: 'EXPECTED BY',
  of: (agent) => expectedText(view, agent),
  leftOut: 1,
});

const columns = (view: View, isNow: boolean): readonly Column<AgentRow>[] => [
  { title: 'AGENT', of: ({ agentId }) => agentId },
  { title: 'STATE', of: ({ state }) => stateText(state, isNow), paint: (text) => paintState(view, text) },
  {
    title: 'EXEMPT',
    of: ({ exemption }) => orDash(exemption),
    paint: (text) => (text === '-' ? text : view.paint.cyan(text)),
    leftOut: 3,
  },
  { title: 'SINCE', of: ({ since }) => (since === null ? '-' : ageText(view, since)), leftOut: 5 },
  ...(view.width < WIDE ? [] : [heartbeatColumn(view)]),
  ...(view.width < WIDER ? [] : [expectedColumn(view)]),
  { title: 'TASK', of: ({ taskId }) => orDash(taskId), leftOut: 4 },
  { title: 'REASON', of: reasonOf, rest: true, leftOut: 6 },
];

const reasonOf = (agent: AgentRow): string => {
  const { caseWaiting, caseWithheld, reason, endReason, exitCode, state, phase, waitingFor } = agent;
  if (state === 'TERMINATED') return endText({ reason, endReason, exitCode });
  if (caseWithheld) return `withheld: ${withheldText(caseWithheld)}`;
  if (caseWaiting) return `waits for a decision: ${orDash(reason)}`;
  if (asksPeople(agent) && waitingFor?.text) return `asks: ${waitingFor.text}`;
  return state === 'HEALTHY' ? orDash(phase) : orDash(reason);
};

const endText = ({ endReason, reason, exitCode }: Pick<AgentRow, 'endReason' | 'reason' | 'exitCode'>): string => {
  if (endReason === 'crashed' && exitCode !== null) return `crashed, code ${exitCode}`;
  return endReason === 'explicit' ? orDash(reason).replace(/^ended: /, '') : orDash(endReason ?? reason);
};

/** Whether a case of it or its client waits for a person. */
const asksPeople = ({ caseWaiting, exemption, waitingFor }: AgentRow): boolean =>
  caseWaiting ||
  (exemption === 'awaiting_input' && (waitingFor?.kind === 'permission' || waitingFor?.kind === 'question'));

const urgency = (agent: AgentRow): number => {
  if (asksPeople(agent)) return 0;
  if (agent.unhealthy) return 1;
  return agent.state === 'TERMINATED' ? 3 : 2;
};

/** What needs a person first, then what is unhealthy, then those that work, then those that have ended; by name in each. */
export const byUrgency = (agents: readonly AgentRow[]): readonly AgentRow[] =>
  agents.toSorted((one, other) => urgency(one) - urgency(other) || byName(one.agentId, other.agentId));

const moreLine = (rest: readonly AgentRow[]): string =>
  `… and ${rest.length} more, ${rest.filter(({ unhealthy }) => unhealthy).length} of them unhealthy: --all shows them`;

/**
 * `isNow`: the states are the present ones, not those of an earlier time. `fits`: how many lines of the terminal there are for
 * the table with its heading, wrapped ones counted; agents beyond them are a count, and at least one is shown.
 */
export const agentsTable = (view: View, agents: readonly AgentRow[], isNow: boolean, fits: number): string[] => {
  const ordered = byUrgency(agents);
  const linesOf = (count: number): string[] => {
    const rest = ordered.slice(count);
    const rows = table(view, columns(view, isNow), ordered.slice(0, count), 'No agents.');
    return rest.length === 0 ? rows : [...rows, view.paint.dim(moreLine(rest))];
  };
  for (let count = Math.min(ordered.length, fits); count > 1; count -= 1) {
    const lines = linesOf(count);
    if (heightOf(view, lines) <= fits) return lines;
  }
  return linesOf(Math.min(ordered.length, 1));
};

const waitingColumns = (view: View): readonly Column<AgentRow>[] => [
  { title: 'AGENT', of: ({ agentId }) => agentId },
  { title: 'WAITS', of: ({ exemptionSince }) => (exemptionSince === null ? '-' : ageText(view, exemptionSince)) },
  { title: 'SINCE', of: ({ exemptionSince }) => (exemptionSince === null ? '-' : clockTime(view, exemptionSince)) },
  { title: 'TASK', of: ({ taskId }) => orDash(taskId) },
  { title: 'FOR', of: ({ waitingFor }) => orDash(waitingFor?.kind ?? null) },
  { title: 'ASKED', of: ({ waitingFor, phase }) => orDash(waitingFor?.text ?? phase), rest: true },
];

/** Agents that wait for a person, in the given order: since when, and their question. */
export const waitingTable = (view: View, agents: readonly AgentRow[]): string[] =>
  table(view, waitingColumns(view), agents, 'No agent waits for a person.');

export const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** A hold is over when its time has run out: no event reports that. */
export const isHeld = ({ now }: Pick<View, 'now'>, { held, heldUntil }: AgentRow): boolean =>
  held && (heldUntil === null || heldUntil > now);

/** What it reports, then what its terminal shows. An older dashboard sends no terminal errors. */
const errorsOf = ({ errors, terminalErrors }: AgentRow): AgentRow['errors'] => [...errors, ...(terminalErrors ?? [])];

/**
 * The fields of the status answer that botbox defines (agent, status, last_output, errors), and Vigil's own beside
 * them.
 */
export const agentJson = (
  { now }: Pick<View, 'now'>,
  agent: AgentRow,
  { upTo, blindSince }: Pick<Knowledge, 'upTo' | 'blindSince'>,
): object => ({
  agent: agent.agentId,
  status: agent.state.toLowerCase(),
  last_output: iso(agent.lastOutputAt),
  errors: errorsOf(agent).map(({ message, errorClass, count }) => ({ message, class: errorClass, count })),
  reason: agent.reason,
  evidence: agent.evidence,
  exemption: agent.exemption,
  waiting_for: agent.waitingFor,
  since: iso(agent.since),
  end_reason: agent.endReason,
  instance: agent.instanceId,
  task: agent.taskId,
  runtime: agent.runtimeId,
  host: agent.host,
  labels: agent.labels,
  attempt: agent.attempt,
  last_heartbeat: iso(agent.lastHeartbeatAt),
  expected_by: iso(expectedBy(agent)),
  phase: agent.phase,
  held: isHeld({ now }, agent),
  case: agent.caseId,
  withheld: agent.caseWithheld,
  policy: agent.policyName === null ? null : { name: agent.policyName, hash: agent.policyHash },
  as_of: iso(upTo),
  blind_since: iso(blindSince),
});

/** One agent in a few lines. */
export const agentLines = (view: View, agent: AgentRow, isNow: boolean): string[] => {
  const since = agent.since === null ? '' : ` for ${ageText(view, agent.since)}`;
  const heartbeat = agent.lastHeartbeatAt === null ? 'none' : `${ageText(view, agent.lastHeartbeatAt)} ago`;
  const facts: readonly (readonly [string, string])[] = [
    ['reason', orDash(agent.reason)],
    ['exempt', orDash(agent.exemption)],
    ...(agent.waitingFor
      ? ([['waits for', `${agent.waitingFor.kind}: ${orDash(agent.waitingFor.text)}`]] as const)
      : []),
    ['task', orDash(agent.taskId)],
    ['phase', `${orDash(agent.phase)}, ${orDash(agent.progress)}`],
    [
      'heartbeat',
      expectedBy(agent) === null ? heartbeat : `${heartbeat}, the next expected by ${expectedText(view, agent)}`,
    ],
    ['case', orDash(agent.caseId)],
    ...(agent.caseWithheld ? ([['withheld', withheldText(agent.caseWithheld)]] as const) : []),
    ...(isHeld(view, agent) ? ([['held', `by ${orDash(agent.heldBy)}: ${orDash(agent.heldWhy)}`]] as const) : []),
    ...errorsOf(agent).map(
      ({ message, errorClass, count }) => ['error', `${orDash(message ?? errorClass)} (×${count})`] as const,
    ),
  ];
  return [
    `${view.paint.bold(agent.agentId)} ${paintState(view, stateText(agent.state, isNow))}${since}`,
    ...facts.map(([name, text]) => `  ${view.paint.dim(name.padEnd(10))} ${text}`),
  ];
};
