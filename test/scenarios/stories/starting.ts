import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** An agent that becomes silent, also at its start, is ended and replaced, twice at most. */
export const policy = JSON.stringify({
  policy: 'starting',
  heartbeat: { interval: '1s', lost_after: '15s' },
  signals: {
    no_activity: { after: '8s' },
    crashed: { is: 'exited', reasons: ['crashed', 'resource_limit', 'lost'] },
  },
  states: { STUCK: ['no_activity'] },
  exemptions: { starting: { grace: '15s' } },
  warrant: { renew: '2s', void: '30s' },
  plans: [
    { when: 'crashed', do: ['recover'] },
    { when: 'STUCK', do: [{ terminate: { grace: '500ms' } }, 'recover'] },
  ],
  recovery: { max_attempts: 2, delays: ['0s'], spawn_deadline: '40s', probation: '5s', stable: '60s' },
});

export const roles: readonly Role[] = [{ name: 'reluctant', part: 'startsBadly', policy: 'starting' }];

const { agentIntervention, taskRecovery } = Topic;

/** gt #3133: nothing came after a start that failed. The next attempt does, then people; reset by them, it counts from nothing (gc #2541, #5973). */
export const triedAgain = async ({ all, comes, diary, runs, isAlive }: Stage): Promise<void> => {
  const review = await comes(taskRecovery, 'T-reluctant', 'REVIEW_REQUIRED');
  expect(review.reason).toMatch(/^2 of 2 attempts used: ended: crashed/);
  await holds(() =>
    expect(all(agentIntervention, 'reluctant-r1', 'AGENT_TERMINATED')).toMatchObject([{ confirmed: true }]),
  );
  // They may have recorded more, such as the request to checkpoint before their end.
  for (const name of ['reluctant-r1', 'reluctant-r2'])
    expect(diary(name).filter((line) => line.startsWith('began '))).toHaveLength(1);
  await runs('task', 'review', 'T-reluctant', 'reset');
  await holds(() =>
    expect(all(taskRecovery, 'T-reluctant', 'PROBATION_PASSED').at(-1)).toMatchObject({ agentId: 'reluctant-r3' }),
  );
  expect(all(taskRecovery, 'T-reluctant', 'RECOVERY_INITIATED').map(({ attempt }) => attempt)).toEqual([1, 2, 1]);
  expect(all(taskRecovery, 'T-reluctant', 'REVIEW_REQUIRED')).toHaveLength(1);
  expect(isAlive('reluctant-r3')).toBe(true);
};
