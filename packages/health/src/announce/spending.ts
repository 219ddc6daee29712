import { type PayloadOf, Topic } from '@vigil/events';
import { type SpendingLimit, type Spent, spentOf } from '@vigil/policy';
import type { Announced, Counted, KnownAgent } from '../evaluator/state.ts';
import { type Announcement, type AnnouncementContext, chain, FLEET } from './events.ts';

/** The use of an agent by its present count, in the units that its policy limits. */
const spentBy = ({ history: { spend } }: KnownAgent, { policy }: AnnouncementContext['rules']): Spent =>
  policy.spending === null ? { tokens: null, usd: null } : spentOf(policy.spending, spend);

type Scope = 'agent' | 'task' | 'day';

/** A sub-agent holds no task; its use counts for the task of its parent. */
const taskOf = ({ history: { identity } }: KnownAgent): string | null =>
  identity.taskId ?? identity.labels.parent_task ?? null;

/** The counts announced for the present instance; those of an earlier instance do not apply. */
const countedOf = ({ instanceNumber, announced: { spent } }: KnownAgent, scope: Scope): Counted | null =>
  (spent?.instanceNumber === instanceNumber ? spent[scope] : undefined) ?? null;

const NOTHING = { tokens: 0, usd: 0 };

const NO_LIMIT: SpendingLimit = { tokens: null, usd: null };

const isSameLimit = (one: SpendingLimit, other: SpendingLimit): boolean =>
  one.tokens === other.tokens && one.usd === other.usd;

/**
 * Announces the use that a policy limits: for the agent, for its task and for the day. Nothing is counted twice, and
 * each session of the client adds its use. A sub-agent is an agent of its own. A changed limit is announced at once,
 * because an agent whose calls are refused may use nothing more.
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

/**
 * The number of counts that are stored for an instance. A session that resumes after this many others counts as a new
 * one.
 */
const MOST_COUNTS = 4;

/** Records a count as counted. */
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

/** Assigns a count without a session to the session that it turns out to belong to, which may resume later. */
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
