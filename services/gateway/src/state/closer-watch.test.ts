import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { createCloserWatch } from './closer-watch.ts';

/** A record of partition 0, written at its offset in milliseconds. */
const at = (offset: number) => ({ partition: 0, offset, timestamp: offset });

const agentId = 'worker-1';
const to = (state: 'HEALTHY' | 'DEGRADED' | 'STUCK' | 'FAILING' | 'TERMINATED' | 'UNKNOWN', id = agentId) =>
  example(Topic.agentHealth, 'HEALTH_STATE_CHANGED', { agentId: id, to: state });
const started = example(Topic.agentHealth, 'INSTANCE_STARTED', { agentId });
const completed = example(Topic.taskRecovery, 'RECOVERY_COMPLETED', { taskId: 'T-1', newAgentId: agentId });

test.each(['DEGRADED', 'STUCK', 'FAILING'] as const)(
  'an agent that is %s is watched more closely, and it is the reason',
  (state) => {
    const watch = createCloserWatch(10);
    watch.observeHealth(to(state), at(1));
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
  watch.observeHealth(to('STUCK'), at(1));
  watch.observeHealth(event, at(2));
  expect([watch.reasonFor(agentId), watch.size().watched]).toEqual([null, 0]);
});

test('a recovered agent is watched more closely from its first heartbeat until its probation ends', () => {
  const { reasonFor, observeRecovery } = createCloserWatch(10);
  const initiated = { taskId: 'T-1', newAgentId: agentId };
  observeRecovery(example(Topic.taskRecovery, 'RECOVERY_INITIATED', initiated), at(1));
  expect(reasonFor(agentId)).toBeNull();
  observeRecovery(completed, at(2));
  expect(reasonFor(agentId)).toBe('probation');
  observeRecovery(example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: 'T-1', agentId }), at(3));
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
  watch.observeRecovery(completed, at(1));
  watch.observeRecovery({ ...event, payload: { ...event.payload, taskId: 'T-2' } } as typeof event, at(2));
  expect(watch.reasonFor(agentId)).toBe('probation');
  watch.observeRecovery(event, at(3));
  expect([watch.reasonFor(agentId), watch.size().watched]).toEqual([null, 0]);
});

test('a probation that a person or a limit ends for one task leaves that of another task', () => {
  const { reasonFor, observeRecovery } = createCloserWatch(10);
  observeRecovery(completed, at(1));
  observeRecovery({ ...completed, payload: { ...completed.payload, taskId: 'T-2' } }, at(2));
  observeRecovery(example(Topic.taskRecovery, 'TASK_RELEASED', { taskId: 'T-1' }), at(3));
  expect(reasonFor(agentId)).toBe('probation');
});

test('the state of an agent on probation is the reason that is named', () => {
  const { reasonFor, observeHealth, observeRecovery } = createCloserWatch(10);
  observeRecovery(completed, at(1));
  observeHealth(to('DEGRADED'), at(1));
  expect(reasonFor(agentId)).toBe('DEGRADED');
  observeHealth(to('HEALTHY'), at(2));
  expect(reasonFor(agentId)).toBe('probation');
});

test('the newest record counts, in any order of reading', () => {
  const { reasonFor, observeHealth, observeRecovery } = createCloserWatch(10);
  observeHealth(to('HEALTHY'), at(7));
  observeHealth(to('STUCK'), at(3));
  observeRecovery(example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: 'T-1', agentId }), at(7));
  observeRecovery(completed, at(3));
  expect(reasonFor(agentId)).toBeNull();
  observeHealth(to('STUCK'), at(8));
  expect(reasonFor(agentId)).toBe('STUCK');
});

test('of an agent on probation for two tasks, the end of either leaves the other', () => {
  for (const ends of ['T-1', 'T-2']) {
    const watch = createCloserWatch(10);
    watch.observeRecovery(completed, at(1));
    watch.observeRecovery({ ...completed, payload: { ...completed.payload, taskId: 'T-2' } }, at(2));
    watch.observeRecovery(example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: ends, agentId }), at(3));
    expect(watch.reasonFor(agentId)).toBe('probation');
    const other = ends === 'T-1' ? 'T-2' : 'T-1';
    watch.observeRecovery(example(Topic.taskRecovery, 'PROBATION_PASSED', { taskId: other, agentId }), at(4));
    expect([watch.reasonFor(agentId), watch.size().watched]).toEqual([null, 0]);
  }
});

test('however many agents are healthy, an agent with a reason keeps it', () => {
  const watch = createCloserWatch(2);
  watch.observeHealth(to('STUCK'), at(1));
  for (let n = 0; n < 50; n++) watch.observeHealth(to('HEALTHY', `well-${n}`), at(10 + n));
  expect(watch.reasonFor(agentId)).toBe('STUCK');
  expect(watch.size()).toEqual({ watched: 1, settled: 2 });
});

test('beyond the most agents with a reason, those with the oldest keep the interval of their policy', () => {
  const watch = createCloserWatch(2);
  for (let n = 0; n < 5; n++) {
    watch.observeHealth(to('STUCK', `stuck-${n}`), at(n));
    const probation = { taskId: `T-${n}`, newAgentId: `fresh-${n}` };
    watch.observeRecovery(example(Topic.taskRecovery, 'RECOVERY_COMPLETED', probation), at(n));
  }
  const watched = (name: string) => [0, 1, 2, 3, 4].filter((n) => watch.reasonFor(`${name}-${n}`) !== null);
  expect([watched('stuck'), watched('fresh')]).toEqual([
    [3, 4],
    [3, 4],
  ]);
  expect(watch.size().watched).toBe(4);
});

test('after a restart no agent that is healthy is watched closely, however many became healthy in the last hour', () => {
  const watch = createCloserWatch(3);
  // Each was STUCK and is HEALTHY again. The last hour is read backwards by chunks, each of them forwards.
  const history = [1, 2, 3, 4, 5, 6, 7, 8].flatMap((n) => [to('STUCK', `w-${n}`), to('HEALTHY', `w-${n}`)]);
  const records = history.map((event, offset) => ({ event, offset }));
  for (let end = records.length; end > 0; end -= 3)
    for (const { event, offset } of records.slice(Math.max(0, end - 3), end)) watch.observeHealth(event, at(offset));
  expect([1, 2, 3, 4, 5, 6, 7, 8].map((n) => watch.reasonFor(`w-${n}`))).toEqual(Array(8).fill(null));
  watch.observeHealth(to('STUCK', 'w-1'), at(records.length));
  expect(watch.reasonFor('w-1')).toBe('STUCK');
});
