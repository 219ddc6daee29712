import { spawn as start } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AgentDeps } from '../deps.ts';
import { leaveStopMarker, stoppedBy, takeStopMarker } from '../exit/exit-reason.ts';
import { outboxFolder } from '../gateway/outbox.ts';
import { type Order, receiptOf } from '../orders/order.ts';
import { makeCgroup, processesIn, startIn } from '../process/cgroup.ts';
import { identify, isAlive, type Pid } from '../process/proc.ts';
import { type Occupant, occupantOf, takeName } from '../state/lock.ts';
import { openTestCgroups } from '../testing/cgroups.ts';
import { fakeGateway } from '../testing/fake-gateway.ts';
import { nudge, openTestDeps, type Stage, setStage, spawn, terminate } from '../testing/stage.ts';
import { recoverFromCrash } from './crash-recovery.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(() => stage.close());

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const dead: Pid = { pid: 2 ** 22 + 1, startTime: '1' };
const orphan = async () => {
  const child = start('sleep', ['600'], { detached: true });
  await once(child, 'spawn');
  return identify(child.pid ?? 0);
};
const left = (more: Partial<Occupant>) =>
  takeName(stage.dir, {
    agentId: 'worker-1',
    instanceId: 'instance-1',
    taskId: 'TASK-1',
    runtimeId: 'run-1',
    attempt: 0,
    orderId: null,
    supervisor: dead,
    ptyHost: null,
    child: null,
    cgroup: null,
    endRequestedBy: null,
    ...more,
  });

/** A supervisor dies right after `begun`; the next one comes. */
const restart = async (order: Order, pid = dead) => {
  stage.deps.journal.write({ kind: 'begun', orderId: order.payload.orderId, order, pid });
  const deps = openTestDeps(stage.dir, stage.gateway, 'run-1');
  await recoverFromCrash({ ...deps, onOrders: () => {} } satisfies AgentDeps, 'run-1', () => {});
  await until(async () => expect(await deps.outbox.settled(10)).toBe(true));
  deps.close();
  return stage.gateway.reports;
};

test('a terminate cut off by a crash is carried through against the same process', async () => {
  const pid = await orphan();
  expect(await restart(terminate(), pid)).toMatchObject([
    { type: 'ORDER_RECEIPT', payload: { outcome: 'done', confirmed: true } },
  ]);
  expect(isAlive(pid)).toBe(false);
});

test('a terminate cut off by a crash never hits another process by the same number', async () => {
  const pid = await orphan();
  const reports = await restart(terminate(), { ...pid, startTime: '1' });
  expect(reports).toMatchObject([{ payload: { outcome: 'done', confirmed: true } }]);
  expect(isAlive(pid)).toBe(true);
  process.kill(pid.pid, 'SIGKILL');
});

test('a nudge cut off by a crash is reported uncertain', async () => {
  expect(await restart(nudge())).toMatchObject([{ type: 'ORDER_RECEIPT', payload: { outcome: 'uncertain' } }]);
});

test('an agent left behind is ended and reported, and its name is free again', async () => {
  const child = await orphan();
  left({ agentId: 'worker-1.r1', instanceId: 'instance-9', orderId: 'spawn-1' }).has({ child });
  expect(await restart(spawn())).toMatchObject([
    { type: 'SPAWN_RECEIPT', payload: { outcome: 'spawned', instanceId: 'instance-9' } },
    { type: 'AGENT_EXITED', payload: { agentId: 'worker-1.r1', instanceId: 'instance-9', reason: 'crashed' } },
  ]);
  expect(isAlive(child)).toBe(false);
  expect(occupantOf(stage.dir, 'worker-1.r1')).toBeNull();
});

test('what hides in the cgroup of an agent left behind is ended by the next supervisor', async (context) => {
  const { cgroups, why, close } = openTestCgroups();
  if (cgroups === null) return context.skip(why);
  const cgroup = makeCgroup(cgroups, 'instance-1', null, () => {}) ?? '';
  const hides = startIn(cgroup, () => start('sleep', ['600'], { detached: true, env: { PATH: process.env.PATH } }));
  await once(hides, 'spawn');
  await until(() => expect(processesIn(cgroup)).toEqual([hides.pid]));
  const escaped = identify(hides.pid ?? 0);
  const child = await orphan();
  left({ cgroup }).has({ child });
  expect(await restart(terminate(), child)).toMatchObject([
    { type: 'ORDER_RECEIPT', payload: { outcome: 'done', confirmed: true, by: 'cgroup' } },
    { type: 'AGENT_EXITED', payload: { reason: 'explicit', orderId: 'end-1' } },
  ]);
  expect([isAlive(escaped), existsSync(cgroup)]).toEqual([false, false]);
  close();
});

test('an agent whose end was ordered is reported as ended by the order', async () => {
  const child = await orphan();
  left({}).has({ child });
  expect(await restart(terminate(), child)).toMatchObject([
    { type: 'ORDER_RECEIPT', payload: { outcome: 'done' } },
    { type: 'AGENT_EXITED', payload: { reason: 'explicit', orderId: 'end-1' } },
  ]);
});

test('an end that a person requested is not a crash, and takes the place of an ordered one', async () => {
  const child = await orphan();
  left({}).has({ child, endRequestedBy: 'the supervisor received SIGTERM' });
  const reports = await restart(terminate(), child);
  expect(reports.at(-1)).toMatchObject({ type: 'AGENT_EXITED', payload: { reason: 'explicit', orderId: null } });
});

test('a stop that its supervisor did not live to read is a requested end', async () => {
  left({});
  leaveStopMarker(stage.dir, 'instance-1', 'ada');
  const reports = await restart(nudge());
  const payload = { reason: 'explicit', details: expect.stringContaining(stoppedBy('ada')) };
  expect(reports.at(-1)).toMatchObject({ type: 'AGENT_EXITED', payload });
  expect(takeStopMarker(stage.dir, 'instance-1')).toBeNull();
});

test('agents of a living supervisor, or of another runtime, are left alone', async () => {
  left({ supervisor: identify(process.pid) });
  left({ agentId: 'worker-2', runtimeId: 'run-2' });
  await restart(nudge());
  expect(stage.gateway.reports.map(({ type }) => type)).toEqual(['ORDER_RECEIPT']);
  expect(occupantOf(stage.dir, 'worker-1')).not.toBeNull();
});

test('a report that a dead supervisor could not send is sent by the next', async () => {
  const payload = { runtimeId: 'x', host: 'h', capacity: 1, agents: [], labels: {} };
  const report = JSON.stringify({ type: 'RUNTIME_ANNOUNCED', payload });
  const folder = outboxFolder(stage.dir, stage.gateway.url);
  writeFileSync(join(folder, `${dead.pid}-1-00000001.json`), report);
  const deps = openTestDeps(stage.dir, stage.gateway, 'run-2');
  await until(() => expect(stage.gateway.reports).toEqual([JSON.parse(report)]));
  await until(() => expect(readdirSync(folder)).toEqual([]));
  deps.close();
});

test('a report for another gateway is left for a supervisor that uses that gateway', async () => {
  const other = await fakeGateway();
  other.away = true;
  const gone = openTestDeps(stage.dir, other, 'run-2');
  const report = { type: 'ORDER_RECEIPT', payload: receiptOf(nudge(), 5, 'delivered') } as const;
  writeFileSync(join(outboxFolder(stage.dir, other.url), `${dead.pid}-1-00000001.json`), JSON.stringify(report));
  gone.close();
  const here = openTestDeps(stage.dir, stage.gateway, 'run-2');
  expect(await here.outbox.settled(60_000)).toBe(true);
  here.close();
  other.away = false;
  const there = openTestDeps(stage.dir, other, 'run-2');
  await until(() => expect(other.reports).toEqual([report]));
  there.close();
  expect(stage.gateway.reports).toEqual([]);
  await other.close();
});

const receipt = { type: 'ORDER_RECEIPT', payload: receiptOf(nudge(), 5, 'delivered') } as const;

test('a receipt that a supervisor died with is sent by the next, once', async () => {
  stage.deps.journal.write({ kind: 'begun', orderId: 'nudge-1', order: nudge(), pid: dead });
  stage.deps.journal.write({ kind: 'done', orderId: 'nudge-1', report: receipt });
  for (let n = 0; n < 2; n += 1) {
    const deps = openTestDeps(stage.dir, stage.gateway, 'run-1');
    await until(async () => expect(await deps.outbox.settled(10)).toBe(true));
    deps.close();
    expect(stage.gateway.reports).toEqual([receipt]);
  }
});
