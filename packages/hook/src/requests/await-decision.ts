import { type Decision, decisionBy } from '@vigil/adapters/adapter';

/** The outcome of one poll. `away`: the same again later; `refused`: not again. */
export type Polled =
  | { readonly kind: 'answered'; readonly answer: unknown }
  | { readonly kind: 'away' }
  | { readonly kind: 'refused' };

/** `pause`: resolves after so many milliseconds. `now`: epoch milliseconds */
export type Waiting = { readonly now: () => number; readonly pause: (ms: number) => Promise<void> };

/** How long one poll waits, seconds. */
export const POLL_S = 25;
const AGAIN_MS = 1000;
/** The gateway reports the end at a deadline within this time after it, milliseconds. */
const LATE_MS = 15_000;
/** The longest time that a hook waits for people, milliseconds. Its client's settings give it a little more. */
export const LONGEST_WAIT_MS = 3_600_000;

/** Until the deadline, milliseconds; null: the request is over. */
const remainingIn = (answer: unknown): number | null => {
  const { kind, remainingMs } = (answer ?? {}) as { readonly kind?: unknown; readonly remainingMs?: unknown };
  return kind === 'open' && typeof remainingMs === 'number' ? remainingMs : null;
};

/**
 * Waits for what people decide; null: no decision. A gateway that does not take the request at first is not waited for.
 * One that goes away later is asked again until the deadline.
 */
export const awaitDecision = async (
  poll: (waitSeconds: number) => Promise<Polled>,
  { now, pause }: Waiting,
  signal: AbortSignal,
): Promise<Decision | null> => {
  let giveUpAt: number | null = null;
  while (!signal.aborted && (giveUpAt === null || now() < giveUpAt)) {
    const polled = await poll(giveUpAt === null ? 0 : POLL_S);
    if (polled.kind === 'refused') return null;
    if (polled.kind === 'away') {
      if (giveUpAt === null) return null;
      await pause(AGAIN_MS);
      continue;
    }
    const remaining = remainingIn(polled.answer);
    if (remaining === null) return decisionBy(polled.answer);
    if (remaining === 0) return null;
    giveUpAt = now() + Math.min(remaining, LONGEST_WAIT_MS) + LATE_MS;
  }
  return null;
};
