import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import type { Role, Stage } from '../stage.ts';

/** CODITECT: five recoveries an hour. These agents have a policy of their own, which counts no other agent's recovery. */
const names = ['hour-1', 'hour-2', 'hour-3', 'hour-4'];
const roles: readonly Role[] = names.map((name) => ({ name, part: 'failsOnRequest', policy: 'coditect-hour' }));

const { agentObservation, taskRecovery } = Topic;

/**
 * Max recovery attempts per hour: 5. While the fleet has other runtimes, one uses half of them, rounded up. So three
 * tasks are recovered, and the fourth goes to people without an attempt. The agents have a runtime of their own, beside
 * that of the act.
 */
export const beyondItsHour = async ({ comes, enter, go, types }: Stage): Promise<void> => {
  const leave = enter(roles);
  try {
    for (const name of names.slice(0, 3)) {
      await comes(agentObservation, name, 'AGENT_HEARTBEAT');
      go(name);
      expect(await comes(taskRecovery, `T-${name}`, 'RECOVERY_COMPLETED')).toMatchObject({ newAgentId: `${name}-r1` });
    }
    go('hour-4');
    const review = await comes(taskRecovery, 'T-hour-4', 'REVIEW_REQUIRED');
    expect(review).toMatchObject({ attempts: 0, of: null });
    expect(review.reason).toMatch(/^5 spawns an hour for .+ by policy coditect-hour, at most half of them for one of/);
    expect(types(taskRecovery, 'T-hour-4')).toEqual(['RECOVERY_FAILED', 'REVIEW_REQUIRED']);
  } finally {
    await leave();
  }
};
