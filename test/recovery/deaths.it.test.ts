import { setTimeout as sleep } from 'node:timers/promises';
import { type EventOf, Topic } from '@vigil/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomFrom } from '../support/faults.ts';
import { holds, openSystem, ownServers, ROOM, type TestSystem, until } from '../support/system.ts';
import { chains, expected, type Stored, spoil, store } from './chains.ts';
import { type Instance, type Mortals, openMortals, send } from './mortals.ts';

const SERVICES = ['gateway', 'heartbeat-ingest', 'health-evaluator', 'intervention', 'recovery', 'alerting'] as const;
const TASKS = Array.from({ length: 36 }, (_, n) => `M-${n}`);
/** The demo policy's limit: after this many deaths of a task, an attempt is left. */
const ATTEMPTS = 3;
/** Every sixth task exceeds the limit by one death. */
const deathsOf = (task: string): number => ATTEMPTS + (TASKS.indexOf(task) % 6 === 5 ? 1 : 0);
const DEATHS = TASKS.reduce((sum, task) => sum + deathsOf(task), 0);
/** The longest time from an agent's start to its end, which often comes at once. */
const LONGEST_MS = 5000;

type Death = { readonly instance: Instance; readonly at: number };

describe.skipIf(!ownServers)(`${DEATHS} agents killed at random moments`, () => {
  const seed = Number(process.env.VIGIL_SEED ?? Date.now() % 1_000_000);
  const random = randomFrom(seed);
  const deaths: Death[] = [];
  const stored = new Map<string, readonly Stored[]>();
  let on: TestSystem;
  let mortals: Mortals;
  let instances: readonly Instance[] = [];
  let recoveries: readonly EventOf<typeof Topic.taskRecovery>[] = [];

  const of = (task: string): readonly Instance[] => instances.filter((instance) => instance.task === task);
  const initiated = (task: string) =>
    recoveries.flatMap((one) => (one.key === task && one.type === 'RECOVERY_INITIATED' ? [one] : []));

  /** Each first instance reports its task's whole chain, one after another, then the damaged files get their damage. */
  const reportCheckpoints = async (): Promise<void> => {
    await until('every task has its first agent', async () => mortals.instances().length === TASKS.length);
    instances = mortals.instances();
    for (const [at, task] of TASKS.entries())
      stored.set(task, store(task, chains[at % chains.length] ?? { kinds: [] }, mortals.roots));
    for (let step = 0; [...stored.values()].some((one) => one.length > step); step++) {
      const reports = instances.flatMap((instance) => {
        const checkpoint = stored.get(instance.task)?.[step]?.checkpoint;
        return checkpoint ? [{ instance, checkpoint }] : [];
      });
      await Promise.all(
        reports.map(({ instance, checkpoint }) => send(instance, { reports_checkpoints: true, checkpoint })),
      );
      await until(`checkpoints ${step} are recorded`, async () => {
        const known = new Set(
          (await on.events(Topic.taskCheckpoint)).map(({ payload }) => payload.checkpoint.checkpointId),
        );
        return reports.every(({ checkpoint }) => known.has(checkpoint.checkpoint_id));
      });
    }
    for (const one of stored.values()) spoil(one);
  };

  const kill = (instance: Instance): void => {
    deaths.push({ instance, at: Date.now() });
    process.kill(instance.pid, 'SIGKILL');
  };

  /** Kills every agent that starts, as long as its task has planned deaths. */
  const killAll = async (): Promise<void> => {
    const seen = new Set<string>();
    await until(
      'all deaths are died',
      async () => {
        instances = mortals.instances();
        for (const instance of instances.filter(({ instanceId }) => !seen.has(instanceId))) {
          seen.add(instance.instanceId);
          if (of(instance.task).length > deathsOf(instance.task)) continue;
          void sleep(random() < 0.2 ? random() * 100 : random() * LONGEST_MS).then(() => kill(instance));
        }
        return deaths.length === DEATHS;
      },
      300_000,
    );
  };

  const settle = (): Promise<boolean> =>
    until('every task has a running agent, or waits for a person', async () => {
      instances = mortals.instances();
      recoveries = await on.events(Topic.taskRecovery);
      return TASKS.every((task) => {
        const last = of(task).at(-1)?.agentId;
        const mine = recoveries.filter(({ key }) => key === task);
        if (of(task).length < Math.min(deathsOf(task), ATTEMPTS) + 1) return false;
        if (deathsOf(task) > ATTEMPTS) return mine.some(({ type }) => type === 'REVIEW_REQUIRED');
        return mine.some((one) => one.type === 'RECOVERY_COMPLETED' && one.payload.newAgentId === last);
      });
    });

  beforeAll(async () => {
    on = await openSystem({ name: 'deaths', services: SERVICES, env: ROOM });
    mortals = openMortals(on, ['mortals-a', 'mortals-b'], TASKS);
    await reportCheckpoints();
    await killAll();
    await settle();
  }, 600_000);
  afterAll(async () => {
    await mortals?.stop();
    await on?.stop();
  });

  /** The deaths with an attempt left. */
  const recoverable = (): readonly Death[] =>
    deaths.filter(({ instance }) => of(instance.task).findIndex(({ pid }) => pid === instance.pid) < ATTEMPTS);
  const recovered = (): readonly Death[] =>
    recoverable().filter(({ instance }) => of(instance.task).some(({ at }) => at > instance.at));

  test('more than 95 % of the recoverable ones are recovered without a person', () => {
    const share = recovered().length / recoverable().length;
    const inReview = deaths.length - recoverable().length;
    const figures = { deaths: deaths.length, recoverable: recoverable().length, recovered: recovered().length };
    console.log(JSON.stringify({ ...figures, share: Number(share.toFixed(4)), inReview, seed }));
    expect(deaths.length).toBeGreaterThanOrEqual(100);
    expect(share).toBeGreaterThan(0.95);
  });

  test('no runtime ends with its agents', () =>
    expect(mortals.runtimes.map((runtime) => runtime.restarts())).toEqual([0, 0]));

  test('the rest is in review with its reason, and nothing else is', () => {
    const reviews = recoveries.flatMap((one) => (one.type === 'REVIEW_REQUIRED' ? [one] : []));
    expect(reviews.map(({ key }) => key).toSorted()).toEqual(
      TASKS.filter((task) => deathsOf(task) > ATTEMPTS).toSorted(),
    );
    for (const { payload } of reviews) {
      expect(payload.reason).toMatch(/^3 of 3 attempts used: /);
      expect(payload.attempts).toBe(ATTEMPTS);
    }
  });

  test('nothing is spawned before the previous death is confirmed, and at most one agent of a task runs', async () => {
    const ends = (await on.events(Topic.agentObservation)).flatMap((one) => (one.type === 'AGENT_EXITED' ? [one] : []));
    for (const task of TASKS) {
      for (const one of initiated(task)) {
        const end = ends.find(({ payload }) => payload.agentId === one.payload.deadAgentId);
        expect(end?.occurredAt, `${one.payload.newAgentId} after ${one.payload.deadAgentId}`).toBeLessThanOrEqual(
          one.occurredAt,
        );
      }
      for (const [at, instance] of of(task).entries()) {
        const before = of(task)[at - 1];
        if (!before) continue;
        const death = deaths.find(({ instance: { pid } }) => pid === before.pid);
        expect(death?.at, `${instance.agentId} after ${before.agentId}`).toBeLessThanOrEqual(instance.at);
      }
    }
  });

  test('no task has more attempts than its limit, and each attempt is a new agent', async () => {
    for (const task of TASKS) {
      expect(of(task).map(({ attempt }) => attempt)).toEqual(of(task).map((_, at) => at));
      expect(of(task).length).toBeLessThanOrEqual(1 + ATTEMPTS);
      expect(new Set(of(task).map(({ agentId }) => agentId)).size).toBe(of(task).length);
    }
  });

  test('each starts from the newest valid checkpoint, and the story states it, and why newer ones were skipped', () => {
    for (const task of TASKS) {
      const { from, skipped } = expected(stored.get(task) ?? []);
      for (const instance of of(task).slice(1)) expect(instance.checkpoint, instance.agentId).toBe(from?.file ?? '');
      const begun = initiated(task).map(({ payload }) => payload);
      for (const { newAgentId } of begun) {
        const last = begun.findLast((one) => one.newAgentId === newAgentId);
        expect(last).toMatchObject({ fromCheckpoint: from?.checkpoint.checkpoint_id ?? 'task-start', skipped });
      }
    }
  });

  test('a person is alerted if a task starts again from the beginning', async () => {
    await holds(async () => {
      const raised = (await on.events(Topic.alert)).flatMap((one) => (one.type === 'ALERT_RAISED' ? [one.key] : []));
      for (const task of TASKS)
        expect(raised.includes(`checkpoint_lost:${task}`), task).toBe(expected(stored.get(task) ?? []).from === null);
    });
  });
});
