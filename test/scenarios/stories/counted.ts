import { Topic } from '@vigil/events';
import { expect } from 'vitest';
import { until } from '../../support/system.ts';
import type { Role, Stage } from '../stage.ts';

/** CODITECT: three recoveries a task. */
export const roles: readonly Role[] = [{ name: 'counted', part: 'savesUntilItCrashes', policy: 'coditect-count' }];

const { agentObservation, taskRecovery } = Topic;
const TASK = 'T-counted';
/** As the policy `coditect-count` has it. */
const STABLE_MS = 2000;

/** The agent has passed its probation and the stable time, and has saved a checkpoint since. Then it crashes. */
const crashesLater = async ({ comes, go, received }: Stage, name: string, attempt: number): Promise<void> => {
  const passed = () =>
    received.of(taskRecovery).filter((event) => event.type === 'PROBATION_PASSED' && event.key === TASK);
  if (attempt > 0) await comes(taskRecovery, TASK, 'PROBATION_PASSED', attempt);
  const from = attempt > 0 ? (passed()[attempt - 1]?.occurredAt ?? 0) + STABLE_MS : 0;
  await until(`${name} saves a checkpoint after the stable time`, async () =>
    received
      .of(agentObservation)
      .some(
        (event) =>
          event.type === 'AGENT_HEARTBEAT' &&
          event.key === name &&
          event.occurredAt > from &&
          event.payload.checkpoint !== null,
      ),
  );
  go(name);
};

/** Max recovery attempts per task: 3. The time between them and the saved progress do not start a new count; a person does. */
export const releasedByAPerson = async (stage: Stage): Promise<void> => {
  const { all, comes, isAlive, runs, shows } = stage;
  const initiated = () => all(taskRecovery, TASK, 'RECOVERY_INITIATED');
  const names = ['counted', 'counted-r1', 'counted-r2', 'counted-r3'];
  for (const [attempt, name] of names.entries()) await crashesLater(stage, name, attempt);
  const review = await comes(taskRecovery, TASK, 'REVIEW_REQUIRED');
  expect(review).toMatchObject({ attempts: 3, of: 3, reason: expect.stringMatching(/^3 of 3 attempts used: /) });
  expect(initiated().map(({ attempt, of }) => `${attempt}/${of}`)).toEqual(['1/3', '2/3', '3/3']);
  expect(initiated().map(({ fromCheckpoint }) => fromCheckpoint.replace(/-\d+$/, ''))).toEqual(names.slice(0, 3));
  await shows(TASK, 'task', 'list', '--review');
  await runs('task', 'review', TASK, 'reset');
  expect(await comes(taskRecovery, TASK, 'RECOVERY_COMPLETED', 4)).toMatchObject({
    newAgentId: 'counted-r4',
    attempt: 1,
  });
  expect(initiated().at(-1)).toMatchObject({ attempt: 1, of: 3 });
  expect(isAlive('counted-r4')).toBe(true);
};
