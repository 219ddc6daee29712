import type { AgentRow } from './queries/agents.ts';
import type { CaseRow } from './queries/cases.ts';
import type { TicketRow } from './queries/findings.ts';
import type { AlertRow, FleetRow } from './queries/fleet.ts';
import type { TaskRow } from './queries/tasks.ts';
import type { ReadModel } from './read-model.ts';

/** One thing that waits for a person. Times are epoch milliseconds. */
export type InboxItem = {
  /** the same in each view: `case/…`, `agent/…`, `task/…`, `ticket/…`, `brake` */
  readonly id: string;
  readonly kind: 'case' | 'permission' | 'question' | 'review' | 'ticket' | 'brake';
  readonly agentId: string | null;
  readonly taskId: string | null;
  /** what is asked; null: its sender did not report it */
  readonly text: string | null;
  readonly since: number | null;
  /** null: it waits for as long as it takes */
  readonly deadlineAt: number | null;
  /** what happens at the deadline without an answer; null: nothing */
  readonly atDeadline: string | null;
  /** the answers that it takes, and the command of each */
  readonly options: readonly { readonly name: string; readonly command: string }[];
};

export type InboxSources = {
  readonly cases: readonly CaseRow[];
  /** those that wait for a person */
  readonly agents: readonly AgentRow[];
  /** those in review */
  readonly tasks: readonly TaskRow[];
  readonly tickets: readonly TicketRow[];
  /** the unresolved ones */
  readonly alerts: readonly AlertRow[];
  readonly fleet: FleetRow;
};

const WHY = '--why "…"';
const noDeadline = { deadlineAt: null, atDeadline: null };

const ofCase = (one: CaseRow): InboxItem => ({
  id: `case/${one.caseId}`,
  kind: 'case',
  agentId: one.agentId,
  taskId: one.taskId,
  text: one.escalationReason,
  since: one.escalationAt,
  deadlineAt: one.escalationDeadlineAt,
  atDeadline: one.escalationDeadlineAt === null ? null : one.escalationOnTimeout,
  options: one.escalationOptions.map((name) => ({ name, command: `vigil case decide ${one.caseId} ${name} ${WHY}` })),
});

/** An idle prompt asks nothing. The client of an agent takes the answer, on its terminal. */
const ofAgent = ({ agentId, taskId, waitingFor, exemptionSince }: AgentRow): readonly InboxItem[] => {
  if (waitingFor?.kind !== 'permission' && waitingFor?.kind !== 'question') return [];
  const { kind, text } = waitingFor;
  const options = [{ name: 'attach', command: `vigil attach ${agentId} --write` }];
  return [{ id: `agent/${agentId}`, kind, agentId, taskId, text, since: exemptionSince, ...noDeadline, options }];
};

const REVIEW = ['retry', 'abandon', 'reset'];

const ofTask = ({ taskId, agentId, recoveryReason, recoveryAt }: TaskRow): InboxItem => ({
  id: `task/${taskId}`,
  kind: 'review',
  agentId,
  taskId,
  text: recoveryReason,
  since: recoveryAt,
  ...noDeadline,
  options: REVIEW.map((name) => ({ name, command: `vigil task review ${taskId} ${name} ${WHY}` })),
});

/** A ticket waits while its alert is neither over nor acknowledged. */
const ofTicket = (ticket: TicketRow, alerts: readonly AlertRow[]): readonly InboxItem[] => {
  const { ticketId, agentId, taskId, alertKey, analysis, answeredAt } = ticket;
  const alert = alerts.find((one) => one.alertKey === alertKey && one.acknowledgedAt === null);
  if (ticket.answer !== 'intervene' || alert === undefined) return [];
  const options = [{ name: 'acknowledge', command: `vigil alert ack ${alert.alertId} ${WHY}` }];
  return [
    {
      id: `ticket/${ticketId}`,
      kind: 'ticket',
      agentId,
      taskId,
      text: analysis,
      since: answeredAt,
      ...noDeadline,
      options,
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
          text: [brakeScope, brakeWhy].filter((part) => part !== null).join(': '),
          since: brakeAt,
          ...noDeadline,
          options: [{ name: 'lift', command: `vigil brake lift ${WHY}` }],
        },
      ]
    : [];

/** Everything that waits for a person: the earliest deadline first, then what has waited longest. */
export const inboxOf = ({ cases, agents, tasks, tickets, alerts, fleet }: InboxSources): readonly InboxItem[] =>
  [
    ...ofFleet(fleet),
    ...cases.filter(({ waiting }) => waiting).map(ofCase),
    ...agents.flatMap(ofAgent),
    ...tasks.map(ofTask),
    ...tickets.flatMap((ticket) => ofTicket(ticket, alerts)),
  ].toSorted(
    (one, other) =>
      (one.deadlineAt ?? Number.POSITIVE_INFINITY) - (other.deadlineAt ?? Number.POSITIVE_INFINITY) ||
      (one.since ?? 0) - (other.since ?? 0) ||
      (one.id < other.id ? -1 : 1),
  );

const TICKETS = 1000;

export const inbox = async (model: ReadModel): Promise<readonly InboxItem[]> => {
  const [cases, agents, tasks, tickets, alerts, fleet] = await Promise.all([
    model.cases({ open: true }),
    model.agents({ waiting: true }),
    model.tasks({ review: true }),
    model.tickets({ limit: TICKETS }),
    model.alerts({ open: true }),
    model.fleet(),
  ]);
  return inboxOf({ cases, agents, tasks, tickets, alerts, fleet });
};
