import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { superviseHosted } from '../agent/supervise.ts';
import { type Stage, setStage, spawn, terminate } from '../testing/stage.ts';
import { type Runtime, startRuntime } from './runtime.ts';
import { parseRuntimeConfig } from './runtime-config.ts';

const YAML = `
runtime: run-1
announce: 50ms
grace: 0s
capacity: 2
templates:
  - { command: sleep, args: ['600'] }
agents:
  - { name: worker-1, task: TASK-1 }
  - { name: worker-2, task: TASK-2 }
`;

let stage: Stage;
let starting: Promise<Runtime>;
let letWorker2Start: () => void;

/** A runtime in which worker-1 has started, and the start of worker-2 waits until it is released. */
beforeEach(async () => {
  stage = await setStage();
  // As `vigil runtime` does first: from then on the gateway offers orders to polls only.
  await stage.deps.gateway.orders('run-1', 0, AbortSignal.timeout(60_000));
  const { promise, resolve } = Promise.withResolvers<void>();
  letWorker2Start = resolve;
  const settings = {
    config: { ...parseRuntimeConfig(YAML, stage.dir), interval: 100 },
    host: 'host-1',
    env: { PATH: process.env.PATH ?? '' },
    users: new Map(),
  };
  starting = startRuntime(settings, { ...stage.deps, killAfterMs: 200 }, async (spec, deps, size) => {
    if (spec.agentId === 'worker-2') await promise;
    return superviseHosted(spec, deps, size);
  });
  await until(() => expect(heartbeatOf('worker-1')).toBeDefined());
});
afterEach(async () => {
  letWorker2Start();
  await (await starting).stop('the test is over');
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const heartbeatOf = (agentId: string) =>
  stage.gateway.heartbeats.find((nextHeartbeat) => nextHeartbeat.agent_id === agentId);
const reported = (type: string) =>
  stage.gateway.reports.filter((report) => report.type === type).map(({ payload }) => payload);

test('an order for one agent is executed while another is still being started', async () => {
  stage.gateway.offer(terminate({ instanceId: heartbeatOf('worker-1')?.instance_id ?? null }));
  await until(() => expect(reported('ORDER_RECEIPT')).toMatchObject([{ agentId: 'worker-1', outcome: 'done' }]));
  expect(heartbeatOf('worker-2')).toBeUndefined();
});

test('a task of an agent that is still being started is given to no other, and its place is taken', async () => {
  stage.gateway.offer(spawn({ orderId: 'same task', taskId: 'TASK-2' }));
  stage.gateway.offer(spawn({ orderId: 'no room', taskId: 'TASK-3' }));
  await until(() => expect(reported('SPAWN_RECEIPT')).toHaveLength(2));
  expect(reported('SPAWN_RECEIPT')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ outcome: 'superseded', why: 'worker-2 runs here and works on TASK-2' }),
      expect.objectContaining({ outcome: 'failed', why: 'all 2 places of this runtime are taken' }),
    ]),
  );
});

test('a runtime announces those that are still being started beside those that live', async () => {
  await until(() =>
    expect(reported('RUNTIME_ANNOUNCED')).toContainEqual(
      expect.objectContaining({ agents: expect.arrayContaining(['worker-1', 'worker-2']), capacity: 2 }),
    ),
  );
  expect(heartbeatOf('worker-2')).toBeUndefined();
});
