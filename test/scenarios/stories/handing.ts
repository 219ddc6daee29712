import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** A plan that requests a checkpoint and a stop from stalled agents, before it ends them. */
export const policy = JSON.stringify({
  policy: 'handing',
  heartbeat: { interval: '1s', lost_after: '15s' },
  signals: { no_activity: { after: '8s' } },
  states: { STUCK: ['no_activity'] },
  warrant: { renew: '2s', void: '30s' },
  plans: [{ when: 'STUCK', do: [{ handoff: { deadline: '8s' } }, { terminate: { grace: '500ms' } }, 'recover'] }],
  recovery: { delays: ['0s'], spawn_deadline: '40s', probation: '5s', stable: '60s' },
});

export const roles: readonly Role[] = [
  { name: 'gives', part: 'handoff', policy: 'handing' },
  { name: 'clings', part: 'stallsOnce', policy: 'handing' },
];

const { agentIntervention, agentOrder, taskRecovery } = Topic;

/**
 * gc #2293: gone with its work still assigned. It continues, from the checkpoint that the agent wrote on request, or
 * from its last one.
 */
export const byPlan = async ({ all, comes, diary, types }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-gives', 'RECOVERY_COMPLETED');
  await holds(() => expect(types(agentOrder, 'gives')).toEqual(['HANDOFF_AGENT']));
  await holds(() => expect(diary('gives').at(-1)).toMatch(/^received handoff_request "Please write a checkpoint/));
  expect(all(taskRecovery, 'T-gives', 'RECOVERY_INITIATED')).toMatchObject([{ fromCheckpoint: 'gives-4' }]);
  await comes(taskRecovery, 'T-clings', 'RECOVERY_COMPLETED');
  await holds(() =>
    expect(types(agentIntervention, 'clings')).toEqual([
      'CASE_OPENED',
      'HANDOFF_REQUESTED',
      'AGENT_TERMINATED',
      'CASE_CLOSED',
    ]),
  );
  await holds(() => expect(types(agentOrder, 'clings')).toEqual(['HANDOFF_AGENT', 'TERMINATE_AGENT']));
  expect(all(taskRecovery, 'T-clings', 'RECOVERY_INITIATED')).toHaveLength(1);
};
