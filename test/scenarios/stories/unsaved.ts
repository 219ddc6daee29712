import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** CODITECT's agent that works for half an hour without a checkpoint: work is not an answer to that. */
export const roles: readonly Role[] = [
  { name: 'unsaved', part: 'savesOnce', policy: 'coditect' },
  { name: 'diligent', part: 'savesAlways', policy: 'coditect' },
];

const { agentHealth, agentIntervention, agentOrder, orderReceipt, taskRecovery } = Topic;

export const nudgedThoughItWorks = async ({ all, comes, types, diary }: Stage): Promise<void> => {
  const done = await comes(taskRecovery, 'T-unsaved', 'RECOVERY_COMPLETED');
  expect(done).toMatchObject({ newAgentId: 'unsaved-r1', attempt: 1 });
  await comes(agentIntervention, 'unsaved', 'CASE_CLOSED');
  const steps = ['NUDGE_SENT', 'NUDGE_SENT', 'NUDGE_SENT', 'ESCALATION_TRIGGERED', 'AGENT_TERMINATED', 'CASE_CLOSED'];
  expect(types(agentIntervention, 'unsaved')).toEqual(['CASE_OPENED', ...steps]);
  await holds(() => expect(diary('unsaved').filter((line) => line.startsWith('received nudge'))).toHaveLength(3));
  expect(all(orderReceipt, 'unsaved', 'ORDER_RECEIPT').map(({ outcome }) => outcome)).not.toContain('superseded');
  expect(all(agentHealth, 'unsaved', 'WARRANT_FILED')).toMatchObject([{ awaits: [['checkpoint']] }]);
  await holds(() => expect(all(agentHealth, 'unsaved', 'WARRANT_LAPSED')).toMatchObject([{ why: 'ended' }]));
};

/** The other agent makes as many calls, and writes checkpoints. */
export const whoSavesIsLeftAlone = async ({ comes, types, all, isAlive }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-unsaved', 'RECOVERY_COMPLETED');
  expect(types(agentOrder, 'diligent')).toEqual([]);
  expect(types(agentIntervention, 'diligent')).toEqual([]);
  expect(all(agentHealth, 'diligent', 'HEALTH_STATE_CHANGED').map(({ to }) => to)).not.toContain('STUCK');
  expect(isAlive('diligent')).toBe(true);
};
