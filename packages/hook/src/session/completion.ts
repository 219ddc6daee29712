import type { AskAtStop } from '@vigil/health/proof';

/** What the gateway's answer to a heartbeat asks of an agent that ends its turn; null: nothing. */
export const askAtStopIn = (answer: unknown): AskAtStop | null => {
  const asked = (answer as { askAtStop?: { needsCheck?: unknown } | null } | null)?.askAtStop;
  return asked ? { needsCheck: asked.needsCheck === true } : null;
};
