import { limitReached, type ModelTokens, refusalFor, spendingDocument, spentOf } from '@vigil/policy';
import { z } from 'zod';
import type { Beats } from './beat.ts';

const policyDocument = z.object({ spending: spendingDocument.nullish() });

type Used = {
  readonly tokens: number | null;
  readonly usage: readonly ModelTokens[];
  readonly costUsd: number | null;
};

export const usedBy = ({ latest }: Beats): Used => ({
  tokens: latest.token_count ?? null,
  usage: latest.usage ?? [],
  costUsd: latest.cost_usd ?? null,
});

/**
 * Why an agent may make no more calls by the policy's limit for one agent; null: it may. `document`: the policy as the gateway serves it;
 * without one, and where its limits are not understood, nothing is refused.
 */
export const refusalOfAgent = (agentId: string, document: unknown, used: Used): string | null => {
  const spending = policyDocument.safeParse(document).data?.spending ?? null;
  if (spending === null) return null;
  const reached = limitReached(spending.agent, spentOf(spending, used));
  return reached === null ? null : refusalFor(`agent ${agentId}`, reached);
};
