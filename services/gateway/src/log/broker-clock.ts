/** How long the best measurement counts: clocks drift slowly, and a corrected clock is followed soon; milliseconds. */
const SPAN_MS = 30_000;
/** The difference above which the clocks need attention, milliseconds. */
const APART_MS = 2000;

type Measured = { readonly aheadMs: number; readonly tripMs: number };

const better = (one: Measured | null, other: Measured): Measured =>
  one !== null && one.tripMs <= other.tripMs ? one : other;

/**
 * How far the brokers' clock is ahead by one record. The record was stamped at any moment of its way, so a slow way
 * leaves the difference as it was `before`, unless that is impossible.
 */
const aheadBy = (before: number, stampedAt: number, sentAt: number, acknowledgedAt: number): number => {
  const isPossible = before >= stampedAt - acknowledgedAt && before <= stampedAt - sentAt;
  return isPossible ? before : stampedAt - (sentAt + acknowledgedAt) / 2;
};

/**
 * This instance's estimate of the brokers' clock, which stamps orders and ends limits. Times are epoch milliseconds.
 * `wall`: this host's clock. `onApart`: called once each time its difference from the brokers' clock becomes large,
 * milliseconds.
 */
export const createBrokerClock = (wall: () => number, onApart: (aheadMs: number) => void) => {
  let spanFrom = wall();
  let last: Measured | null = null;
  let current: Measured | null = null;
  let isApart = false;

  const aheadMs = (): number => (current ?? last)?.aheadMs ?? 0;

  return {
    /** A record was sent, stamped by its broker, and acknowledged; `sentAt`, `acknowledgedAt`: by this host's clock. */
    observe: (sentAt: number, stampedAt: number, acknowledgedAt: number): void => {
      const tripMs = acknowledgedAt - sentAt;
      if (tripMs < 0) return;
      if (Math.abs(acknowledgedAt - spanFrom) >= SPAN_MS) {
        [last, current, spanFrom] = [current, null, acknowledgedAt];
      }
      current = better(current, { aheadMs: aheadBy(last?.aheadMs ?? 0, stampedAt, sentAt, acknowledgedAt), tripMs });
      const wasApart = isApart;
      isApart = Math.abs(aheadMs()) > APART_MS;
      if (isApart && !wasApart) onApart(aheadMs());
    },
    now: (): number => Math.round(wall() + aheadMs()),
  };
};
