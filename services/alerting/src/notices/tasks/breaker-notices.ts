import type { CircuitBreakerStateChangedPayload } from '@vigil/events';
import { utcTime } from '@vigil/policy';
import { type Noticed, raise, resolve } from '../notice.ts';

export const BREAKER_ROUTE = 'circuit_breaker_open';

/** The breaker of a task's recovery, which Vigil itself obeys. */
export const RECOVERY = 'recovery_attempt';

/** A pause of recovery that ends within this time is none: the review that follows the last attempt ends it at once. Milliseconds. */
const PAUSES_MS = 2000;

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

/** HALF_OPEN is neither: the alert stays until a trial has succeeded. */
export const breakerNotices = (changed: CircuitBreakerStateChangedPayload): readonly Noticed[] => {
  const { name, to, agentId, taskId } = changed;
  const about = { agentId, taskId, of: name };
  switch (to) {
    case 'OPEN': {
      const ofTask = taskId !== null && name === RECOVERY;
      const details = ofTask ? { ...ofRecovery(taskId, changed), afterMs: PAUSES_MS } : ofCalls(changed);
      return [raise(BREAKER_ROUTE, about, details)];
    }
    case 'CLOSED':
      return [resolve(BREAKER_ROUTE, about, `breaker ${name} is closed`)];
    case 'HALF_OPEN':
    case 'UNKNOWN':
      return [];
  }
};
