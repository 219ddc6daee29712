import { type PayloadOf, Topic } from '@vigil/events';
import { type SpendingLimit, type Spent, spentOf } from '@vigil/policy';
import type { Announced, Counted, KnownAgent } from '../evaluator/state.ts';
import { type Announcement, type AnnouncementContext, chain, FLEET } from './events.ts';

/** What an agent has used by its present count, as its policy counts it. */
const spentBy = ({ history: { spend } }: KnownAgent, { policy }: AnnouncementContext['rules']): Spent =>
  policy.spending === null ? { tokens: null, usd: null } : spentOf(policy.spending, spend);

type Scope = 'agent' | 'task' | 'day';

/** A sub-agent holds no task; what it uses counts for that of its parent. */
const taskOf = ({ history: { identity } }: KnownAgent): string | null =>
  identity.taskId ?? identity.labels.parent_task ?? null;

/** What was counted before belongs to another instance when the agent has another. */
const countedOf = ({ instanceNumber, announced: { spent } }: KnownAgent, scope: Scope): Counted | null =>
  (spent?.instanceNumber === instanceNumber ? spent[scope] : undefined) ?? null;

const NOTHING = { tokens: 0, usd: 0 };

const NO_LIMIT: SpendingLimit = { tokens: null, usd: null };

const isSameLimit = (one: SpendingLimit, other: SpendingLimit): boolean =>
  one.tokens === other.tokens && one.usd === other.usd;

/**
 * What an agent has used, and its policy limits, is counted: for itself, for its task and for the day. Nothing is counted twice; each session of
 * its client adds what it uses. A sub-agent is an agent of its own. Another limit than before is announced at once: an agent whose calls are refused may use nothing more.
 */
export const spendingCounted = (context: AnnouncementContext): Announcement[] => {
  const { state, rules } = context;
  const { spending, name } = rules.policy;
  if (spending === null && state.announced.spent === undefined) return [];
  const spent = spentBy(state, rules);
  return [
    ...counted(context, spent, 'agent', state.agentId),
    ...counted(context, spent, 'task', taskOf(state)),
    ...counted(context, spent, 'day', name),
  ];
};

const counted = (context: AnnouncementContext, spent: Spent, scope: Scope, scopeId: string | null): Announcement[] => {
  const { state, rules } = context;
  const limit = rules.policy.spending?.[scope] ?? NO_LIMIT;
  const known = countedOf(state, scope);
  const isLimited = !isSameLimit(limit, NO_LIMIT);
  const isOther = known !== null && !isSameLimit(limit, known.limit);
  if (scopeId === null || !(isLimited || isOther)) return [];
  const before = known?.counts.find(({ count }) => count === state.history.spend.count) ?? NOTHING;
  const tokens = Math.max(0, (spent.tokens ?? 0) - before.tokens);
  const usd = spent.usd === null ? null : Math.max(0, spent.usd - before.usd);
  if (!isOther && tokens === 0 && (usd === null || usd === 0)) return [];
  const { instanceId } = state.history.identity;
  return [
    {
      topic: Topic.fleetPresence,
      type: 'AGENT_SPENT',
      key: FLEET,
      ...chain(context),
      payload: {
        scope,
        scopeId,
        agentId: state.agentId,
        instanceId,
        taskId: taskOf(state),
        tokens,
        usd,
        limitTokens: limit.tokens,
        limitUsd: limit.usd,
      },
    },
  ];
};

type AgentSpent = PayloadOf<typeof Topic.fleetPresence, 'AGENT_SPENT'>;

/** Counts of one instance that are remembered: a session that is taken up again after so many others counts as another one. */
const MOST_COUNTS = 4;

/** It is counted. */
export const spentAnnounced = (
  { instanceNumber, history, announced }: KnownAgent,
  spent: AgentSpent,
): Announced['spent'] => {
  const { scope, tokens, usd, limitTokens, limitUsd } = spent;
  const known = announced.spent?.instanceNumber === instanceNumber ? announced.spent : { instanceNumber };
  if (scope === 'UNKNOWN') return known;
  const { count } = history.spend;
  const counts = known[scope]?.counts ?? [];
  const before = counts.find((one) => one.count === count) ?? NOTHING;
  const after = { count, tokens: before.tokens + tokens, usd: before.usd + (usd ?? 0) };
  const others = counts.filter((one) => one.count !== count).slice(1 - MOST_COUNTS);
  return { ...known, [scope]: { counts: [...others, after], limit: { tokens: limitTokens, usd: limitUsd } } };
};

/** A count that had no name is that of a session: what is counted of it is counted of that session, which may be taken up again. */
export const countNamed = (state: KnownAgent, session: number): KnownAgent => {
  const { history, announced } = state;
  const { spend } = history;
  const named = { ...state, history: { ...history, spend: { ...spend, count: session } } };
  const { spent } = announced;
  if (spent === undefined) return named;
  const of = (scope: Scope) => renamed(scope, spent[scope], { from: spend.count, to: session });
  return { ...named, announced: { ...announced, spent: { ...spent, ...of('agent'), ...of('task'), ...of('day') } } };
};

type Renaming = { readonly from: number; readonly to: number };

const renamed = (
  scope: Scope,
  counted: Counted | undefined,
  { from, to }: Renaming,
): { [scope in Scope]?: Counted } => {
  if (counted === undefined) return {};
  const counts = counted.counts.map((one) => (one.count === from ? { ...one, count: to } : one));
  return { [scope]: { ...counted, counts } };
};
