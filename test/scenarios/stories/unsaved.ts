import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { holds } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** CODITECT's agent that works for half an hour without a checkpoint: work is not an answer to that. */
export const roles: readonly Role[] = [
  { name: 'unsaved', part: 'savesOnce', policy: 'coditect' },
  { name: 'diligent', part: 'savesAlways', policy: 'coditect' },
  { name: 'inquisitive', part: 'asksOften', policy: 'coditect' },
];

/** As the policy `coditect` has it: CODITECT's half an hour. */
const UNSAVED_MS = 1_800_000 / 80;

const { agentHealth, agentObservation, agentIntervention, agentOrder, orderReceipt, taskRecovery } = Topic;

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

/**
 * REMINDER: You have been working for {duration} without checkpoint update. That is the time since its checkpoint, and
 * not since its last call, which is half a second ago.
 */
export const remindedOfTheTimeSinceItsCheckpoint = async ({ comes, received }: Stage): Promise<void> => {
  await comes(agentIntervention, 'unsaved', 'NUDGE_SENT', 3);
  const [savedAt] = received
    .of(agentObservation)
    .flatMap((event) =>
      event.type === 'AGENT_HEARTBEAT' && event.key === 'unsaved' ? (event.payload.checkpoint?.created_at ?? []) : [],
    );
  const nudges = received
    .of(agentIntervention)
    .flatMap((event) => (event.type === 'NUDGE_SENT' && event.key === 'unsaved' ? [event] : []));
  const spent = nudges.map(({ payload, occurredAt }) => {
    const [, seconds] = /^REMINDER: You have been working for (\d+) seconds without\n/.exec(payload.message) ?? [];
    return { seconds: Number(seconds), sinceMs: occurredAt - (savedAt ?? Number.NaN) };
  });
  for (const { seconds, sinceMs } of spent) {
    expect(seconds).toBeGreaterThanOrEqual(Math.floor(UNSAVED_MS / 1000));
    expect(seconds * 1000).toBeLessThanOrEqual(sinceMs + 1000);
  }
  const [first, , third] = spent;
  expect(third?.seconds).toBeGreaterThan(first?.seconds ?? Number.NaN);
};

/** The other agent makes as many calls, and writes checkpoints. */
export const whoSavesIsLeftAlone = async ({ comes, types, all, isAlive }: Stage): Promise<void> => {
  await comes(taskRecovery, 'T-unsaved', 'RECOVERY_COMPLETED');
  expect(types(agentOrder, 'diligent')).toEqual([]);
  expect(types(agentIntervention, 'diligent')).toEqual([]);
  expect(all(agentHealth, 'diligent', 'HEALTH_STATE_CHANGED').map(({ to }) => to)).not.toContain('STUCK');
  expect(isAlive('diligent')).toBe(true);
};

/** Its permissions suspend the plan while they are open, and end neither the finding nor the count of its nudges. */
export const askingEndsNoPlan = async ({ all, comes, types }: Stage): Promise<void> => {
  const done = await comes(taskRecovery, 'T-inquisitive', 'RECOVERY_COMPLETED');
  expect(done).toMatchObject({ newAgentId: 'inquisitive-r1', attempt: 1 });
  await comes(agentIntervention, 'inquisitive', 'CASE_CLOSED');
  const steps = types(agentIntervention, 'inquisitive');
  expect(steps.filter((step) => step === 'NUDGE_SENT')).toHaveLength(3);
  // People are asked again where the deadline passes in a wait.
  const order = ['CASE_OPENED', 'NUDGE_SENT', 'ESCALATION_TRIGGERED', 'AGENT_TERMINATED', 'CASE_CLOSED'];
  expect([...new Set(steps)]).toEqual(order);
  const renewed = all(agentHealth, 'inquisitive', 'WARRANT_RENEWED').map(({ suspendedBy }) => suspendedBy);
  expect(renewed).toContain('awaiting_input');
  await holds(() => expect(all(agentHealth, 'inquisitive', 'WARRANT_LAPSED')).toMatchObject([{ why: 'ended' }]));
  const states = all(agentHealth, 'inquisitive', 'HEALTH_STATE_CHANGED').map(({ to }) => to);
  expect(states.slice(states.indexOf('STUCK'))).toEqual(['STUCK', 'TERMINATED']);
};
