import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Supervised } from '@vigil/dev';
import { Topic } from '@vigil/events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Received, receive } from '../support/received.ts';
import { startRuntime } from '../support/runtimes.ts';
import { holds, openSystem, ownServers, ROOM, soak, type TestSystem } from '../support/system.ts';
import {
  effectsOf,
  everyStepOnce,
  injectedIn,
  processesIn,
  type Task,
  tasksIn,
  templateOf,
  turnsOf,
  writeClient,
} from './tasks.ts';

const QUICK = {
  VIGIL_GOVERNOR_SETTLE_S: '0',
  VIGIL_GOVERNOR_COOLDOWN_S: '0',
  VIGIL_ALERT_GROUP_WAIT_MS: '0',
  VIGIL_ALERT_END_WAIT_MS: '0',
};
const env = { ...ROOM, ...QUICK, VIGIL_POLICY_DIR: path.join(import.meta.dirname, 'policies') };
const size = soak({ tasks: 8, faultsEach: 1, withinMs: 300_000 }, { tasks: 40, faultsEach: 2, withinMs: 900_000 });
/** The number of tasks; at least 95 % must finish. */
const LEAST_FINISHED = 0.95;
/**
 * The last step of a task may just have been done, and its processes need SIGTERM, SIGKILL 5 s later, and time on a
 * busy host.
 */
const ENDED_WITHIN_MS = 30_000;

describe.skipIf(!ownServers)('coding agents that hang, crash, stall and meet limits', () => {
  let vigil: TestSystem;
  let received: Received;
  let runtime: Supervised;
  let tasks: readonly Task[] = [];
  const state = mkdtempSync(path.join(tmpdir(), 'vigil-'));
  const worked = (): readonly Task[] => tasks.filter((task) => effectsOf(task).length >= everyStepOnce.length);
  const finished = (): readonly Task[] => worked().filter((task) => processesIn(task).length === 0);
  /** The output of a failure about a task: the steps of its sessions, and all events that name it. */
  const historyOf = (task: Task): string =>
    [
      JSON.stringify({ ...task, effects: effectsOf(task), turns: turnsOf(task), processes: processesIn(task) }),
      ...received.latest(Number.MAX_SAFE_INTEGER).filter((line) => line.includes(task.name)),
    ].join('\n');

  beforeAll(async () => {
    vigil = await openSystem({ name: 'healing', policy: 'healing', env });
    received = await receive(vigil, [
      ...[Topic.agentOrder, Topic.orderReceipt, Topic.decideCase, Topic.controlAgent],
      ...[Topic.agentHealth, Topic.agentIntervention, Topic.fleetGovernance, Topic.taskRecovery],
    ]);
    const folder = path.join(vigil.dir, 'healing');
    tasks = tasksIn(folder, size.tasks, size.faultsEach);
    const client = writeClient(folder);
    runtime = startRuntime(vigil, { folder, state }, 'healer', {
      ...{ capacity: 3 * tasks.length, announce: '2s', grace: '100ms', interval: '1s', policy: 'healing' },
      templates: tasks.map((task) => templateOf(task, client)),
      agents: tasks.map(({ name }) => ({ name, task: `T-${name}`, template: name })),
    });
    await holds(() => expect(finished()).toHaveLength(tasks.length), size.withinMs).catch(() => {});
  }, size.withinMs + 150_000);
  afterAll(async () => {
    await runtime?.stop();
    received?.stop();
    await vigil?.stop();
    rmSync(state, { recursive: true, force: true });
  });

  test('at least 95 of 100 finish, and no person has decided anything', () => {
    const injected = tasks.reduce((sum, task) => sum + injectedIn(task), 0);
    const resumed = received.of(Topic.orderReceipt).filter(({ payload }) => payload.kind === 'resume_session');
    const done = resumed.filter(({ payload }) => payload.outcome === 'done').length;
    console.log(`${injected} faults, ${done} resumes, ${finished().length} of ${tasks.length} tasks finished`);
    expect(injected).toBeGreaterThanOrEqual(tasks.length * size.faultsEach);
    expect(received.of(Topic.decideCase)).toEqual([]);
    const missing = tasks.filter((task) => !finished().includes(task));
    expect(missing.length, missing.map(historyOf).join('\n')).toBeLessThanOrEqual((1 - LEAST_FINISHED) * tasks.length);
  });

  test('each step of a task is done once and in order, also in unfinished tasks', () => {
    for (const task of tasks) {
      const effects = effectsOf(task);
      expect([task.name, ...effects]).toEqual([task.name, ...everyStepOnce.slice(0, effects.length)]);
    }
  });

  test('a hung session is resumed once, with the reminder, and other sessions are not resumed', () => {
    for (const task of finished()) {
      const reminded = turnsOf(task).filter((turn) => turn.includes('was started again'));
      const hangs = task.faults.filter((fault) => /hang|stall/.test(fault)).length;
      expect(reminded.length, task.name).toBeLessThanOrEqual(hangs);
    }
    const sessionsResumed = tasks.filter((task) => turnsOf(task).some((turn) => turn.includes('was started again')));
    expect(sessionsResumed.length).toBeGreaterThan(0);
  });

  test('no process of a task remains once all its steps are done', async () => {
    await holds(() => {
      for (const task of worked()) expect(processesIn(task), task.name).toEqual([]);
    }, ENDED_WITHIN_MS);
  });

  test('no process of any task outlives its runtime', async () => {
    await runtime.stop();
    await holds(() => {
      for (const task of tasks) expect(processesIn(task), task.name).toEqual([]);
    }, ENDED_WITHIN_MS);
  });
});
