import type { AgentRow, BreakerRow, Explanation, OrderRow, SignalFigure, TicketRow } from '@vigil/read-model';
import { isHeld } from './agents.ts';
import { caseLines } from './cases.ts';
import { evidenceName, listed, orderTarget, trailLine } from './describe.ts';
import { alertLine } from './fleet.ts';
import { optionLines } from './options.ts';
import { checkpointLine, readable, recoveryLine } from './tasks.ts';
import { ageText, clockTime, orDash, paintState, table, type View } from './view.ts';

type Part = { readonly title: string; readonly lines: readonly string[] };

/**
 * Why an agent stands where it stands, from the reason that matched to what became of it. `earlier`: how much happened
 * before the story begins.
 */
export const explainLines = (view: View, explanation: Explanation, earlier: number): string[] => {
  const parts: readonly Part[] = [
    { title: 'Signals', lines: signalLines(view, explanation.signals) },
    // An older dashboard answers without options.
    { title: 'Options', lines: optionLines(view, explanation.agent.agentId, explanation.options ?? null) },
    { title: 'What happened', lines: storyLines(view, explanation, earlier) },
    { title: 'Cases', lines: explanation.cases.flatMap((found) => caseLines(view, found)) },
    { title: 'Orders outside cases', lines: explanation.orders.map((order) => orderLine(view, order)) },
    { title: 'Recoveries', lines: explanation.recoveries.map((recovery) => recoveryLine(view, recovery)) },
    { title: 'Checkpoints', lines: checkpointLines(view, explanation) },
    { title: 'Breakers', lines: explanation.breakers.map((breaker) => breakerLine(view, breaker)) },
    { title: 'Tickets', lines: explanation.tickets.map((ticket) => ticketLine(view, ticket)) },
    { title: 'Alerts', lines: explanation.alerts.map((alert) => alertLine(view, alert)) },
  ];
  const shown = parts.filter(({ lines }) => lines.length > 0);
  return [
    ...standingLines(view, explanation.agent),
    ...recoveryStanding(explanation.task),
    ...(explanation.notes ?? []).map((note) => `  note       ${note}`),
    ...shown.flatMap(({ title, lines }) => ['', view.paint.bold(title), ...lines]),
  ];
};

const standingLines = (view: View, agent: AgentRow): string[] => {
  const since = agent.since === null ? '' : ` since ${clockTime(view, agent.since)} (${ageText(view, agent.since)})`;
  return [
    `${view.paint.bold(agent.agentId)} is ${paintState(view, agent.state)}${since}`,
    `  because    ${agent.reason ?? (agent.state === 'HEALTHY' ? 'no signal fires' : '-')}`,
    ...agent.evidence.map(evidenceLine),
    `  exempt     ${exemptionText(view, agent)}`,
    ...(isHeld(view, agent) ? [`  held       by ${orDash(agent.heldBy)}: ${orDash(agent.heldWhy)}`] : []),
    `  policy     ${agent.policyName === null ? '-' : `${agent.policyName} ${orDash(agent.policyHash)}`}`,
    `  task       ${orDash(agent.taskId)}   instance ${orDash(agent.instanceId)}   runtime ${orDash(agent.runtimeId)}`,
    `  heartbeat  ${agent.lastHeartbeatAt === null ? 'none' : `${ageText(view, agent.lastHeartbeatAt)} ago`}: ${orDash(agent.phase)}, ${orDash(agent.progress)}`,
    `  sender     ${senderText(agent)}`,
    `  tokens     ${agent.tokens === null || agent.tokens === 0 ? 'no use reported' : `${agent.tokens} used`}`,
    ...(agent.exitReason === null ? [] : [`  ended      ${exitText(agent)}`]),
  ];
};

const senderText = ({ verified, lastHeartbeatAt }: AgentRow): string => {
  if (verified !== null) return `verified at the gateway: ${verified}`;
  return lastHeartbeatAt === null ? '-' : 'not verified: it sends directly to Kafka';
};

const storyLines = (view: View, { agent, story }: Explanation, earlier: number): readonly string[] => {
  const more = earlier === 0 ? [] : [`  and ${earlier} earlier: vigil explain ${agent.agentId} --all`];
  return [...more, ...story.map((entry) => trailLine(view, entry))];
};

const recoveryStanding = (task: Explanation['task']): string[] => {
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
  const until = agent.exemptionUntil === null ? '' : ` until ${clockTime(view, agent.exemptionUntil)}`;
  const what = agent.exemptionSuspends.length === 0 ? '' : `, ${listed(agent.exemptionSuspends)} not counted`;
  return `${agent.exemption}${until}${what}`;
};

const exitText = ({ exitReason, exitCode, exitSignal, exitDetails }: AgentRow): string =>
  [exitReason, exitCode === null ? null : `code ${exitCode}`, exitSignal, exitDetails].filter(Boolean).join(', ');

const signalLines = (view: View, signals: Explanation['signals']): string[] => {
  if (signals === null || signals.length === 0) return [];
  return table<SignalFigure>(
    view,
    [
      { title: '  SIGNAL', of: ({ signal }) => `  ${signal}` },
      { title: 'CONFIDENCE', of: ({ confidence }) => confidence },
      { title: 'FIRES', of: (figure) => firesText(view, figure) },
      { title: 'EXEMPT', of: ({ suspendedBy }) => orDash(suspendedBy.join(', ')) },
      { title: 'FIGURE', of: ({ words }) => words, rest: true },
    ],
    signals,
    'No signals.',
  );
};

const firesText = (view: View, { fires, firesFrom }: SignalFigure): string => {
  if (firesFrom === null) return 'not as things stand';
  return fires ? `since ${clockTime(view, firesFrom)}` : `at ${clockTime(view, firesFrom)}`;
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
