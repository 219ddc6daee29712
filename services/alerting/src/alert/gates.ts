import type { AlertMatcher } from '@vigil/events';
import { NEVER } from '@vigil/stream';
import type { Content } from './content.ts';
import type { Input } from './messages.ts';

/** `until`: epoch milliseconds. */
export type Silence = {
  readonly silenceId: string;
  readonly matchers: readonly AlertMatcher[];
  readonly until: number;
};

/** An incident of the brake. `scope`: fleet, host:<name> or runtime:<id>; null: only the agents. */
type Incident = { readonly scope: string | null; readonly agentIds: readonly string[] };

/** `route`: as `groupOf` has it. One alert replaces those that were raised, or asked, from `from` to `to`; null: still. */
type Held = { readonly route: string; readonly from: number; readonly to: number | null };

/** What holds back deliveries, for all alerts. The alerts exist regardless. */
export type Gates = {
  readonly kind: 'gates';
  readonly silences: readonly Silence[];
  readonly incidents: readonly Incident[];
  readonly groups: readonly Held[];
};

export const NO_GATES: Gates = { kind: 'gates', silences: [], incidents: [], groups: [] };

/**
 * The route of the one alert in place of many. Its label `route` is theirs, `agents` are the first of them, with spaces between, and
 * `asks` is there where they wait for a decision.
 */
export const GROUP_ROUTE = 'alert_group';

type GateAction = 'inhibit' | 'release' | 'hold' | 'unhold';
const GATE_ACTIONS: readonly string[] = ['inhibit', 'release', 'hold', 'unhold'] satisfies readonly GateAction[];

export type GateInput =
  | Extract<Input, { readonly type: 'SILENCE_ALERTS' }>
  | (Extract<Input, { readonly type: 'NOTIFY' }> & { readonly payload: { readonly action: GateAction } });

export const isForGates = (input: Input): input is GateInput =>
  input.type === 'SILENCE_ALERTS' || (input.type === 'NOTIFY' && GATE_ACTIONS.includes(input.payload.action));

/** The id of the silence that a command sets or replaces. */
export const silenceIdOf = ({ payload, eventId }: Extract<Input, { readonly type: 'SILENCE_ALERTS' }>): string =>
  payload.silenceId === '' ? eventId : payload.silenceId;

/** The most silences and scopes of incidents that are kept, and agents of a scope; the oldest go first. */
const MOST = 100;
const MOST_AGENTS = 10_000;

/** The brake engages again for further losses in a scope: each time it names the new ones. */
const withIncident = (incidents: Gates['incidents'], { scope, agentIds }: Incident): Gates['incidents'] => {
  const known = incidents.find((one) => one.scope === scope)?.agentIds ?? [];
  const all = [...new Set([...known, ...agentIds])].slice(-MOST_AGENTS);
  return [...incidents.filter((one) => one.scope !== scope), { scope, agentIds: all }].slice(-MOST);
};

/** Records an incident of the brake, or its end. Silences that have ended are dropped. */
export const observeGates = (gates: Gates, input: GateInput, now: number): Gates => {
  const silences = gates.silences.filter(({ until }) => until > now);
  if (input.type === 'SILENCE_ALERTS') return { ...gates, silences };
  const { action, scope, agentIds } = input.payload;
  switch (action) {
    case 'inhibit':
      return { ...gates, silences, incidents: withIncident(gates.incidents, { scope, agentIds }) };
    case 'release':
      return { ...gates, silences, incidents: [] };
    case 'hold':
    case 'unhold':
      return { ...gates, silences, groups: groupsAfter(gates.groups, input.payload) };
  }
};

type Holding = Pick<Extract<Input, { readonly type: 'NOTIFY' }>['payload'], 'action' | 'scope' | 'heldFrom' | 'heldTo'>;

const groupsAfter = (groups: Gates['groups'], { action, scope, heldFrom, heldTo: to }: Holding): Gates['groups'] => {
  if (scope === null || heldFrom === null) return groups;
  const others = groups.filter(({ route, from }) => route !== scope || from !== heldFrom);
  return action === 'unhold' ? others : [...others, { route: scope, from: heldFrom, to }].slice(-MOST);
};

export const withSilence = (gates: Gates, silence: Silence): Gates => {
  const others = gates.silences.filter(({ silenceId }) => silenceId !== silence.silenceId);
  return { ...gates, silences: [...others, silence].slice(-MOST) };
};

/** From when an alert may be delivered: 0: it is not held back; NEVER: until the brake is released, or its group is over. */
export const heldUntil = (gates: Gates, content: Content, raisedAt: number): number => {
  const { silences, incidents, groups } = gates;
  const silencedUntil = Math.max(0, ...silences.filter((one) => matches(one, content)).map(({ until }) => until));
  if (content.route === GROUP_ROUTE)
    return Math.max(
      silencedUntil,
      ...firstOf(content).map((one) => heldUntil({ ...gates, groups: [] }, one, raisedAt)),
    );
  if (incidents.some((incident) => inhibits(incident, content))) return NEVER;
  const ofGroup = groupOf(content);
  if (groups.some((group) => group.route === ofGroup && covers(group, timeOf(content, raisedAt)))) return NEVER;
  return silencedUntil;
};

/** The first alerts of a group: what holds back one of them holds back the alert of the group. */
const firstOf = (content: Content): readonly Content[] => {
  const { route = '', agents = '', asks, ...labels } = content.labels;
  const options = asks === undefined ? [] : [asks];
  return agents.split(' ').map((agentId) => ({ ...content, route, agentId, labels, options }));
};

export const covers = ({ from, to }: Pick<Held, 'from' | 'to'>, at: number): boolean =>
  at >= from && (to === null || at <= to);

/** All matchers; a field is one of the alert's own or a label. */
const matches = ({ matchers }: Silence, content: Content): boolean =>
  matchers.every(({ field, value }) => ({ ...content.labels, ...content })[field] === value);

/** People decide about the recovery of a task also while the brake is on. */
const NEVER_INHIBITED: readonly string[] = ['recovery_failed', 'task_blocked'];

type Groupable = Pick<Content, 'route' | 'agentId' | 'options' | 'requestId' | 'caseId'>;

/** An alert about an agent that asks people nothing. */
const isPlain = ({ route, agentId, options, requestId }: Groupable): boolean =>
  agentId !== null && options.length === 0 && requestId === null && !NEVER_INHIBITED.includes(route);

const QUESTIONS = ':questions';
/** The group of the questions that cases put about agents. */
export const questionsOf = (route: string): string => `${route}${QUESTIONS}`;
export const hasQuestions = (group: string): boolean => group.endsWith(QUESTIONS);
export const routeOf = (group: string): string => (hasQuestions(group) ? group.slice(0, -QUESTIONS.length) : group);

/** Many alerts at once of what this names are one: of a route about agents, or questions of their cases. Null: always a message of its own. */
export const groupOf = (content: Groupable): string | null => {
  const { route, caseId } = content;
  if (isPlain(content)) return route;
  return caseId !== null && isPlain({ ...content, options: [] }) ? questionsOf(route) : null;
};

/** A question counts from when its case put it. */
export const timeOf = ({ options, askedAt }: Pick<Content, 'options' | 'askedAt'>, raisedAt: number): number =>
  options.length === 0 ? raisedAt : (askedAt ?? raisedAt);

/**
 * A mass failure is one incident: its agents' own alerts add nothing. A question to people is not among them. One of the
 * fleet covers the agents that it names, and all where it names none.
 */
const inhibits = ({ scope, agentIds }: Incident, content: Content): boolean => {
  const { agentId, labels } = content;
  if (agentId === null || !isPlain(content)) return false;
  if (agentIds.includes(agentId)) return true;
  if (scope === 'fleet') return agentIds.length === 0;
  const [kind = '', name = ''] = scope === null ? [] : splitOnce(scope);
  return name !== '' && labels[kind] === name;
};

const splitOnce = (scope: string): readonly [string, string] => {
  const at = scope.indexOf(':');
  return [scope.slice(0, at), scope.slice(at + 1)];
};
