import type { Draft, EventOf, Topic } from '@vigil/events';
import { spell } from '@vigil/policy';
import { type AtRest, type Decider, NEVER } from '@vigil/stream';
import { GROUP_ROUTE, isGrouped } from '../alert/gates.ts';
import { holdRoute, type Noticed, type Notify, notify, raise, releaseRoute, resolve } from '../notices/notice.ts';
import { noPolicies } from '../notices/policy-alerts.ts';

type Raised = Extract<EventOf<typeof Topic.alert>, { readonly type: 'ALERT_RAISED' }>['payload'];

export type GroupSettings = {
  /** so many alerts of one route within `GROUP_WINDOW_MS` are one alert */
  readonly least: number;
  /** how long an alert gathers related ones before channels are notified, milliseconds */
  readonly waitMs: number;
};

/** Alerts of one route that are raised within this time are counted together, milliseconds. */
export const GROUP_WINDOW_MS = 30_000;

type Recent = Pick<Raised, 'alertId' | 'agentId' | 'labels' | 'channels' | 'severity'> & { readonly raisedAt: number };

/** One alert in place of many. It holds back those of its route that were raised from `from` to `to`; null: still. */
type Group = {
  readonly route: string;
  readonly from: number;
  readonly to: number | null;
  readonly isRaised: boolean;
  /** the ids of its alerts that are open, at most `MOST_MEMBERS` */
  readonly members: readonly string[];
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
      return isGrouped(input.payload) ? withRaised(state, input.payload, input.occurredAt, least) : state;
    case 'ALERT_RESOLVED':
      return withResolved(state, input.payload);
    case 'ALERT_UPDATED':
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

const withRaised = (state: Groups, payload: Raised, occurredAt: number, least: number): Groups => {
  const { route, alertId, agentId, labels, channels, severity, raisedAt: recordedAt } = payload;
  const raisedAt = recordedAt ?? occurredAt;
  const one = { alertId, agentId, labels, channels, severity, raisedAt };
  const known = (state.recent[route] ?? []).filter((other) => raisedAt - other.raisedAt < GROUP_WINDOW_MS);
  const recent = { ...state.recent, [route]: [...known, one].slice(-least) };
  const groups = state.groups.map((group) => (group.route === route && group.to === null ? joined(group, one) : group));
  return { recent, groups };
};

const joined = (group: Group, one: Recent): Group => ({
  ...group,
  members: [...group.members, one.alertId].slice(0, MOST_MEMBERS),
  total: group.total + 1,
  first: [...group.first, one].slice(0, MOST_NAMES),
  isCritical: group.isCritical || one.severity === 'critical',
});

type Resolved = Pick<Raised, 'alertId' | 'route'>;

const withResolved = (state: Groups, { alertId, route }: Resolved): Groups => {
  const { [route]: ofRoute = [], ...others } = state.recent;
  const left = ofRoute.filter((one) => one.alertId !== alertId);
  const groups = state.groups.map((group) =>
    group.members.includes(alertId) ? { ...group, members: group.members.filter((id) => id !== alertId) } : group,
  );
  return { recent: left.length === 0 ? others : { ...others, [route]: left }, groups };
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
  const { route, from, to, isRaised, members } = group;
  if (members.length === 0)
    return [
      ...(isRaised ? [resolve(GROUP_ROUTE, aboutGroup(group), 'all of its alerts are over')] : []),
      releaseRoute(route, from),
    ];
  const isCalm = to === null && now >= calmFrom(state, route, least);
  return [
    ...(isCalm ? [holdRoute(route, from, now)] : []),
    ...(isRaised || now < from + waitMs ? [] : [groupAlert(group)]),
  ];
};

const begun = ({ recent, groups }: Groups, route: string, { least }: GroupSettings): readonly Noticed[] => {
  const ofRoute = recent[route] ?? [];
  const [first] = ofRoute;
  const isOpen = groups.some((group) => group.route === route && group.to === null);
  if (first === undefined || ofRoute.length < least || isOpen || groups.length >= MOST_GROUPS) return [];
  return [holdRoute(route, first.raisedAt, null)];
};

const groupOf = (route: string, recent: readonly Recent[]): Group => ({
  ...{ route, from: recent[0]?.raisedAt ?? 0, to: null, isRaised: false },
  ...{ members: recent.map(({ alertId }) => alertId), total: recent.length, first: recent.slice(0, MOST_NAMES) },
  isCritical: recent.some(({ severity }) => severity === 'critical'),
});

/** Its labels are those of its first alert, and name the first agents: a silence or a brake of one of them holds it back as well. */
const aboutGroup = ({ route, from, first }: Group) => ({
  ...{ agentId: null, taskId: null, of: `${route}-${from}` },
  labels: { ...first[0]?.labels, route, agents: first.map(({ agentId }) => agentId).join(' ') },
});

const groupAlert = (group: Group): Noticed => {
  const { route, total, first, isCritical } = group;
  const names = first.map(({ agentId }) => agentId).join(', ');
  const more = total > first.length ? ` and ${total - first.length} more` : '';
  return raise(GROUP_ROUTE, aboutGroup(group), {
    severity: isCritical ? 'critical' : 'warning',
    title: `${total} agents at once: ${route}`,
    text: `Raised within ${spell(GROUP_WINDOW_MS)} of each other: ${names}${more}. Their own alerts are withheld while this one is open: vigil alert list`,
    channels: [...new Set(first.flatMap(({ channels }) => channels))],
    groupWaitMs: 0,
  });
};

const evolve = (state: Groups, { payload }: Notify, now: number): Groups => {
  const { action, scope, heldFrom, heldTo, labels, alertKey } = payload;
  const isThis = ({ route, from }: Group) => route === scope && from === heldFrom;
  const { [scope ?? '']: begun = [], ...others } = state.recent;
  switch (action) {
    case 'hold': {
      if (heldTo === null) return { ...state, groups: [...state.groups, groupOf(scope ?? '', begun)] };
      // What it has counts for no other group.
      const groups = state.groups.map((group) => (isThis(group) ? { ...group, to: now } : group));
      return { recent: others, groups };
    }
    case 'raise': {
      const isRaised = ({ route, from }: Group) => route === labels.route && alertKey.endsWith(`-${from}`);
      return {
        ...state,
        groups: state.groups.map((group) => (isRaised(group) ? { ...group, isRaised: true } : group)),
      };
    }
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

const dueAt = (state: Groups, { least, waitMs }: GroupSettings): number =>
  Math.min(
    NEVER,
    ...state.groups.flatMap((group) => [
      group.isRaised ? NEVER : group.from + waitMs,
      group.to === null ? calmFrom(state, group.route, least) : NEVER,
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
