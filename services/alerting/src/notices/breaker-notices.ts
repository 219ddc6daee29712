import type { CircuitBreakerStateChangedPayload } from '@vigil/events';
import { type Noticed, raise, resolve } from './notice.ts';

const ROUTE = 'circuit_breaker_open';

/** HALF_OPEN is neither: the alert stays until a trial has succeeded. */
export const breakerNotices = (changed: CircuitBreakerStateChangedPayload): readonly Noticed[] => {
  const { name, to, agentId, taskId, failures, nextAttemptAt } = changed;
  const about = { agentId, taskId, of: name };
  switch (to) {
    case 'OPEN': {
      const next = nextAttemptAt === null ? '' : `; no attempt before ${new Date(nextAttemptAt).toISOString()}`;
      const title = `${taskId ?? agentId}: breaker ${name} is open`;
      return [raise(ROUTE, about, { title, text: `${failures} failures in a row${next}` })];
    }
    case 'CLOSED':
      return [resolve(ROUTE, about, `breaker ${name} is closed`)];
    case 'HALF_OPEN':
    case 'UNKNOWN':
      return [];
  }
};
