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

/** What holds back deliveries, for all alerts. The alerts exist regardless. */
export type Gates = {
  readonly kind: 'gates';
  readonly silences: readonly Silence[];
  readonly incidents: readonly Incident[];
};

export const NO_GATES: Gates = { kind: 'gates', silences: [], incidents: [] };

export type GateInput =
  | Extract<Input, { readonly type: 'SILENCE_ALERTS' }>
  | (Extract<Input, { readonly type: 'NOTIFY' }> & { readonly payload: { readonly action: 'inhibit' | 'release' } });

export const isForGates = (input: Input): input is GateInput =>
  input.type === 'SILENCE_ALERTS' ||
  (input.type === 'NOTIFY' && (input.payload.action === 'inhibit' || input.payload.action === 'release'));

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
  const incidents = action === 'release' ? [] : withIncident(gates.incidents, { scope, agentIds });
  return { kind: 'gates', silences, incidents };
};

export const withSilence = (gates: Gates, silence: Silence): Gates => {
  const others = gates.silences.filter(({ silenceId }) => silenceId !== silence.silenceId);
  return { ...gates, silences: [...others, silence].slice(-MOST) };
};

/** From when an alert may be delivered: 0: it is not held back; NEVER: until the brake is released. */
export const heldUntil = ({ silences, incidents }: Gates, content: Content): number => {
  if (incidents.some((incident) => inhibits(incident, content))) return NEVER;
  return Math.max(0, ...silences.filter((one) => matches(one, content)).map(({ until }) => until));
};

/** All matchers; a field is one of the alert's own or a label. */
const matches = ({ matchers }: Silence, content: Content): boolean =>
  matchers.every(({ field, value }) => ({ ...content.labels, ...content })[field] === value);

/** People decide about the recovery of a task also while the brake is on. */
const NEVER_INHIBITED: readonly string[] = ['recovery_failed', 'task_blocked'];

/**
 * A mass failure is one incident: its agents' own alerts add nothing. A question to people is not among them. One of the
 * fleet covers the agents that it names, and all where it names none.
 */
const inhibits = ({ scope, agentIds }: Incident, { route, agentId, options, requestId, labels }: Content): boolean => {
  const isQuestion = options.length > 0 || requestId !== null;
  if (agentId === null || isQuestion || NEVER_INHIBITED.includes(route)) return false;
  if (agentIds.includes(agentId)) return true;
  if (scope === 'fleet') return agentIds.length === 0;
  const [kind = '', name = ''] = scope === null ? [] : splitOnce(scope);
  return name !== '' && labels[kind] === name;
};

const splitOnce = (scope: string): readonly [string, string] => {
  const at = scope.indexOf(':');
  return [scope.slice(0, at), scope.slice(at + 1)];
};
