import { breakersAfter } from '../history/calls/breakers.ts';
import { limitedBy, type RateLimit } from '../history/calls/rate-limits.ts';
import type { History } from '../history/history.ts';
import type { Beat, Receipt } from '../history/moment.ts';
import { type LookedFor, matchesAfter, textsOf } from '../history/presence/matches.ts';
import { witnessAfter } from '../history/progress/progress-evidence.ts';
import type { Rules } from '../judgement/rules.ts';
import type { Known } from './state.ts';

/** What of a heartbeat is read with the limits and patterns of a policy. */
export function readWith({ policy, lookedFor }: Rules, state: Known, beat: Beat, receipt: Receipt): Known {
  const { history } = state;
  const breakers = breakersAfter(history.breakers, beat, receipt, policy.breakers);
  const { matches, rateLimit } = searched(history, lookedFor, beat, receipt);
  const witness = policy.ticket === null ? null : witnessAfter(history.witness, beat, receipt);
  const same = breakers === history.breakers && matches === history.matches && rateLimit === history.rateLimit;
  if (same && witness === history.witness) return state;
  return { ...state, history: { ...history, breakers, matches, rateLimit, witness } };
}

export function searched(
  history: History,
  lookedFor: LookedFor,
  beat: Beat,
  receipt: Receipt,
): { readonly matches: History['matches']; readonly rateLimit: RateLimit } {
  const texts = textsOf(history.matches, beat);
  const limited = texts.some(({ text }) => lookedFor.rateLimits.some((pattern) => pattern.isIn(text)));
  return {
    matches: matchesAfter(history.matches, texts, lookedFor, beat, receipt),
    rateLimit: limited ? limitedBy(history.rateLimit, beat, receipt) : history.rateLimit,
  };
}
