import type { AlertSeverity, Draft, EscalationTicket, PayloadOf, PolicyRef, Topic, TriagedTicket } from '@vigil/events';
import { DEFAULT, GATES_KEY } from '../alert/routing.ts';
import type { PolicyAlerts } from './policy-alerts.ts';

export type Notice = PayloadOf<typeof Topic.notify, 'NOTIFY'>;
export type Notify = Extract<Draft<typeof Topic.notify>, { readonly type: 'NOTIFY' }>;

/** The subject of a notice. `of` distinguishes several alerts of one task (breakers, waiting agents). */
export type About = {
  readonly agentId: string | null;
  readonly taskId: string | null;
  readonly episodeId?: string | null;
  readonly caseId?: string | null;
  readonly requestId?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly of?: string;
};

/**
 * `severity`: the notice's own, above any policy; absent: the policy's for the route, else `usual`, else the route's.
 * `channel`: the channel that a step names; absent: those of the route.
 */
type NoticeDetails = Partial<
  Pick<
    Notice,
    | 'options'
    | 'questions'
    | 'deadlineAt'
    | 'onTimeout'
    | 'checkpoint'
    | 'blocked'
    | 'ticket'
    | 'filed'
    | 'urgency'
    | 'afterMs'
    | 'scope'
    | 'agentIds'
    | 'itemId'
    | 'askedAt'
    | 'isPardon'
    | 'channels'
    | 'groupWaitMs'
    | 'heldFrom'
    | 'heldTo'
    | 'askedText'
    | 'isExpired'
    | 'waitSince'
  >
> & {
  readonly severity?: AlertSeverity;
  readonly usual?: AlertSeverity;
  readonly channel?: string | null;
  readonly title: string;
  readonly text: string;
};

/** A notice for people, before a policy sets its severity and its channels. */
export type Noticed = {
  readonly route: string;
  readonly about: About;
  readonly action: 'raise' | 'resolve' | 'dismiss' | 'settle' | 'inhibit' | 'release' | 'hold' | 'unhold';
  readonly details: NoticeDetails;
};

/** People should know. */
export const raise = (route: string, about: About, details: NoticeDetails): Noticed => ({
  route,
  about,
  action: 'raise',
  details,
});

/** The brake in the inbox. */
export const BRAKE_ITEM = 'brake';

/** What happens at the deadline of a request, in words. */
export const AT_DEADLINE = { no_decision: 'the client decides itself', allow: 'it is allowed' } as const;

/** A ticket in the inbox. */
export const itemOfTicket = ({ ticket_id }: Pick<TriagedTicket, 'ticket_id'>): string => `ticket/${ticket_id}`;

/** A dismissed ticket: published without a notification, so that the reason can be read. */
export const dismiss = (
  route: string,
  about: About,
  severity: AlertSeverity,
  tickets: { readonly ticket: TriagedTicket; readonly filed: EscalationTicket },
): Noticed => ({
  route,
  about,
  action: 'dismiss',
  details: {
    ...{ severity, title: `${about.agentId}: ticket dismissed`, text: tickets.ticket.analysis, ...tickets },
    itemId: itemOfTicket(tickets.ticket),
  },
});

/** A question of this case or request is answered or withdrawn: its options are removed from the alert. */
export const settle = (route: string, about: About, details: Pick<NoticeDetails, 'title' | 'text'>): Noticed => ({
  route,
  about,
  action: 'settle',
  details: { ...details, severity: 'warning' },
});

/** The same, where a person pardons the agent: the alert stays open, and is not repeated until it is raised again. */
export const settleByPardon = (
  route: string,
  about: About,
  details: Pick<NoticeDetails, 'title' | 'text'>,
): Noticed => ({
  route,
  about,
  action: 'settle',
  details: { ...details, severity: 'info', isPardon: true },
});

/** Resolves the alert. Channels get the title only from the end of a group: any other end has the title of its alert. */
export const resolve = (
  route: string,
  about: About,
  text: string,
  title = `${about.taskId ?? about.agentId ?? 'fleet'}: over`,
): Noticed => ({
  route,
  about,
  action: 'resolve',
  details: { severity: 'info', title, text },
});

/** Not for people: while the brake is on, its incident replaces the alerts of its agents. */
export const inhibit = (details: Pick<NoticeDetails, 'title' | 'text' | 'scope' | 'agentIds'>): Noticed => ({
  route: GATES_KEY,
  about: { agentId: null, taskId: null },
  action: 'inhibit',
  details,
});

export const release = (): Noticed => ({
  route: GATES_KEY,
  about: { agentId: null, taskId: null },
  action: 'release',
  details: { title: 'the brake is released', text: '' },
});

/** Not for people: alerts of a route that were raised from then on are withheld, because one alert of their group replaces them. */
export const holdRoute = (route: string, heldFrom: number, heldTo: number | null): Noticed => ({
  route: GATES_KEY,
  about: { agentId: null, taskId: null },
  action: 'hold',
  details: { title: `alerts of ${route} are one`, text: '', scope: route, heldFrom, heldTo },
});

export const releaseRoute = (route: string, heldFrom: number): Noticed => ({
  route: GATES_KEY,
  about: { agentId: null, taskId: null },
  action: 'unhold',
  details: { title: `the group of ${route} is over`, text: '', scope: route, heldFrom },
});

/**
 * The severity of a route if neither the policy nor the notice sets one (the three levels of the agent lifecycle
 * standard).
 */
const SEVERITIES: Readonly<Record<string, AlertSeverity>> = {
  stuck_agent: 'warning',
  circuit_breaker_open: 'warning',
  recovery_failed: 'critical',
};

/** Whether the policy turns the route of this notice off. A channel that a step names is notified all the same. */
const isTurnedOff = ({ route, action, details }: Noticed, policy: PolicyRef | null, alerts: PolicyAlerts): boolean =>
  action === 'raise' && (details.channel ?? null) === null && alerts.isOff(policy, route);

/** The notices that people get under a policy, with its severities and channels. */
export const notifyAll = (
  notices: readonly Noticed[],
  policy: PolicyRef | null,
  alerts: PolicyAlerts,
): readonly Notify[] =>
  notices.filter((one) => !isTurnedOff(one, policy, alerts)).map((one) => notify(one, policy, alerts));

/** With the severity and channels of the policy of the agent or task; `policy` null: without one. */
export const notify = (
  { route, about, action, details }: Noticed,
  policy: PolicyRef | null,
  alerts: Pick<PolicyAlerts, 'of'>,
): Notify => {
  const { agentId, taskId, episodeId = null, caseId = null, requestId = null, labels = {} } = about;
  const alertKey = keyOf(route, about);
  const { itemId = null, askedAt = null, isPardon = false } = details;
  const ofRoute = alerts.of(policy, route);
  const { title, text, options = [], questions = [], deadlineAt = null, ticket = null, filed = null } = details;
  const { onTimeout = null, checkpoint = null, blocked = null, channel = null } = details;
  const severity = details.severity ?? ofRoute?.severity ?? details.usual ?? SEVERITIES[route] ?? 'warning';
  const channels = details.channels ?? (channel === null ? (ofRoute?.channels ?? [DEFAULT]) : [channel]);
  const whom = { alertKey, agentId, taskId, episodeId, caseId, requestId, itemId, labels };
  const asked = { askedAt, options, questions, deadlineAt, onTimeout, checkpoint, blocked, channels };
  const { urgency = 'normal', afterMs = null, scope = null, agentIds = [] } = details;
  const { repeatMs = null } = ofRoute ?? {};
  const groupWaitMs = details.groupWaitMs ?? ofRoute?.groupWaitMs ?? null;
  const { heldFrom = null, heldTo = null } = details;
  const wait = {
    askedText: details.askedText ?? null,
    isExpired: details.isExpired ?? false,
    waitSince: details.waitSince ?? null,
  };
  const delivery = { urgency, groupWaitMs, repeatMs, afterMs, scope, agentIds, heldFrom, heldTo };
  const payload = {
    ...whom,
    ...delivery,
    route,
    severity,
    title,
    text,
    action,
    ...asked,
    ...wait,
    timeAgeMs: null,
    ticket,
    filed,
    isPardon,
  };
  return { topic: 'onex.cmd.alerting.notify.v1', type: 'NOTIFY', key: alertKey, payload, policy };
};

const LONGEST_KEY = 128;

/** Route and task (or agent). A text that is too long for a key keeps its end, where ids differ. */
export const keyOf = (route: string, { agentId, taskId, of }: About): string => {
  const who = taskId ?? agentId ?? 'fleet';
  const what = of === undefined ? '' : `:${of.replace(/[^A-Za-z0-9._:-]/g, '-').slice(-40)}`;
  return `${route}:${who.slice(-(LONGEST_KEY - route.length - 1 - what.length))}${what}`;
};

/** The command that starts an agent again, for a shell. */
export const startAgain = (
  { agentId, taskId }: { readonly agentId: string | null; readonly taskId: string | null },
  policy: PolicyRef | null,
): string => {
  const name = agentId === null ? 'NAME' : quoted(agentId);
  const work = taskId === null ? '' : ` --task ${quoted(taskId)}`;
  const judged = policy === null ? '' : ` --health-policy ${quoted(policy.name)}`;
  return `Start it again: \`vigil run --name ${name}${work}${judged} -- COMMAND\`.`;
};

const quoted = (word: string): string =>
  /^[A-Za-z0-9._:@/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** The last lines that an agent printed before its end. */
export const outputOf = (agentId: string | null, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`The last output of ${agentId ?? 'the agent'}:`, ...lines];

/** The name of an option in a title, `allow_more_time`: allow more time */
export const inWords = (name: string): string => name.replaceAll('_', ' ');
