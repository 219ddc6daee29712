import type { CircuitBreakerStateChangedPayload } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import { type Noticed, raise, resolve, settle } from '../notice.ts';

export const BREAKER_ROUTE = 'circuit_breaker_open';

/** The breaker of a task's recovery, which Vigil itself obeys. */
export const RECOVERY = 'recovery_attempt';

/**
 * How long recovery pauses before people are notified, milliseconds. A shorter pause ends by itself: a trial follows, or
 * the review, which is an alert of its own. CODITECT's shortest pause is 30 s, and its alert has to come.
 */
const PAUSE_LIMIT_MS = 15_000;

type Texts = { readonly title: string; readonly text: string };
type Changed = CircuitBreakerStateChangedPayload;

const ofRecovery = (taskId: string, { failures, nextAttemptAt }: Changed): Texts => {
  const until = nextAttemptAt === null ? '' : ` until ${utcTime(nextAttemptAt)}; one trial follows`;
  return {
    title: `${taskId}: ${failures} attempts in a row have failed, so its recovery pauses`,
    text: `Vigil starts no agent for it${until}. Find out why the attempts end: vigil task show ${taskId}`,
  };
};

const ofCalls = ({ name, agentId, taskId, failures, nextAttemptAt }: Changed): Texts => {
  const until = nextAttemptAt === null ? '' : ` It is to try again from ${utcTime(nextAttemptAt)}.`;
  const find = agentId === null ? '' : ` Find the cause: vigil explain ${agentId}`;
  return {
    title: `${taskId ?? agentId}: ${failures} failures in a row, so the breaker ${name} is open`,
    text: `The agent is to stop calls of this kind.${until}${find}`,
  };
};

/** HALF_OPEN leaves an alert open until a trial has succeeded. A pause of recovery that is not an alert yet ends with it. */
export const breakerNotices = (changed: CircuitBreakerStateChangedPayload): readonly Noticed[] => {
  const { name, to, agentId, taskId } = changed;
  const about = { agentId, taskId, of: name };
  const ofTask = name === RECOVERY ? taskId : null;
  switch (to) {
    case 'OPEN': {
      const details = ofTask === null ? ofCalls(changed) : { ...ofRecovery(ofTask, changed), afterMs: PAUSE_LIMIT_MS };
      return [raise(BREAKER_ROUTE, about, details)];
    }
    case 'CLOSED':
      return [resolve(BREAKER_ROUTE, about, `breaker ${name} is closed`)];
    case 'HALF_OPEN':
      if (ofTask === null) return [];
      return [
        settle(BREAKER_ROUTE, about, { title: `${ofTask}: its recovery is tried again`, text: 'a trial begins' }),
      ];
    case 'UNKNOWN':
      return [];
  }
};
