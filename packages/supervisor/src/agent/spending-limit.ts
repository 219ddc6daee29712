import type { SessionState } from '@vigil/adapters/session';
import { limitReached, type ModelTokens, refusalFor, type Spent, spendingDocument, spentOf } from '@vigil/policy';
import { z } from 'zod';
import type { HeartbeatState } from '../heartbeat/heartbeat.ts';

const policyDocument = z.object({ spending: spendingDocument.nullish() });

export type Used = {
  readonly tokens: number | null;
  readonly usage: readonly ModelTokens[];
  readonly costUsd: number | null;
};

export const usedBy = ({ latest }: HeartbeatState): Used => ({
  tokens: latest.token_count ?? null,
  usage: latest.usage ?? [],
  costUsd: latest.cost_usd ?? null,
});

const tokensOf = (one: ModelTokens): number =>
  one.input_tokens + one.cache_read_tokens + one.cache_write_tokens + one.output_tokens;

/** What the own agent of a session has used in it. */
export const usedIn = ({ main: { usage, costUsd } }: SessionState): Used => ({
  tokens: usage.length === 0 ? null : usage.reduce((sum, one) => sum + tokensOf(one), 0),
  usage,
  costUsd,
});

/** An unknown use adds nothing; null: every use is unknown. */
const sumOf = (parts: readonly Spent[], of: keyof Spent): number | null => {
  const known = parts.map((part) => part[of]).filter((part) => part !== null);
  return known.length === 0 ? null : known.reduce((sum, part) => sum + part, 0);
};

/**
 * Why the policy's limit for one agent allows no more calls; null: it allows them. `document`: the policy as the
 * gateway serves it. Without it, or if its limits are invalid, nothing is refused.
 * `used`: in each session of the agent, each counted from zero.
 */
export const refusalOfAgent = (agentId: string, document: unknown, used: readonly Used[]): string | null => {
  const spending = policyDocument.safeParse(document).data?.spending ?? null;
  if (spending === null) return null;
  const spent = used.map((one) => spentOf(spending, one));
  const reached = limitReached(spending.agent, { tokens: sumOf(spent, 'tokens'), usd: sumOf(spent, 'usd') });
  return reached === null ? null : refusalFor(`agent ${agentId}`, reached);
};
