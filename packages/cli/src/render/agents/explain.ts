import type { AgentRow, BreakerRow, Entry, Explanation, OrderRow, SignalFigure, TicketRow } from '@vigil/read-model';
import { evidenceName, isNotRoutine, listed, orderTarget, trailLine } from '../describe.ts';
import { alertLine } from '../fleet/alerts.ts';
import { stateText } from '../knowledge.ts';
import { isIn, type Period } from '../period.ts';
import { ageText, clockTime, orDash, paintState, table, type View } from '../view.ts';
import { isHeld } from './agents.ts';
import { caseFacts, questionLines } from './cases.ts';
import { onePerHold } from './holds.ts';
import { cooldownLines, optionLines } from './options.ts';
import { checkpointLine, readable, recoveryLine } from './tasks.ts';

type Part = { readonly title: string; readonly lines: readonly string[] };

/** How much of an explanation is shown. */
export type Extent = {
  /** every signal, and all that happened; otherwise the signals that fire or soon will, and the newest of what happened */
  readonly all: boolean;
  /** what happened in this time */
  readonly period: Period;
  /** the state is the present one, not that of an earlier time */
  readonly isNow: boolean;
};

/** Why an agent is in its state, from the reason that matched to the outcome. Each event is shown once. */
export const explainLines = (view: View, explanation: Explanation, extent: Extent): string[] => {
  const parts: readonly Part[] = [
    { title: 'Signals', lines: signalLines(view, explanation, extent) },
    { title: 'Options', lines: optionsPart(view, explanation) },
    { title: 'What happened', lines: storyLines(view, explanation, extent) },
    { title: 'Last output', lines: lastOutputLines(explanation.agent) },
    {
      title: 'Cases',
      lines: explanation.cases.flatMap((found) => [...caseFacts(view, found), ...questionLines(view, found)]),
    },
    { title: 'Orders outside cases', lines: explanation.orders.map((order) => orderLine(view, order)) },
    { title: 'Recoveries', lines: explanation.recoveries.map((recovery) => recoveryLine(view, recovery)) },
    { title: 'Checkpoints', lines: checkpointLines(view, explanation) },
    { title: 'Breakers', lines: explanation.breakers.map((breaker) => breakerLine(view, breaker)) },
    { title: 'Tickets', lines: explanation.tickets.map((ticket) => ticketLine(view, ticket)) },
    { title: 'Alerts', lines: explanation.alerts.map((alert) => alertLine(view, alert)) },
  ];
  const shown = parts.filter(({ lines }) => lines.length > 0);
  return [
    ...stateLines(view, explanation.agent, extent),
    ...recoveryState(explanation.task),
    ...(explanation.notes ?? []).map((note) => `  note       ${note}`),
    ...shown.flatMap(({ title, lines }) => ['', view.paint.bold(title), ...lines]),
  ];
};

/** An older dashboard answers without options. */
const optionsPart = (view: View, { agent, options = null, story }: Explanation): readonly string[] => [
  ...optionLines(view, agent.agentId, options),
  ...cooldownLines(view, options, story),
];

const stateLines = (view: View, agent: AgentRow, { isNow }: Extent): string[] => {
  const since = agent.since === null ? '' : ` since ${clockTime(view, agent.since)} (${ageText(view, agent.since)})`;
  const state = paintState(view, stateText(agent.state, isNow));
  return [
    `${view.paint.bold(agent.agentId)} ${isNow ? `is ${state}` : state}${since}`,
    `  because    ${agent.reason ?? (agent.state === 'HEALTHY' ? 'no signal fires' : '-')}`,
    ...agent.evidence.map(evidenceLine),
    `  exempt     ${exemptionText(view, agent)}`,
    ...(isHeld(view, agent) ? [`  held       by ${orDash(agent.heldBy)}: ${orDash(agent.heldWhy)}`] : []),
    `  policy     ${agent.policyName === null ? '-' : `${agent.policyName} ${orDash(agent.policyHash)}`}`,
    `  task       ${orDash(agent.taskId)}   instance ${orDash(agent.instanceId)}   runtime ${orDash(agent.runtimeId)}`,
    `  heartbeat  ${agent.lastHeartbeatAt === null ? 'none' : `${ageText(view, agent.lastHeartbeatAt)} ago`}: ${orDash(agent.phase)}, ${orDash(agent.progress)}`,
    `  sender     ${senderText(agent)}`,
    `  tokens     ${agent.tokens === null || agent.tokens === 0 ? 'no use reported' : `${agent.tokens} used`}`,
    ...(hasEnded(agent) ? [`  ended      ${exitText(agent)}`] : []),
  ];
};

/** The reported end is that of the present instance, not of an earlier one. */
const hasEnded = ({ exitReason, exitAt, instanceSince }: AgentRow): boolean =>
  exitReason !== null && (exitAt === null || instanceSince === null || exitAt >= instanceSince);

const OUTPUT_SHOWN = 10;

/** The last lines of an agent that has ended. Blank lines at the end are left out. */
const lastOutputLines = (agent: AgentRow): readonly string[] => {
  if (!hasEnded(agent)) return [];
  const end = agent.exitLastOutput.findLastIndex((line) => line.trim() !== '') + 1;
  return agent.exitLastOutput.slice(Math.max(0, end - OUTPUT_SHOWN), end).map((line) => `  ${line}`);
};

/** Of the present instance: one that has ended without a heartbeat has no sender. */
const senderText = ({ verified, lastHeartbeatAt, instanceSince }: AgentRow): string => {
  if (verified !== null) return `verified at the gateway: ${verified}`;
  const isOfNow = lastHeartbeatAt !== null && lastHeartbeatAt >= (instanceSince ?? lastHeartbeatAt);
  return isOfNow ? 'not verified: it sends directly to Kafka' : '-';
};

/** The newest lines of what happened, where not all is shown. Routine is not among them. */
const STORY_SHOWN = 40;

/** What happened, with the orders and receipts of its cases, oldest first; an event that both have is one entry. */
const happened = ({ story, cases }: Explanation): readonly Entry[] => {
  const trails = cases.flatMap(({ trail }) => trail);
  const ids = new Set(trails.map(({ eventId }) => eventId));
  return [...story.filter(({ eventId }) => !ids.has(eventId)), ...trails].toSorted((one, other) => one.at - other.at);
};

const storyLines = (view: View, explanation: Explanation, { all, period }: Extent): readonly string[] => {
  const inPeriod = happened(explanation).filter((entry) => isIn(period, entry.at));
  const entries = all ? inPeriod : onePerHold(inPeriod.filter(isNotRoutine));
  const shown = all ? entries : entries.slice(-STORY_SHOWN);
  const earlier = entries.length - shown.length;
  const more = earlier === 0 ? [] : [`  and ${earlier} earlier: vigil explain ${explanation.agent.agentId} --all`];
  return [...more, ...shown.map((entry) => trailLine(view, entry))];
};

const recoveryState = (task: Explanation['task']): string[] => {
  if (task === null || task.recovery === null) return [];
  return [`  recovery   ${readable(task.recovery)}${task.recoveryReason === null ? '' : `: ${task.recoveryReason}`}`];
};

const CHECKPOINTS_SHOWN = 5;

const checkpointLines = (view: View, { checkpoints, task }: Explanation): string[] => {
  const earlier = checkpoints.length - CHECKPOINTS_SHOWN;
  const rest = earlier > 0 ? [`  and ${earlier} earlier: vigil task show ${task?.taskId}`] : [];
  return [...checkpoints.slice(0, CHECKPOINTS_SHOWN).map((at) => checkpointLine(view, at)), ...rest];
};

const evidenceLine = (evidence: AgentRow['evidence'][number]): string => {
  const { words, value, limit } = evidence;
  const figure = value === null ? '' : ` [${value}${limit === null ? '' : ` of ${limit}`}]`;
  return `  evidence   ${evidenceName(evidence)}: ${words}${figure}`;
};

const exemptionText = (view: View, agent: AgentRow): string => {
  if (agent.exemption === null) return 'no';
  const { exemptionUntil: end } = agent;
  const until = end === null || end <= view.now ? '' : ` until ${clockTime(view, end)}`;
  const what = agent.exemptionSuspends.length === 0 ? '' : `, ${listed(agent.exemptionSuspends)} not counted`;
  return `${agent.exemption}${until}${what}`;
};

const exitText = ({ exitReason, exitCode, exitSignal, exitDetails }: AgentRow): string =>
  [exitReason, exitCode === null ? null : `code ${exitCode}`, exitSignal, exitDetails].filter(Boolean).join(', ');

/** A signal that fires within this time, if nothing more is received, fires soon. */
const SOON_MS = 3_600_000;

const isSoon = ({ now }: View, { firesFrom }: SignalFigure): boolean =>
  firesFrom !== null && firesFrom <= now + SOON_MS;

const byTime = (one: SignalFigure, other: SignalFigure): number =>
  (one.firesFrom ?? Number.POSITIVE_INFINITY) - (other.firesFrom ?? Number.POSITIVE_INFINITY) ||
  (one.signal < other.signal ? -1 : 1);

const signalLines = (view: View, { signals, agent }: Explanation, { all, isNow }: Extent): readonly string[] => {
  if (signals === null || signals.length === 0) return [];
  const sorted = signals.toSorted(byTime);
  const shown = all ? sorted : sorted.filter((figure) => isSoon(view, figure));
  // An agent that has ended gets no more evidence.
  const rest = agent.state === 'TERMINATED' ? 0 : sorted.length - shown.length;
  const late = isNow ? 'do not fire' : 'were not due';
  const others = rest === 0 ? [] : [`  ${rest} ${late} within 1 h: vigil explain ${agent.agentId} --all`];
  const isAhead = shown.some(({ fires, firesFrom }) => !fires && firesFrom !== null);
  const silence = isAhead ? [isNow ? AHEAD : AHEAD_BEFORE] : [];
  return [...(shown.length === 0 ? [] : signalTable(view, shown, isNow)), ...silence, ...others];
};

const AHEAD = '  A time ahead holds if nothing more is received: each report of the agent puts it off.';
const AHEAD_BEFORE = '  A time ahead held if nothing more was received: each later report of the agent has put it off.';

const signalTable = (view: View, signals: readonly SignalFigure[], isNow: boolean): readonly string[] =>
  table<SignalFigure>(
    view,
    [
      { title: '  SIGNAL', of: ({ signal }) => `  ${signal}` },
      { title: 'CONFIDENCE', of: ({ confidence }) => confidence },
      { title: 'FIRES', of: (figure) => firesText(view, figure, isNow) },
      { title: 'EXEMPT', of: ({ suspendedBy }) => orDash(suspendedBy.join(', ')) },
      { title: 'FIGURE', of: ({ words }) => words, rest: true },
    ],
    signals,
    'No signals.',
  );

/** `since 12:00:00`, `at 12:05:00` or `no`. While the view is blind, `was firing since 12:00:00`, `was due at 12:05:00` or `was not`. */
const firesText = (view: View, { fires, firesFrom }: SignalFigure, isNow: boolean): string => {
  if (firesFrom === null) return isNow ? 'no' : 'was not';
  const at = clockTime(view, firesFrom);
  if (fires) return isNow ? `since ${at}` : `was firing since ${at}`;
  return isNow ? `at ${at}` : `was due at ${at}`;
};

const orderLine = (view: View, { issuedAt, kind, runtimeId, receipts }: OrderRow): string => {
  const became = receipts.map(({ outcome, why }) => (why === null ? outcome : `${outcome} (${why})`)).join(', ');
  const what = kind.toLowerCase().replaceAll('_', ' ');
  return `  ${view.paint.dim(clockTime(view, issuedAt))}  ${what}, to ${orderTarget(runtimeId)}: ${became || 'no receipt yet'}`;
};

export const breakerLine = (view: View, { name, state, failures, since, nextAttemptAt, trips }: BreakerRow): string => {
  const next = nextAttemptAt === null ? '' : `, next attempt ${clockTime(view, nextAttemptAt)}`;
  const failed = state === 'CLOSED' ? '' : ` after ${failures} failures`;
  return `  ${name} ${state} since ${clockTime(view, since)}${failed}${next}, opened ${trips} times`;
};

const ANSWERS = { intervene: 'people were asked in', dismissed: 'dismissed' } as const;

/** What was found, and whether people were notified. */
export const ticketLine = (
  view: View,
  { ticketId, severity, ticket, filedAt, answer, analysis }: TicketRow,
): string => {
  const at = filedAt === null ? '-' : clockTime(view, filedAt);
  const asking = answer === null ? 'not triaged yet' : `${ANSWERS[answer]}: ${orDash(analysis)}`;
  return `  ${at} ${orDash(severity)} ticket ${ticketId}: ${orDash(ticket?.cause ?? null)}; ${asking}`;
};
