import type { RequestQuestion } from '@vigil/events';
import type { AgentRow } from './queries/agents.ts';
import type { CaseRow } from './queries/cases.ts';
import type { TicketRow } from './queries/findings.ts';
import type { AlertRow, FleetRow } from './queries/fleet.ts';
import type { RequestRow } from './queries/requests.ts';
import type { TaskRow } from './queries/tasks.ts';
import type { ReadModel } from './read-model.ts';

/** One thing that waits for a person. Times are epoch milliseconds. */
export type InboxItem = {
  /** the same in each view: `case/…`, `request/…`, `agent/…`, `task/…`, `ticket/…`, `brake` */
  readonly id: string;
  readonly kind: 'case' | 'permission' | 'question' | 'review' | 'ticket' | 'brake';
  readonly agentId: string | null;
  readonly taskId: string | null;
  /** what is asked; null: its sender did not report it */
  readonly text: string | null;
  readonly since: number | null;
  /** null: it has no deadline, and waits until a person answers; that of `agent/…` always */
  readonly deadlineAt: number | null;
  /** what happens at the deadline without an answer; null: nothing */
  readonly atDeadline: string | null;
  /** what happens without an answer, in words; without a deadline, how long the item waits */
  readonly withoutAnswer: string;
  /** the answers that it takes: what an answer names, what people read, and the command */
  readonly options: readonly { readonly name: string; readonly label: string; readonly command: string }[];
  /** what an agent asks, each with its labels. Without options, an answer names each of them */
  readonly questions: readonly RequestQuestion[];
  /**
   * the command line that answers its questions, to be completed, or that opens the terminal which takes its answer;
   * null: each option has its own
   */
  readonly command: string | null;
  /** of a ticket, a blocked task, or an agent that waits in its own terminal: the alert that its answer acknowledges; null: of another item */
  readonly alertId: string | null;
};

export type InboxSources = {
  readonly cases: readonly CaseRow[];
  /** the open ones */
  readonly requests: readonly RequestRow[];
  /** of the agents: the newest one of each, where its deadline has passed */
  readonly expired: readonly RequestRow[];
  /** those that wait for a person */
  readonly agents: readonly AgentRow[];
  /** those that wait for a person */
  readonly tasks: readonly TaskRow[];
  readonly tickets: readonly TicketRow[];
  /** the unresolved ones */
  readonly alerts: readonly AlertRow[];
  readonly fleet: FleetRow;
};

/** One word of a shell. What is certainly harmless stays as it is. */
const shellQuoted = (word: string): string => (/^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

const WHY = '--why "…"';
const noDeadline = { deadlineAt: null, atDeadline: null };
const noQuestions = { questions: [], command: null };

const REMINDED = 'Its alert is repeated until a person acknowledges it.';

/** What happens at a deadline, by the name of it. */
const AT_DEADLINE: Readonly<Record<string, string>> = {
  terminate: 'terminate (the plan continues with its next step)',
  hold: 'nothing happens',
  no_decision: 'no decision, so an interactive client keeps its dialog, and a headless call is denied',
  allow: 'its policy allows it',
};

/** What happens at a deadline without an answer. */
const atDeadlineText = (atDeadline: string | null): string =>
  atDeadline === null ? 'nothing happens' : (AT_DEADLINE[atDeadline] ?? atDeadline);

/** With a full stop, where another sentence follows. */
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

const withoutFigures = (text: string): string => text.replace(/\d+/g, '#');

/** What was found, and then why people are asked. The reason alone may be that no order can be sent. */
const textOfCase = ({ evidence, escalationReason }: CaseRow): string | null => {
  const found = evidence[0]?.words ?? null;
  if (found === null || escalationReason === null) return escalationReason ?? found;
  // The figures of the first finding are older than those of the question.
  if (withoutFigures(escalationReason).includes(withoutFigures(found))) return escalationReason;
  return `${sentence(found)} ${escalationReason}`;
};

const ofCase = (one: CaseRow): InboxItem => ({
  id: `case/${one.caseId}`,
  kind: 'case',
  agentId: one.agentId,
  taskId: one.taskId,
  text: textOfCase(one),
  since: one.escalationAt,
  deadlineAt: one.escalationDeadlineAt,
  atDeadline: one.escalationDeadlineAt === null ? null : one.escalationOnTimeout,
  withoutAnswer:
    one.escalationDeadlineAt === null
      ? `nothing happens: the case waits until a person decides. ${REMINDED}`
      : atDeadlineText(one.escalationOnTimeout),
  options: one.escalationOptions.map((name) => ({
    name,
    label: name,
    command: `vigil inbox answer ${shellQuoted(`case/${one.caseId}`)} ${shellQuoted(name)} ${WHY}`,
  })),
  ...noQuestions,
  alertId: null,
});

/** One question takes other words than its labels, too. */
const questionsCommand = ({ requestId, options, questions }: RequestRow): string | null => {
  if (questions.length === 0) return null;
  const option = options.length > 0 ? '--other' : '--answer';
  const given = questions.map(({ name }) => `${option} ${shellQuoted(`${name}=…`)}`);
  return `vigil inbox answer ${shellQuoted(`request/${requestId}`)} ${given.join(' ')}`;
};

/** Its hook waits, and returns the answer to the client. */
const ofRequest = (request: RequestRow): InboxItem => ({
  id: `request/${request.requestId}`,
  kind: request.kind === 'question' ? 'question' : 'permission',
  agentId: request.agentId,
  taskId: request.taskId,
  text: request.text,
  since: request.openedAt,
  deadlineAt: request.deadlineAt,
  atDeadline: request.atDeadline,
  withoutAnswer: atDeadlineText(request.atDeadline),
  options: request.options.map(({ name, label }) => ({
    ...{
      name,
      label,
      command: `vigil inbox answer ${shellQuoted(`request/${request.requestId}`)} ${shellQuoted(name)}`,
    },
  })),
  questions: request.questions,
  command: questionsCommand(request),
  alertId: null,
});

/** How an agent is answered whose question no hook can answer: by its terminal, on its host. */
const terminalAnswer = ({ agentId, runtimeId, host }: AgentRow): string => {
  const place = host === null ? 'its host' : `its host ${host}`;
  return runtimeId === null
    ? `nothing happens: it waits until a person answers in its own terminal on ${place}`
    : `nothing happens: it waits until a person answers in its terminal on ${place}: that of \`vigil run\`, or \`vigil attach ${shellQuoted(agentId)} --write\` where it runs in the background`;
};

/**
 * Its hook reports only the tool of a permission. After the deadline of a request the agent waits for the same answer, and the
 * request has the command or file. Null: the wait began later, or is for something else.
 */
const askedWhole = (
  { instanceId, waitingFor, exemptionSince }: AgentRow,
  expired: RequestRow | undefined,
): string | null => {
  const tool = waitingFor?.text ?? null;
  if (expired === undefined || tool === null || exemptionSince === null) return null;
  const { text, kind, settledAt } = expired;
  const isSame = expired.instanceId === instanceId && kind === waitingFor?.kind && exemptionSince < (settledAt ?? 0);
  return isSame && text.startsWith(`${tool}: `) ? text : null;
};

/**
 * An idle prompt asks nothing. The client of an agent takes the answer, on its terminal, which only its runtime has. Without
 * a runtime Vigil cannot send an answer, and may not see it: an acknowledgement of the alert removes the item.
 */
const ofAgent = (
  agent: AgentRow,
  alerts: readonly AlertRow[],
  expired: RequestRow | undefined,
): readonly InboxItem[] => {
  const { agentId, taskId, waitingFor, exemptionSince, runtimeId } = agent;
  if (waitingFor?.kind !== 'permission' && waitingFor?.kind !== 'question') return [];
  const { kind } = waitingFor;
  const asked = askedWhole(agent, expired) ?? waitingFor.text;
  const question = sentence(asked ?? `It waits for a person (${kind})`);
  const text = runtimeId === null ? `${question} Answer in its own terminal.` : asked;
  const ofWait = (one: AlertRow) => one.route === 'awaiting_input' && one.agentId === agentId;
  const alert = runtimeId === null ? alerts.find(ofWait) : undefined;
  if (alert !== undefined && alert.acknowledgedAt !== null) return [];
  const id = `agent/${agentId}`;
  const command = `vigil inbox answer ${shellQuoted(id)} acknowledge ${WHY}`;
  return [
    {
      id,
      kind,
      agentId,
      taskId,
      text,
      since: exemptionSince,
      ...noDeadline,
      withoutAnswer: terminalAnswer(agent),
      options: alert === undefined ? [] : [{ name: 'acknowledge', label: 'acknowledge', command }],
      questions: [],
      command: runtimeId === null ? null : `vigil attach ${shellQuoted(agentId)} --write`,
      alertId: alert?.alertId ?? null,
    },
  ];
};

const REVIEW = ['retry', 'abandon', 'reset'];

const isInReview = ({ recovery }: TaskRow): boolean => recovery === 'REVIEW_REQUIRED';

const ofReview = ({ taskId, agentId, recoveryReason, recoveryAt }: TaskRow): InboxItem => ({
  id: `task/${taskId}`,
  kind: 'review',
  agentId,
  taskId,
  text: recoveryReason,
  since: recoveryAt,
  ...noDeadline,
  withoutAnswer: `nothing happens: the task waits until a person decides. ${REMINDED}`,
  options: REVIEW.map((name) => ({
    name,
    label: name,
    command: `vigil inbox answer ${shellQuoted(`task/${taskId}`)} ${name} ${WHY}`,
  })),
  ...noQuestions,
  alertId: null,
});

/**
 * A blocked task waits until a person acknowledges its alert. No recovery waits for a decision about it. An agent without a task is blocked under
 * its own name. A review of the same task has the answers that act, and replaces this item.
 */
const ofBlocked = (
  { alertId, route, agentId, taskId, text, raisedAt, acknowledgedAt }: AlertRow,
  reviews: readonly TaskRow[],
): readonly InboxItem[] => {
  const subject = taskId ?? agentId;
  if (route !== 'task_blocked' || subject === null || acknowledgedAt !== null) return [];
  if (reviews.some((task) => task.taskId === subject)) return [];
  const id = `task/${subject}`;
  const recover = agentId === null ? '' : ` \`vigil recover ${shellQuoted(agentId)}\` gives it to a fresh one.`;
  return [
    {
      id,
      kind: 'review',
      agentId,
      taskId,
      text: `BLOCKED: ${text ?? 'no reason is reported'}`,
      since: raisedAt,
      ...noDeadline,
      withoutAnswer: `nothing happens: it stays blocked until an agent works on it.${recover} ${REMINDED}`,
      options: [
        {
          name: 'acknowledge',
          label: 'acknowledge',
          command: `vigil inbox answer ${shellQuoted(id)} acknowledge ${WHY}`,
        },
      ],
      ...noQuestions,
      alertId,
    },
  ];
};

/** A ticket waits while its alert is neither over nor acknowledged since the ticket came. */
const ofTicket = (ticket: TicketRow, alerts: readonly AlertRow[]): readonly InboxItem[] => {
  const { ticketId, agentId, taskId, alertKey, analysis, answeredAt } = ticket;
  const isUnread = ({ acknowledgedAt }: AlertRow) => acknowledgedAt === null || acknowledgedAt < (answeredAt ?? 0);
  const alert = alerts.find((one) => one.alertKey === alertKey && isUnread(one));
  if (ticket.answer !== 'intervene' || alert === undefined) return [];
  const command = `vigil inbox answer ${shellQuoted(`ticket/${ticketId}`)} acknowledge ${WHY}`;
  return [
    {
      id: `ticket/${ticketId}`,
      kind: 'ticket',
      agentId,
      taskId,
      text: analysis,
      since: answeredAt,
      ...noDeadline,
      withoutAnswer: `the agent continues, and the ticket waits until its alert is over. ${REMINDED}`,
      options: [{ name: 'acknowledge', label: 'acknowledge', command }],
      ...noQuestions,
      alertId: alert.alertId,
    },
  ];
};

const ofFleet = ({ braked, brakeScope, brakeWhy, brakeAt }: FleetRow): readonly InboxItem[] =>
  braked
    ? [
        {
          id: 'brake',
          kind: 'brake',
          agentId: null,
          taskId: null,
          text: `${brakeScope?.replace(':', ' ') ?? 'fleet'}: ${brakeWhy ?? 'no reason is reported'}`,
          since: brakeAt,
          ...noDeadline,
          withoutAnswer: 'it lifts by itself once most of the lost agents of each incident have reported for a minute',
          options: [{ name: 'lift', label: 'lift', command: `vigil brake lift ${WHY}` }],
          ...noQuestions,
          alertId: null,
        },
      ]
    : [];

/** The place of an item in the inbox: no two have the same. */
export const inboxPlace = ({ deadlineAt, since, id }: InboxItem): readonly [number, number, string] => [
  deadlineAt ?? Number.MAX_SAFE_INTEGER,
  since ?? 0,
  id,
];

const withoutRequests = (agents: readonly AgentRow[], requests: readonly RequestRow[]): readonly AgentRow[] => {
  const asking = new Set(requests.map(({ agentId }) => agentId));
  return agents.filter(({ agentId }) => !asking.has(agentId));
};

/** Everything that waits for a person: the earliest deadline first, then what has waited longest. */
export const inboxOf = ({
  cases,
  requests,
  expired,
  agents,
  tasks,
  tickets,
  alerts,
  fleet,
}: InboxSources): readonly InboxItem[] => {
  const expiredBy = new Map(expired.map((request) => [request.agentId, request]));
  return [
    ...ofFleet(fleet),
    ...cases.filter(({ waiting }) => waiting).map(ofCase),
    ...requests.map(ofRequest),
    // A request replaces the wait that its agent reports, which is the same one.
    ...withoutRequests(agents, requests).flatMap((agent) => ofAgent(agent, alerts, expiredBy.get(agent.agentId))),
    ...tasks.filter(isInReview).map(ofReview),
    ...alerts.flatMap((alert) => ofBlocked(alert, tasks.filter(isInReview))),
    ...tickets.flatMap((ticket) => ofTicket(ticket, alerts)),
  ].toSorted((one, other) => {
    const [[deadline, since, id], [otherDeadline, otherSince, otherId]] = [inboxPlace(one), inboxPlace(other)];
    return deadline - otherDeadline || since - otherSince || (id < otherId ? -1 : 1);
  });
};

/** More than can wait. */
const ALL = 1_000_000;

export const inbox = async (model: ReadModel): Promise<readonly InboxItem[]> => {
  const [cases, requests, agents, tasks, tickets, alerts, fleet] = await Promise.all([
    model.cases({ open: true, limit: ALL }),
    model.requests({ open: true, limit: ALL }),
    model.agents({ waiting: true }),
    model.tasks({ review: true }),
    model.tickets({ waiting: true, limit: ALL }),
    model.alerts({ open: true, limit: ALL }),
    model.fleet(),
  ]);
  const expired = agents.length === 0 ? [] : await model.expiredRequests(agents.map(({ agentId }) => agentId));
  return inboxOf({ cases, requests, expired, agents, tasks, tickets, alerts, fleet });
};
