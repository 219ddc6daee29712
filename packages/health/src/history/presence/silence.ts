import type { End, History } from '../history.ts';

/** An agent of which nothing has been received for so long is taken for lost, and forgotten: seven days. */
const LOST_MS = 7 * 24 * 3_600_000;

/** From when silence alone ends the agent, on `now`'s axis: a closed ingress excuses it until then. */
export const lostForGoodFrom = ({ lastReceipt }: History): number => lastReceipt.now + LOST_MS;

/** Nobody has reported its end, and nothing has been received for seven days: it ended when it was last heard. The same history otherwise. */
export function endedBySilence(history: History, now: number): History {
  if (history.end !== null || now < lostForGoodFrom(history)) return history;
  const end: End = { reason: 'lost', at: history.lastReceipt.now, orderId: null, bySelf: false };
  return { ...history, end };
}
