import { breakersAfter } from '../history/calls/breakers.ts';
import { limitedBy, type RateLimit } from '../history/calls/rate-limits.ts';
import type { History } from '../history/history.ts';
import type { Heartbeat, Receipt } from '../history/moment.ts';
import { type LookedFor, matchesAfter, textsOf } from '../history/presence/matches.ts';
import { progressEvidenceAfter } from '../history/progress/progress-evidence.ts';
import type { Rules } from '../judgement/rules.ts';
import type { KnownAgent } from './state.ts';

/** What of a heartbeat is read with the limits and patterns of a policy. */
export function readWith(
  { policy, lookedFor }: Rules,
  state: KnownAgent,
  heartbeat: Heartbeat,
  receipt: Receipt,
): KnownAgent {
  const { history } = state;
  const breakers = breakersAfter(history.breakers, heartbeat, receipt, policy.breakers);
  const { matches, rateLimit } = searched(history, lookedFor, heartbeat, receipt);
  const progressEvidence =
    policy.ticket === null ? null : progressEvidenceAfter(history.progressEvidence, heartbeat, receipt);
  const same = breakers === history.breakers && matches === history.matches && rateLimit === history.rateLimit;
  if (same && progressEvidence === history.progressEvidence) return state;
  return { ...state, history: { ...history, breakers, matches, rateLimit, progressEvidence } };
}

export function searched(
  history: History,
  lookedFor: LookedFor,
  heartbeat: Heartbeat,
  receipt: Receipt,
): { readonly matches: History['matches']; readonly rateLimit: RateLimit } {
  const texts = textsOf(history.matches, heartbeat);
  const limited = texts.some(({ text }) => lookedFor.rateLimits.some((pattern) => pattern.isIn(text)));
  return {
    matches: matchesAfter(history.matches, texts, lookedFor, heartbeat, receipt),
    rateLimit: limited ? limitedBy(history.rateLimit, heartbeat, receipt) : history.rateLimit,
  };
}
