import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createCloserWatch } from './closer-watch.ts';

const agentId = 'worker-1';
const to = (state: 'HEALTHY' | 'DEGRADED' | 'STUCK' | 'FAILING' | 'TERMINATED' | 'UNKNOWN', id = agentId) =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId: id, to: state });
const started = example(Topic.agentHealth, 'INSTANCE_STARTED', { agentId });
const completed = example(Topic.taskRecovery, 'RECOVERY_COMPLETED', { taskId: 'T-1', newAgentId: agentId });

test.each(['DEGRADED', 'STUCK', 'FAILING'] as const)(
  'an agent that is %s is watched more closely, and it is the reason',
  (state) => {
    const watch = createCloserWatch(10);
    watch.observeHealth(to(state), 1);
    expect(watch.reasonFor(agentId)).toBe(state);
    expect(watch.reasonFor('worker-2')).toBeNull();
  },
);

test.each([
  ['is HEALTHY again', to('HEALTHY')],
  ['has ended', to('TERMINATED')],
  ['has a new instance', started],
  ['has a state that this version does not support', to('UNKNOWN')],
] as const)('an agent that %s is dropped', (_, event) => {
  const watch = createCloserWatch(10);
  watch.observeHealth(to('STUCK'), 1);
  watch.observeHealth(event, 2);
  expect([watch.reasonFor(agentId), watch.size()]).toEqual([null, 0]);
});

test('a recovered agent is watched more closely from its first heartbeat until its probation ends', () => {
  const { reasonFor, observeRecovery } = createCloserWatch(10);
  const initiated = { taskId: 'T-1', newAgentId: agentId };
  observeRecovery(example(Topic.taskRecovery, 'RECOVERY_INITIATED', initiated), 1);
  expect(reasonFor(agentId)).toBeNull();
  observeRecovery(completed, 2);
  expect(reasonFor(agentId)).toBe('probation');
  observeRecovery(example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: 'T-1', agentId }), 3);
  expect(reasonFor(agentId)).toBeNull();
});

test.each([
  ['fails', example(Topic.taskRecovery, 'RECOVERY_FAILED', { taskId: 'T-1' })],
  ['releases the task', example(Topic.taskRecovery, 'TASK_RELEASED', { taskId: 'T-1' })],
  [
    'begins again with another agent',
    example(Topic.taskRecovery, 'RECOVERY_INITIATED', { taskId: 'T-1', newAgentId: 'worker-9' }),
  ],
] as const)('a probation ends when recovery %s, and nothing is held', (_, event) => {
  const watch = createCloserWatch(10);
  watch.observeRecovery(completed, 1);
  watch.observeRecovery({ ...event, payload: { ...event.payload, taskId: 'T-2' } } as typeof event, 2);
  expect(watch.reasonFor(agentId)).toBe('probation');
  watch.observeRecovery(event, 3);
  expect([watch.reasonFor(agentId), watch.size()]).toEqual([null, 0]);
});

test('a probation that a person or a limit ends for one task leaves that of another task', () => {
  const { reasonFor, observeRecovery } = createCloserWatch(10);
  observeRecovery(completed, 1);
  observeRecovery({ ...completed, payload: { ...completed.payload, taskId: 'T-2' } }, 2);
  observeRecovery(example(Topic.taskRecovery, 'TASK_RELEASED', { taskId: 'T-1' }), 3);
  expect(reasonFor(agentId)).toBe('probation');
});

test('the state of an agent on probation is the reason that is named', () => {
  const { reasonFor, observeHealth, observeRecovery } = createCloserWatch(10);
  observeRecovery(completed, 1);
  observeHealth(to('DEGRADED'), 1);
  expect(reasonFor(agentId)).toBe('DEGRADED');
  observeHealth(to('HEALTHY'), 2);
  expect(reasonFor(agentId)).toBe('probation');
});

test('the newest record counts, in any order of reading', () => {
  const { reasonFor, observeHealth, observeRecovery } = createCloserWatch(10);
  observeHealth(to('HEALTHY'), 7);
  observeHealth(to('STUCK'), 3);
  observeRecovery(example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: 'T-1', agentId }), 7);
  observeRecovery(completed, 3);
  expect(reasonFor(agentId)).toBeNull();
  observeHealth(to('STUCK'), 8);
  expect(reasonFor(agentId)).toBe('STUCK');
});

test('an agent with a reason is never forgotten; of the others only the newest are remembered', () => {
  const watch = createCloserWatch(2);
  watch.observeHealth(to('STUCK'), 1);
  for (let n = 0; n < 50; n++) watch.observeHealth(to('HEALTHY', `well-${n}`), 10 + n);
  expect([watch.reasonFor(agentId), watch.size()]).toEqual(['STUCK', 1]);
});
