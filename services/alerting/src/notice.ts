import type { AlertSeverity, Draft, PayloadOf, Topic, TriagedTicket } from '@vigil/events';

export type Notice = PayloadOf<typeof Topic.notify, 'NOTIFY'>;
export type Notify = Draft<typeof Topic.notify>;

/** Whom or what a notice is about; `of` tells apart what one task may have several of (breakers). */
export type About = {
  readonly agentId: string | null;
  readonly taskId: string | null;
  readonly episodeId?: string | null;
  readonly caseId?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly of?: string;
};
type Saying = {
  readonly severity: AlertSeverity;
  readonly title: string;
  readonly text: string;
  readonly options?: readonly string[];
  readonly deadlineAt?: number | null;
  readonly ticket?: Notice['ticket'];
};

/** People should know. */
export const raise = (route: string, about: About, saying: Saying): Notify => notice(route, about, 'raise', saying);

/** Nobody is disturbed with a ticket: said all the same, so that everybody can read why. */
export const dismiss = (route: string, about: About, severity: AlertSeverity, ticket: TriagedTicket): Notify =>
  notice(route, about, 'dismiss', {
    severity,
    title: `${about.agentId}: ticket dismissed`,
    text: ticket.analysis,
    ticket,
  });

/** People need to know no longer. */
export const resolve = (route: string, about: About, text: string): Notify =>
  notice(route, about, 'resolve', { severity: 'info', title: `${about.taskId ?? about.agentId}: over`, text });

function notice(route: string, about: About, action: 'raise' | 'resolve' | 'dismiss', saying: Saying): Notify {
  const { agentId, taskId, episodeId = null, caseId = null, labels = {} } = about;
  const alertKey = keyOf(route, about);
  const { severity, title, text, options = [], deadlineAt = null, ticket = null } = saying;
  const payload = { alertKey, agentId, taskId, episodeId, caseId, labels, route, severity, title, text, action };
  return {
    topic: 'onex.cmd.alerting.notify.v1',
    type: 'NOTIFY',
    key: alertKey,
    payload: { ...payload, options, deadlineAt, timeAgeMs: null, ticket },
  };
}

const longestKey = 128;

/** Route and task (agent where none). What is too long for a key keeps its end, where ids differ. */
function keyOf(route: string, { agentId, taskId, of }: About): string {
  const who = taskId ?? agentId ?? 'fleet';
  const what = of === undefined ? '' : `:${of.replace(/[^A-Za-z0-9._:-]/g, '-').slice(0, 40)}`;
  return `${route}:${who.slice(-(longestKey - route.length - 1 - what.length))}${what}`;
}
