import type { EventOf, Topic } from '@vigil/events';
import { limitReached, refusalFor } from '@vigil/policy';

type Limits = EventOf<typeof Topic.spending>;

/** Whose limits count; null: none of that kind. */
export type Whose = { readonly agentId: string | null; readonly taskId: string | null; readonly policy: string | null };

const NAMES = { agent: 'agent', task: 'task', day: 'the day of policy' } as const;

/** Limits of agents, tasks and days that are reached, as the intervention service announces them. */
export const createReachedLimits = () => {
  const known = new Map<string, { readonly event: Limits; readonly offset: number }>();

  const reached = (scope: keyof typeof NAMES, id: string | null, now: number): string | null => {
    const event = id === null ? undefined : known.get(`${scope}:${id}`)?.event;
    if (id === null || event?.type !== 'SPENDING_LIMIT_REACHED') return null;
    const { until, tokens, usd, limitTokens, limitUsd } = event.payload;
    if (until !== null && now >= until) return null;
    const subject = limitReached({ tokens: limitTokens, usd: limitUsd }, { tokens, usd }) ?? 'all is used';
    return refusalFor(`${NAMES[scope]} ${id}`, subject);
  };

  return {
    /** `offset`: in its topic, which has one partition; the newest counts, in any order of the calls */
    observe: (event: Limits, offset: number): void => {
      const key = `${event.payload.scope}:${event.payload.scopeId}`;
      if ((known.get(key)?.offset ?? -1) < offset) known.set(key, { event, offset });
    },
    /** Why an agent may make no more calls; null: it may. `now`: epoch milliseconds */
    refusal: ({ agentId, taskId, policy }: Whose, now: number): string | null =>
      reached('agent', agentId, now) ?? reached('task', taskId, now) ?? reached('day', policy, now),
  };
};
