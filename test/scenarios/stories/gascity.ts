import { existsSync } from 'node:fs';
import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import type { Role, Stage } from '../stage.ts';

/** gascity's shutdown dance, about an agent whose work item stands still while its output shows an error pattern. */
export const roles: readonly Role[] = [
  { name: 'wedged', part: 'wedged', policy: 'gascity' },
  { name: 'answers', part: 'wedgedButAnswers', policy: 'gascity' },
];

const { agentHealth, agentIntervention, agentOrder, orderReceipt, taskRecovery } = Topic;

export const executedWhenSilent = async ({ all, comes, types, diary, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'wedged', 'CASE_CLOSED')).toMatchObject({ ending: 'executed' });
  expect(types(agentOrder, 'wedged')).toEqual(['PROBE_AGENT', 'PROBE_AGENT', 'PROBE_AGENT', 'TERMINATE_AGENT']);
  const probes = all(agentOrder, 'wedged', 'PROBE_AGENT');
  expect(probes.map(({ waitMs }) => waitMs)).toEqual([2000, 4000, 8000]);
  expect(new Set(probes.map(({ nonce }) => nonce)).size).toBe(3);
  for (const [index, { message, nonce }] of probes.entries()) {
    expect(message).toMatch(
      /^\[DOG\] HEALTH CHECK: Session wedged, respond ALIVE within \d+s or face termination\.\nWarrant reason: /,
    );
    expect(message).toContain(`Filed by: controller\nAttempt: ${index + 1}/3\nAnswer: ALIVE ${nonce}`);
  }
  expect(diary('wedged').filter((line) => line.startsWith('heard probe'))).toHaveLength(3);
  expect(all(agentHealth, 'wedged', 'WARRANT_FILED')).toMatchObject([{ label: 'pool:dog', title: 'stuck:wedged' }]);
  expect(isAlive('wedged')).toBe(false);
  expect(types(taskRecovery, 'T-wedged')).toEqual([]);
};

/** What it had said stays: the archive is written before anybody hears of its death. */
export const forensicsBeforeTheKill = async ({ all, comes }: Stage): Promise<void> => {
  const { forensics } = await comes(agentIntervention, 'wedged', 'AGENT_TERMINATED');
  expect(existsSync(new URL(forensics ?? 'file:///none'))).toBe(true);
  const receipt = all(orderReceipt, 'wedged', 'ORDER_RECEIPT').find(({ kind }) => kind === 'terminate');
  expect(receipt?.lastOutput.join('\n')).toContain('API Error: 400 tool_use ids');
};

export const pardonedByItsAnswer = async ({ comes, types, isAlive }: Stage): Promise<void> => {
  expect(await comes(agentIntervention, 'answers', 'CASE_CLOSED')).toMatchObject({ ending: 'pardoned' });
  await comes(agentIntervention, 'wedged', 'AGENT_TERMINATED');
  expect(types(agentIntervention, 'answers')).toEqual(['CASE_OPENED', 'CASE_CLOSED']);
  expect(new Set(types(agentOrder, 'answers'))).toEqual(new Set(['PROBE_AGENT']));
  expect(isAlive('answers')).toBe(true);
};
