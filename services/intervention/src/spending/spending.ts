import { type BodyOf, type Draft, type EventOf, type PolicyRef, Topic } from '@vigil/events';
import { limitReached } from '@vigil/policy';
import { type Clock, type Decider, NEVER } from '@vigil/stream';

type Presence = EventOf<typeof Topic.fleetPresence>;
type Spent = Extract<Presence, { readonly type: 'AGENT_SPENT' }>;

/** What an instance, a task, or all agents of a policy on one day, have used. */
export type SpendingState =
  | { readonly kind: 'unused' }
  | {
      readonly kind: 'used';
      readonly scope: 'agent' | 'task' | 'day';
      readonly scopeId: string;
      /** of an agent: whose sum it is */
      readonly instanceId: string | null;
      readonly tokens: number;
      /** US dollars; null: unknown so far */
      readonly usd: number | null;
      readonly limit: { readonly tokens: number | null; readonly usd: number | null };
      /** of a day, when it ends; else when it is forgotten: epoch milliseconds */
      readonly until: number;
      /** the limit that was announced as reached; null: none */
      readonly announced: { readonly tokens: number | null; readonly usd: number | null } | null;
      readonly correlationId: string;
      /** the policy that limits it */
      readonly policy: PolicyRef | null;
    };
export type SpendingDraft = Draft<typeof Topic.spending>;

const DAY_MS = 86_400_000;
/** A task without work for so long is forgotten: 30 days. */
const FORGOTTEN_MS = 30 * DAY_MS;

/** Midnight UTC after a moment. */
const endOfDay = (now: number): number => (Math.floor(now / DAY_MS) + 1) * DAY_MS;

/** One state for each agent, each task, and the day of each policy. The presence of an agent is about its own sum. */
export const spendingKey = (input: Presence): string =>
  input.type === 'AGENT_SPENT' ? `${input.payload.scope}:${input.payload.scopeId}` : `agent:${input.payload.agentId}`;

type Used = Extract<SpendingState, { readonly kind: 'used' }>;

/** The sum is of another day, or of another instance, than the event. */
const isPast = (before: Used, instanceId: string | null, now: number): boolean => {
  switch (before.scope) {
    case 'agent':
      return before.instanceId !== instanceId;
    case 'day':
    case 'task':
      return now >= before.until;
  }
};

const spent = (before: SpendingState, { payload, correlationId, policy }: Spent, now: number): SpendingState => {
  const { scope, scopeId, instanceId, tokens, usd, limitTokens, limitUsd } = payload;
  if (scope === 'UNKNOWN') return before;
  const known = before.kind === 'unused' || isPast(before, instanceId, now) ? { tokens: 0, usd: null } : before;
  return {
    kind: 'used',
    scope,
    scopeId,
    instanceId: scope === 'agent' ? instanceId : null,
    tokens: known.tokens + tokens,
    usd: usd === null ? known.usd : (known.usd ?? 0) + usd,
    limit: { tokens: limitTokens, usd: limitUsd },
    until: scope === 'day' ? endOfDay(now) : now + FORGOTTEN_MS,
    announced: before.kind === 'used' ? before.announced : null,
    correlationId,
    policy,
  };
};

/** The sum of an instance is over with it. One that is only silent may continue. */
const observed = (before: SpendingState, input: Presence, now: number): SpendingState => {
  if (input.type === 'AGENT_SPENT') return spent(before, input, now);
  if (before.kind === 'unused') return before;
  const { type, payload } = input;
  const isOver =
    type === 'AGENT_PRESENT'
      ? payload.instanceId !== before.instanceId
      : payload.why !== 'silent' && payload.why !== 'UNKNOWN';
  return isOver ? { ...before, tokens: 0, usd: null, instanceId: payload.instanceId, until: now } : before;
};

const announcement = ({ correlationId, policy }: Used, body: BodyOf<typeof Topic.spending>): SpendingDraft => ({
  topic: Topic.spending,
  key: 'fleet',
  correlationId,
  policy,
  ...body,
});

/** Why less is used under the same limit. */
const WHY_OVER = {
  agent: 'its instance is over',
  task: 'it has had no work for 30 days',
  day: 'the day is over',
} as const satisfies Record<Used['scope'], string>;

const decided = (state: SpendingState, now: number): readonly SpendingDraft[] => {
  if (state.kind === 'unused') return [];
  const { scope, scopeId, tokens, usd, limit, until, announced } = state;
  // Of an agent that fell silent, or of a task, no end may ever be reported.
  const isOver = now >= until;
  const reached = isOver ? null : limitReached(limit, { tokens, usd });
  if (reached === null) {
    if (announced === null) return [];
    const isOther = announced.tokens !== limit.tokens || announced.usd !== limit.usd;
    const why = isOther ? 'the limit was raised' : WHY_OVER[scope];
    return [announcement(state, { type: 'SPENDING_LIMIT_LIFTED', payload: { scope, scopeId, why } })];
  }
  if (announced !== null && announced.tokens === limit.tokens && announced.usd === limit.usd) return [];
  return [
    announcement(state, {
      type: 'SPENDING_LIMIT_REACHED',
      payload: {
        scope,
        scopeId,
        tokens,
        usd,
        limitTokens: limit.tokens,
        limitUsd: limit.usd,
        until: scope === 'day' ? until : null,
      },
    }),
  ];
};

/** Sums what agents use, exactly once, and announces each limit once: when it is reached, and when calls are allowed again. */
export const spending: Decider<SpendingState, Presence, SpendingDraft> = {
  initial: { kind: 'unused' },
  observe: (state, input, { now }) => observed(state, input, now),
  decide: (state, { now }) => decided(state, now),
  evolve: (state, event) => {
    if (state.kind === 'unused') return state;
    return { ...state, announced: event.type === 'SPENDING_LIMIT_REACHED' ? state.limit : null };
  },
  dueAt: (state, clock: Clock) => {
    if (state.kind === 'unused') return NEVER;
    return decided(state, clock.now).length > 0 ? clock.now : state.until;
  },
  forgets: (state, { now }) => state.kind === 'used' && now >= state.until && state.announced === null,
};
