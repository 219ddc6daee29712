import { randomUUID } from 'node:crypto';
import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { writer } from '@vigil/stream';
import { expect } from 'vitest';
import { holds, until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** Deaths before the execution of orders, and messages that outlive their receiver. */
export const racers: readonly Role[] = [
  { name: 'early', part: 'failsAndStays', policy: 'coditect' },
  { name: 'late', part: 'failsAndStays', policy: 'coditect' },
];
export const roles: readonly Role[] = [
  { name: 'undelivered', part: 'isInACall', policy: 'cancelled', template: { nudge: 'terminal' } },
  { name: 'held', part: 'worksAndSaves', policy: 'coditect' },
  { name: 'rival', part: 'crashesOnRequest', policy: 'coditect', task: 'T-held' },
];

const { agentHealth, agentIntervention, agentOrder, orderReceipt, taskRecovery } = Topic;

/**
 * gt #729: killed while it died, it was never respawned. Dead before its end is ordered or just after, it has one
 * replacement.
 */
export const diesAsItIsEnded = async ({ all, comes, types, diary, pid, isAlive }: Stage): Promise<void> => {
  await comes(agentIntervention, 'early', 'CASE_OPENED');
  process.kill(pid('early'), 'SIGKILL');
  await comes(agentOrder, 'late', 'TERMINATE_AGENT');
  await comes(agentHealth, 'late', 'CIRCUIT_BREAKER_STATE_CHANGED');
  if (isAlive('late')) process.kill(pid('late'), 'SIGKILL');
  for (const name of ['early', 'late']) {
    expect(await comes(taskRecovery, `T-${name}`, 'PROBATION_PASSED')).toMatchObject({ agentId: `${name}-r1` });
    expect(all(taskRecovery, `T-${name}`, 'RECOVERY_INITIATED')).toHaveLength(1);
    await holds(() => expect(types(agentOrder, `${name}-r1`)).toEqual(['SPAWN_AGENT']));
    expect(diary(`${name}-r1`)).toEqual([expect.stringMatching(/^began/)]);
  }
};

/** gc #1700, #2714: what had opened for one that was killed was still open for the next. */
export const breakerEndsWithItsInstance = async ({ all, comes }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-late', 'PROBATION_PASSED');
  const changes = () => all(agentHealth, 'late', 'CIRCUIT_BREAKER_STATE_CHANGED');
  expect(changes()[0]).toMatchObject({ name: 'tool_execution', from: 'CLOSED' });
  const closed = { name: 'tool_execution', to: 'CLOSED', taskId: 'T-late', failures: 0 };
  await holds(() => expect(changes().at(-1)).toMatchObject(closed));
  expect(all(agentHealth, 'late-r1', 'CIRCUIT_BREAKER_STATE_CHANGED')).toEqual([]);
};

/** gc #3970, #4300: an undelivered message reached the next agent. */
export const replacementGetsItsOwn = async ({ all, comes, diary, go, pid, runs }: Stage): Promise<void> => {
  await comes(agentHealth, 'undelivered', 'INSTANCE_STARTED');
  await runs('nudge', 'undelivered', '--message', 'Please commit.', '--no-wait');
  await comes(agentOrder, 'undelivered', 'NUDGE_AGENT');
  await until('it has begun', async () => diary('undelivered').length > 0);
  process.kill(pid('undelivered'), 'SIGKILL');
  await comes(taskRecovery, 'T-undelivered', 'RECOVERY_COMPLETED');
  expect(await comes(orderReceipt, 'undelivered', 'ORDER_RECEIPT')).toMatchObject({
    kind: 'nudge',
    outcome: 'superseded',
  });
  await until('its replacement begins', async () => diary('undelivered-r1').length > 0);
  go('undelivered-r1');
  await runs('nudge', 'undelivered-r1', '--message', 'Please test.', '--no-wait');
  await until('its replacement is nudged', async () => diary('undelivered-r1').length > 1);
  expect(diary('undelivered-r1').slice(1)).toEqual(['typed while it is idle: Please test.']);
  await holds(() =>
    expect(all(agentIntervention, 'undelivered-r1', 'NUDGE_SENT')).toMatchObject([{ attempt: 1, of: 1 }]),
  );
};

/** gt #909, #1071: a kill meant for an earlier instance hit the next of the same name. */
export const lateKillHarmsNone = async ({ vigil, all, comes, isAlive }: Stage): Promise<void> => {
  const { instanceId, runtimeId } = await comes(agentHealth, 'held', 'INSTANCE_STARTED');
  const about = { agentId: 'held', instanceId: `${instanceId}-before`, runtimeId: runtimeId ?? '', taskId: 'T-held' };
  const order = { orderId: randomUUID(), number: 1, ttlMs: 60_000, foldedSequence: null, awaits: null, axes: ['fact'] };
  const { topic, type, payload } = example(agentOrder, 'TERMINATE_AGENT', { ...about, ...order, caseId: null });
  await writer(vigil.log, Date.now).write([{ topic, type, key: 'held', payload }]);
  expect(await comes(orderReceipt, 'held', 'ORDER_RECEIPT')).toMatchObject({
    kind: 'terminate',
    outcome: 'superseded',
  });
  await holds(() => expect(all(orderReceipt, 'held', 'ORDER_RECEIPT')).toMatchObject([{ confirmed: false }]));
  expect(isAlive('held')).toBe(true);
};

/** oc #1328: forty agents claimed one item. The assignee keeps it, and no agent is put beside it. */
export const assigneeKeepsItsTask = async ({ all, comes, diary, go, types, isAlive }: Stage): Promise<void> => {
  await comes(agentHealth, 'held', 'INSTANCE_STARTED');
  await until('its rival works', async () => diary('rival').length > 0);
  go('rival');
  expect(await comes(taskRecovery, 'T-held', 'TASK_RELEASED')).toMatchObject({ why: 'reassigned' });
  await holds(() => expect(all(agentIntervention, 'rival', 'CASE_OPENED')).toMatchObject([{ state: 'TERMINATED' }]));
  await holds(() => expect(types(taskRecovery, 'T-held')).toEqual(['TASK_RELEASED']));
  expect(diary('rival-r1')).toEqual([]);
  expect(isAlive('held')).toBe(true);
};
