import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/**
 * Gas Town's deacon and a dog with a limit of four seconds. Half as long again is watched, three times is a warrant,
 * five times its end.
 */
export const policy = JSON.stringify({
  policy: 'dogs',
  heartbeat: { interval: '1s', lost_after: '15s' },
  signals: {
    late: { is: 'call_overdue', buffer: '2s' },
    very_late: { is: 'call_overdue', buffer: '8s' },
    far_too_late: { is: 'call_overdue', buffer: '16s' },
  },
  states: { FAILING: ['far_too_late'], STUCK: ['very_late'], DEGRADED: ['late'] },
  warrant: { label: 'pool:dog', renew: '2s', void: '30s' },
  plans: [
    { when: 'FAILING', do: [{ terminate: { grace: '500ms' } }] },
    { when: 'STUCK', do: [{ alert: 'ops' }] },
  ],
});

export const roles: readonly Role[] = [{ name: 'dog', part: 'testsForTooLong', policy: 'dogs' }];

const { agentHealth, agentIntervention, agentOrder, taskRecovery } = Topic;

export const watchedWarrantedCleared = async ({ all, comes, types, isAlive }: Stage): Promise<void> => {
  await comes(agentIntervention, 'dog', 'CASE_CLOSED', 2);
  const states = all(agentHealth, 'dog', 'HEALTH_STATE_CHANGED').map(({ to }) => to);
  expect(states.slice(states.indexOf('DEGRADED')).slice(0, 3)).toEqual(['DEGRADED', 'STUCK', 'FAILING']);
  await holds(() =>
    expect(all(agentHealth, 'dog', 'WARRANT_FILED'), 'none while it is only watched').toMatchObject([
      { state: 'STUCK' },
    ]),
  );
  const emitted = ['CASE_OPENED', 'ALERT_REQUESTED', 'CASE_CLOSED'];
  expect(types(agentIntervention, 'dog')).toEqual([...emitted, 'CASE_OPENED', 'AGENT_TERMINATED', 'CASE_CLOSED']);
  await holds(() => expect(types(agentOrder, 'dog')).toEqual(['TERMINATE_AGENT']));
  expect(all(agentIntervention, 'dog', 'AGENT_TERMINATED')).toMatchObject([{ confirmed: true, forced: true }]);
  expect(types(taskRecovery, 'T-dog')).toEqual([]);
  expect(isAlive('dog')).toBe(false);
};
