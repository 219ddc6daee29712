import type { End, History } from '../history.ts';

/** An agent that has been silent for this long counts as lost, and is forgotten: seven days. */
const LOST_MS = 7 * 24 * 3_600_000;

/** From when silence alone ends the agent, on `now`'s axis: a closed ingress excuses it until then. */
export const lostForGoodFrom = ({ lastReceipt }: History): number => lastReceipt.now + LOST_MS;

/** Without a reported end, and silent for seven days, the agent ended at its last heartbeat. Otherwise the same history. */
export function endedBySilence(history: History, now: number): History {
  if (history.end !== null || now < lostForGoodFrom(history)) return history;
  const end: End = { reason: 'lost', at: history.lastReceipt.now, orderId: null, bySelf: false };
  return { ...history, end };
}
