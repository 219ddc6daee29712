import { createTerminalLeases } from '../terminals/leases.ts';
import { createAgentRegistry, MOST_AGENTS } from './agent-registry.ts';
import { createAgentRequests, MOST_REQUESTS } from './agent-requests.ts';
import { createCloserWatch } from './closer-watch.ts';
import { createHalts } from './halts.ts';
import { createIssuedTokens } from './issued-tokens.ts';
import { createLongPolls } from './long-polls.ts';
import { createPendingOrders } from './pending-orders.ts';
import { createPolicies } from './policies.ts';
import { createReachedLimits } from './spending.ts';

export type State = ReturnType<typeof createState>;

/** What an instance has read from the log. `fallback`: the policy of agents that request none; `closing` ends long polls. */
export const createState = (fallback: string, closing: AbortSignal) => ({
  pendingOrders: createPendingOrders(),
  agentRegistry: createAgentRegistry(MOST_AGENTS),
  longPolls: createLongPolls(closing),
  policies: createPolicies(fallback),
  closerWatch: createCloserWatch(MOST_AGENTS),
  limits: createReachedLimits(),
  halts: createHalts(),
  issuedTokens: createIssuedTokens(),
  agentRequests: createAgentRequests(MOST_REQUESTS),
  terminalLeases: createTerminalLeases(),
  /** orders whose texts are on their way in the answer to a hook */
  textsInFlight: new Set<string>(),
});
