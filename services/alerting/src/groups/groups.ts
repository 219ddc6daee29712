import type { Draft, EventOf, Topic } from '@vigil/events';
import { spell } from '@vigil/policy';
import { type AtRest, type Decider, NEVER } from '@vigil/stream';
import { QUESTION_MS } from '../alert/due.ts';
import { covers, GROUP_ROUTE, groupOf, hasQuestions, questionsOf, routeOf, timeOf } from '../alert/gates.ts';
import {
  holdRoute,
  keyOf,
  type Noticed,
  type Notify,
  notify,
  raise,
  releaseRoute,
  resolve,
} from '../notices/notice.ts';
import { noPolicies } from '../notices/policy-alerts.ts';
import { groupTitle } from './group-title.ts';

type Shown = Extract<EventOf<typeof Topic.alert>, { readonly type: 'ALERT_RAISED' | 'ALERT_UPDATED' }>;
type Raised = Shown['payload'];

export type GroupSettings = {
  /** so many alerts of one route within `GROUP_WINDOW_MS` are one alert */
  readonly least: number;
  /** how long an alert gathers related ones before channels are notified, milliseconds */
  readonly waitMs: number;
};

/** Alerts of one route that are raised within this time are counted together, milliseconds. */
export const GROUP_WINDOW_MS = 30_000;

type Recent = Pick<Raised, 'alertId' | 'agentId' | 'labels' | 'channels' | 'severity'> & { readonly raisedAt: number };

/** Its alert has the count of its alerts. It follows them, at most once in this time, milliseconds: channels get each count. */
export const COUNT_MS = 5000;

/** One alert in place of many. It holds back those of its `route`, as `groupOf` has it, from `from` to `to`; null: still. */
type Group = {
  readonly route: string;
  readonly from: number;
  readonly to: number | null;
  /** the count that its alert has, and since when; null: it is not raised yet */
  readonly shown: { readonly count: number; readonly at: number } | null;
  /** a person has ended its alert: it is not raised again */
  readonly isEnded: boolean;
  /** the ids of its alerts that are open, at most `MOST_MEMBERS` */
  readonly members: readonly string[];
  /** of questions: the ids of those that are answered, at most `MOST_MEMBERS`; absent: none */
  readonly answered?: readonly string[];
  /** all that were ever in it */
  readonly total: number;
  /** the first of its alerts */
  readonly first: readonly Recent[];
  readonly isCritical: boolean;
};

/** `recent`: the newest open alerts of each route that no group has, at most `least`, the oldest first. */
export type Groups = {
  readonly recent: Readonly<Record<string, readonly Recent[]>>;
  readonly groups: readonly Group[];
};

type Input = EventOf<typeof Topic.alert | typeof Topic.notify>;

export const NO_GROUPS: Groups = { recent: {}, groups: [] };

export const GROUPS_AT_REST: AtRest<Groups> = { oldest: 1, upgrades: [], usual: null };

/** The state has a limit: 5,000 ids take 200 KB. */
const MOST_MEMBERS = 5_000;
const MOST_GROUPS = 20;
const MOST_NAMES = 10;

const observe = (state: Groups, input: Input, { least }: GroupSettings): Groups => {
  switch (input.type) {
    case 'ALERT_RAISED':
      return withShownAlert(state, input, least);
    case 'ALERT_UPDATED':
      return withShownAlert(withoutQuestion(state, input.payload), input, least);
    case 'ALERT_RESOLVED': {
      const { alertId, alertKey, route } = input.payload;
      if (route === GROUP_ROUTE) return withEnded(state, alertKey);
      return without(without(state, alertId, route), alertId, questionsOf(route));
    }
    case 'ALERT_ACKNOWLEDGED':
    case 'ALERT_DELIVERED':
    case 'SILENCE_CHANGED':
    case 'QUEEN_INTERVENTION_REQUESTED':
    case 'TICKET_DISMISSED':
    case 'TICKET_ASSESSED':
    case 'NOTIFY':
    case 'ASSESS_TICKET':
      return state;
  }
};

/** An alert counts from its beginning, and its question from when it is asked. */
const withShownAlert = (state: Groups, { type, payload, occurredAt }: Shown, least: number): Groups => {
  const route = groupOf(payload);
  if (route === null) return state;
  const { alertId, agentId, labels, channels, severity, raisedAt: recordedAt } = payload;
  const raisedAt = recordedAt ?? occurredAt;
  const one = { alertId, agentId, labels, channels, severity, raisedAt };
  const begun = type === 'ALERT_RAISED' ? withRaised(state, routeOf(route), one, least) : state;
  return hasQuestions(route) ? withRaised(begun, route, { ...one, raisedAt: timeOf(payload, raisedAt) }, least) : begun;
};

const withRaised = (state: Groups, route: string, one: Recent, least: number): Groups => {
  const { alertId, raisedAt } = one;
  const ofRoute = state.recent[route] ?? [];
  const own = state.groups.filter((group) => group.route === route);
  if (ofRoute.some((other) => other.alertId === alertId)) return state;
  if (own.some(({ members }) => members.includes(alertId))) return state;
  const mine = own.find((group) => covers(group, raisedAt));
  const groups = state.groups.map((group) => (group === mine ? joined(group, one) : group));
  // One that a group without further alerts holds back counts for no other group.
  if (mine !== undefined && mine.to !== null) return { ...state, groups };
  const known = ofRoute.filter((other) => raisedAt - other.raisedAt < GROUP_WINDOW_MS);
  return { recent: { ...state.recent, [route]: [...known, one].slice(-least) }, groups };
};

/** An alert whose question is answered waits for no decision. */
const withoutQuestion = (state: Groups, payload: Raised): Groups =>
  payload.options.length === 0 ? without(state, payload.alertId, questionsOf(payload.route)) : state;

const withEnded = (state: Groups, alertKey: string): Groups => ({
  ...state,
  groups: state.groups.map((group) => (keyOfGroup(group) === alertKey ? { ...group, isEnded: true } : group)),
});

const joined = (group: Group, one: Recent): Group => {
  const members = [...group.members, one.alertId].slice(0, MOST_MEMBERS);
  const isCritical = group.isCritical || one.severity === 'critical';
  // An agent that is asked about again is the same one.
  if (group.answered?.includes(one.alertId)) return { ...group, members, isCritical };
  const first = [...group.first, one].slice(0, MOST_NAMES);
  return { ...group, members, isCritical, total: group.total + 1, first };
};

const left = (group: Group, alertId: string): Group => {
  const members = group.members.filter((id) => id !== alertId);
  if (!hasQuestions(group.route)) return { ...group, members };
  const others = (group.answered ?? []).filter((id) => id !== alertId);
  return { ...group, members, answered: [...others, alertId].slice(-MOST_MEMBERS) };
};

const without = (state: Groups, alertId: string, route: string): Groups => {
  const { [route]: ofRoute = [], ...others } = state.recent;
  const rest = ofRoute.filter((one) => one.alertId !== alertId);
  const groups = state.groups.map((group) =>
    group.route === route && group.members.includes(alertId) ? left(group, alertId) : group,
  );
  return { recent: rest.length === 0 ? others : { ...others, [route]: rest }, groups };
};

/** Until nothing more follows: a group that has just begun may be due. */
const decide = (state: Groups, now: number, settings: GroupSettings): readonly Notify[] => {
  const outputs = next(state, now, settings);
  if (outputs.length === 0) return [];
  const after = outputs.reduce((before, event) => evolve(before, event, now), state);
  return [...outputs, ...decide(after, now, settings)];
};

const next = (state: Groups, now: number, settings: GroupSettings): readonly Notify[] =>
  [
    ...state.groups.flatMap((group) => ofGroup(state, group, now, settings)),
    ...Object.keys(state.recent).flatMap((route) => begun(state, route, settings)),
  ].map((one) => notify(one, null, noPolicies));

/** From when a group takes no more alerts: fewer than `least` were raised within the window. */
const calmFrom = ({ recent }: Groups, route: string, least: number): number => {
  const ofRoute = recent[route] ?? [];
  return ofRoute.length < least ? 0 : (ofRoute[0]?.raisedAt ?? 0) + GROUP_WINDOW_MS;
};

const ofGroup = (state: Groups, group: Group, now: number, { least, waitMs }: GroupSettings): readonly Noticed[] => {
  const { route, from, to, shown, isEnded, members } = group;
  if (members.length === 0)
    return [...(shown !== null && !isEnded ? [groupOver(group)] : []), releaseRoute(route, from)];
  const isCalm = to === null && now >= calmFrom(state, route, least);
  return [
    ...(isCalm ? [holdRoute(route, from, now)] : []),
    ...(now < shownFrom(state, group, { least, waitMs }) ? [] : [groupAlert(group)]),
  ];
};

/** From when its alert is raised, or gets another count. NEVER: it stays as it is. */
const shownFrom = (state: Groups, group: Group, { least, waitMs }: GroupSettings): number => {
  const { route, from, shown, isEnded } = group;
  if (isEnded) return NEVER;
  if (shown === null && isAsking(state, group, least)) return NEVER;
  if (shown === null) return from + (hasQuestions(route) ? Math.min(QUESTION_MS, waitMs) : waitMs);
  return shown.count === countOf(group) ? NEVER : shown.at + COUNT_MS;
};

/** People are sent the group of its questions, and fewer than `least` of its agents ask nothing. */
const isAsking = ({ groups }: Groups, { route, members }: Group, least: number): boolean => {
  const asking = new Set(groups.flatMap((one) => (one.route === questionsOf(route) ? one.members : [])));
  return asking.size > 0 && members.filter((id) => !asking.has(id)).length < least;
};

/** The agents that were in it, or those that wait for a decision still. */
const countOf = ({ route, total, members }: Group): number => (hasQuestions(route) ? members.length : total);

const begun = ({ recent, groups }: Groups, route: string, { least }: GroupSettings): readonly Noticed[] => {
  const ofRoute = recent[route] ?? [];
  const isOpen = groups.some((group) => group.route === route && group.to === null);
  if (ofRoute.length < least || isOpen || groups.length >= MOST_GROUPS) return [];
  return [holdRoute(route, firstAt(ofRoute), null)];
};

/** Questions come from several partitions, not always in the order of their times. */
const firstAt = (recent: readonly Recent[]): number => Math.min(...recent.map(({ raisedAt }) => raisedAt));

const startedBy = (route: string, recent: readonly Recent[]): Group => ({
  ...{ route, from: firstAt(recent), to: null, shown: null, isEnded: false },
  ...{ members: recent.map(({ alertId }) => alertId), total: recent.length, first: recent.slice(0, MOST_NAMES) },
  isCritical: recent.some(({ severity }) => severity === 'critical'),
});

/** Its labels are those of its first alert, and name the first agents: a silence or a brake of one of them holds it back as well. */
const aboutGroup = ({ route, from, first }: Group) => ({
  ...{ agentId: null, taskId: null, of: `${route}-${from}` },
  labels: {
    ...first[0]?.labels,
    ...{ route: routeOf(route), agents: first.map(({ agentId }) => agentId).join(' ') },
    ...(hasQuestions(route) && { asks: 'decision' }),
  },
});

const keyOfGroup = (group: Group): string => keyOf(GROUP_ROUTE, aboutGroup(group));

const groupAlert = (group: Group): Noticed => {
  const { route, isCritical } = group;
  const title = groupTitle(route, countOf(group));
  return raise(GROUP_ROUTE, aboutGroup(group), {
    severity: isCritical ? 'critical' : 'warning',
    ...(hasQuestions(route)
      ? {
          title: `${title}: vigil inbox, or the page's Inbox`,
          text: `${namesOf(group)}While this alert is open, each question is in the inbox with its choices, and has no message of its own`,
        }
      : {
          title,
          text: `Raised within ${spell(GROUP_WINDOW_MS)} of each other: ${namesOf(group)}Their own alerts are withheld while this one is open: vigil alert list`,
        }),
    channels: [...new Set(group.first.flatMap(({ channels }) => channels))],
    groupWaitMs: 0,
  });
};

/** The end has the number of all that were in it. */
const groupOver = (group: Group): Noticed => {
  const { route, total } = group;
  const text = hasQuestions(route) ? 'none of them waits for a decision any more' : 'all of its alerts are over';
  return resolve(GROUP_ROUTE, aboutGroup(group), text, `${groupTitle(route, total)}: over`);
};

/** The first names, of questions only those that wait still, and how many more there are. */
const namesOf = (group: Group): string => {
  const { route, first, members } = group;
  const isNamed = ({ alertId }: Recent) => !hasQuestions(route) || members.includes(alertId);
  const names = first.filter(isNamed).map(({ agentId }) => agentId);
  const more = countOf(group) - names.length;
  if (names.length === 0) return '';
  const start = hasQuestions(route) ? 'The first of them: ' : '';
  return `${start}${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}. `;
};

const evolve = (state: Groups, { payload }: Notify, now: number): Groups => {
  const { action, scope, heldFrom, heldTo, alertKey } = payload;
  const isThis = ({ route, from }: Group) => route === scope && from === heldFrom;
  const { [scope ?? '']: begun = [], ...others } = state.recent;
  switch (action) {
    case 'hold': {
      if (heldTo === null) return { ...state, groups: [...state.groups, startedBy(scope ?? '', begun)] };
      // What it has counts for no other group.
      const groups = state.groups.map((group) => (isThis(group) ? { ...group, to: now } : group));
      return { recent: others, groups };
    }
    case 'raise':
      return {
        ...state,
        groups: state.groups.map((group) =>
          keyOfGroup(group) === alertKey ? { ...group, shown: { count: countOf(group), at: now } } : group,
        ),
      };
    case 'unhold':
      return { ...state, groups: state.groups.filter((group) => !isThis(group)) };
    case 'resolve':
    case 'dismiss':
    case 'settle':
    case 'inhibit':
    case 'release':
    case 'UNKNOWN':
      return state;
  }
};

const dueAt = (state: Groups, settings: GroupSettings): number =>
  Math.min(
    NEVER,
    ...state.groups.flatMap((group) => [
      shownFrom(state, group, settings),
      group.to === null ? calmFrom(state, group.route, settings.least) : NEVER,
    ]),
  );

/**
 * Many alerts of one route within a moment are one alert, which holds back the others. The brake does the same for agents that
 * were lost; this also holds for those that still send heartbeats, as in an outage of their model.
 */
export const groups = (settings: GroupSettings): Decider<Groups, Input, Draft<typeof Topic.notify>> => ({
  initial: NO_GROUPS,
  observe: (state, input) => observe(state, input, settings),
  decide: (state, { now }) => decide(state, now, settings),
  evolve: (state, event, { now }) => (event.type === 'NOTIFY' ? evolve(state, event, now) : state),
  dueAt: (state) => dueAt(state, settings),
});
