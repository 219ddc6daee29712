import type { EventOf, PayloadOf, Topic, TriagedTicket } from '@vigil/events';
import type { Content } from '../alert/content.ts';
import type { Dismissed, Input } from '../alert/messages.ts';
import { DEFAULT } from '../alert/routing.ts';
import { itemOfTicket } from '../notices/notice.ts';
import { severityOf, TICKET_ROUTE } from '../notices/questions/ticket-notices.ts';

type NotifyOperator = PayloadOf<typeof Topic.controlAlerts, 'NOTIFY_OPERATOR'>;
type Requested = Extract<EventOf<typeof Topic.alert>, { type: 'QUEEN_INTERVENTION_REQUESTED' }>;

const GRAPH = 'vigil-alerting';

/** The ticket that people should review, by triage or by an explicit request for the operator. */
export const reviewOf = (input: Input): TriagedTicket | null => {
  switch (input.type) {
    case 'NOTIFY':
      return input.payload.action === 'raise' ? input.payload.ticket : null;
    case 'NOTIFY_OPERATOR': {
      const { ticket_id, analysis, urgency } = input.payload;
      return { ticket_id, analysis, severity: urgency };
    }
    case 'ASSESS_TICKET':
    case 'ACKNOWLEDGE_ALERT':
    case 'RESOLVE_ALERT':
    case 'SILENCE_ALERTS':
    case 'TEST_CHANNEL':
      return null;
  }
};

/** A ticket that triage dismisses without notifying people, and its subject. */
export const dismissedOf = ({ type, payload }: Input): Dismissed | null => {
  if (type !== 'NOTIFY' || payload.action !== 'dismiss' || payload.ticket === null) return null;
  const { alertKey, agentId, taskId, episodeId, labels, ticket } = payload;
  return { alertKey, agentId, taskId, episodeId, labels, ...ticket };
};

/** The worker is neither paused nor notified. */
export const reviewRequested = (alertKey: string, ticket: TriagedTicket): Pick<Requested, 'type' | 'payload'> => ({
  type: 'QUEEN_INTERVENTION_REQUESTED',
  payload: { ...ticket, queen_graph_id: GRAPH, queen_stream_id: alertKey },
});

const UNKNOWN: Omit<Content, 'route' | 'severity' | 'title' | 'text'> = {
  agentId: null,
  taskId: null,
  episodeId: null,
  caseId: null,
  requestId: null,
  itemId: null,
  askedAt: null,
  labels: {},
  options: [],
  questions: [],
  deadlineAt: null,
  onTimeout: null,
  checkpoint: null,
  blocked: null,
  channels: [DEFAULT],
  urgency: 'normal',
  groupWaitMs: null,
  repeatMs: null,
};

/** The content of an alert when the operator is requested: about the ticket's agent and task, if its alert is open. */
export const operatorContent = (
  known: Content | null,
  { ticket_id, analysis, urgency, by }: NotifyOperator,
): Content => {
  const title = known?.title ?? `operator asked for by ${by}, ticket ${ticket_id}`;
  const itemId = itemOfTicket({ ticket_id });
  return { ...(known ?? UNKNOWN), route: TICKET_ROUTE, severity: severityOf(urgency), title, text: analysis, itemId };
};
