import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkpointFile } from '../testing/checkpoint.ts';
import { type Stage, setStage, spawn, terminate } from '../testing/stage.ts';
import { type Runtime, startRuntime } from './runtime.ts';
import { parseRuntimeConfig } from './runtime-config.ts';

let stage: Stage;
let runtime: Runtime;

const YAML = `
runtime: run-1
announce: 50ms
grace: 0s
capacity: 2
labels: { team: red }
checkpoint_roots: [checkpoints]
templates:
  - command: /bin/sh
    args: ['-c', 'echo "attempt=$VIGIL_ATTEMPT task=$VIGIL_TASK_ID"; cat "$VIGIL_HANDOVER" "$VIGIL_CHECKPOINT"; sleep 600']
    env: { EXTRA: x }
agents:
  - { name: worker-1, task: TASK-1 }
`;

beforeEach(async () => {
  stage = await setStage();
  const config = { ...parseRuntimeConfig(YAML, stage.dir), interval: 100 };
  runtime = await startRuntime(
    { config, host: 'host-1', env: { PATH: process.env.PATH ?? '' }, users: new Map() },
    { ...stage.deps, killAfterMs: 200 },
  );
});
afterEach(async () => {
  await runtime.stop('the test is over');
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const find = (type: string, more: object = {}) =>
  until(() => {
    const found = stage.gateway.reports.find(
      (report) => report.type === type && expect.objectContaining(more).asymmetricMatch(report.payload),
    );
    expect(found).toBeDefined();
    return found?.payload;
  });
const heartbeatOf = (agentId: string) =>
  until(() => {
    const found = stage.gateway.heartbeats.find((nextHeartbeat) => nextHeartbeat.agent_id === agentId);
    expect(found).toBeDefined();
    return found;
  });

test('a runtime announces its agents and its free capacity', async () => {
  expect(await find('RUNTIME_ANNOUNCED', { agents: ['worker-1'] })).toEqual({
    runtimeId: 'run-1',
    host: 'host-1',
    capacity: 2,
    agents: ['worker-1'],
    labels: { team: 'red', host: 'host-1' },
    templates: [expect.objectContaining({ task: expect.any(String), labels: {} })],
  });
});

test('an agent dies by order, and another continues its task from its checkpoint', async () => {
  const instanceId = (await heartbeatOf('worker-1'))?.instance_id ?? null;
  stage.gateway.offer(terminate({ instanceId }));
  expect(await find('ORDER_RECEIPT')).toMatchObject({ confirmed: true });
  await find('AGENT_EXITED');
  const good = checkpointFile(join(stage.dir, 'checkpoints'), 'good.yaml', 'task_id: TASK-1\n');
  stage.gateway.offer(spawn({ checkpoints: [good], handover: 'remaining: two' }));
  const receipt = await find('SPAWN_RECEIPT');
  expect(receipt).toMatchObject({ outcome: 'spawned', checkpointId: 'good.yaml', skipped: [] });
  expect(await heartbeatOf('worker-1.r1')).toMatchObject({
    attempt: 1,
    max_attempts: 3,
    task_id: 'TASK-1',
    runtime_id: 'run-1',
  });
  const instance = runtime.agents()[0];
  expect(instance?.spec.instanceId).toBe(
    'instanceId' in (receipt ?? {}) ? (receipt as { instanceId: string }).instanceId : '',
  );
  await until(() => expect(stage.gateway.heartbeats.at(-1)?.output?.lines).toBeGreaterThan(0));
  expect(readFileSync(instance?.spec.handover ?? '', 'utf8')).toBe('remaining: two');
});

test('an agent that is restarted by order ends, and its command starts again as a new instance of the same name', async () => {
  const instanceId = (await heartbeatOf('worker-1'))?.instance_id ?? null;
  stage.gateway.offer(terminate({ instanceId, restart: true }));
  expect(await find('ORDER_RECEIPT')).toMatchObject({ outcome: 'done', confirmed: true });
  expect(await find('AGENT_EXITED')).toMatchObject({ reason: 'explicit', orderId: 'end-1' });
  await until(() => {
    const next = runtime.agents()[0]?.spec;
    expect(next).toMatchObject({ agentId: 'worker-1', taskId: 'TASK-1' });
    expect(next?.instanceId).not.toBe(instanceId);
  });
});

test('a fresh agent is logged and gets the resume line under the policy that the order names, though no template has one', async () => {
  const instanceId = (await heartbeatOf('worker-1'))?.instance_id ?? null;
  stage.gateway.offer(terminate({ instanceId }));
  await find('AGENT_EXITED');
  const files = { dispatch_log: 'log' };
  stage.gateway.policies.set('assigned', { files, recovery: { resume_line: 'Execute: {ticket_id}' } });
  stage.gateway.offer(spawn({ remainingWork: ['two'], handover: 'remaining: two\n' }), 60_000, 'assigned');
  await find('SPAWN_RECEIPT');
  const [agent] = runtime.agents();
  expect(readFileSync(agent?.spec.handover ?? '', 'utf8')).toBe('remaining: two\nExecute: TASK-1\n');
  const log = join(stage.dir, 'log');
  const [day] = await until(() => {
    const days = readdirSync(log);
    expect(days).toHaveLength(1);
    return days;
  });
  const { timestamp_utc: _, ...line } = JSON.parse(readFileSync(join(log, day ?? ''), 'utf8'));
  expect(line).toEqual({
    event: 'redispatch',
    ticket_id: 'TASK-1',
    redispatch_attempt: 1,
    remaining_tasks: ['two'],
  });
});

test('while the fleet is halted no agent is started or ended, and each order is answered', async () => {
  const instanceId = (await heartbeatOf('worker-1'))?.instance_id ?? null;
  stage.gateway.halted = true;
  stage.gateway.offer(terminate({ instanceId }));
  stage.gateway.offer(spawn());
  expect(await find('ORDER_RECEIPT')).toMatchObject({ outcome: 'halted', why: 'the fleet is halted' });
  expect(await find('SPAWN_RECEIPT')).toMatchObject({ outcome: 'halted', why: 'the fleet is halted' });
  expect(runtime.agents().map(({ spec }) => spec.agentId)).toEqual(['worker-1']);
});

test('an order that is offered again while it is carried out has one outcome, even as the agent dies of it', async () => {
  const instanceId = (await heartbeatOf('worker-1'))?.instance_id ?? null;
  const [instance] = runtime.agents();
  stage.gateway.offer(terminate({ instanceId }));
  await instance?.ended;
  await find('ORDER_RECEIPT', { confirmed: true });
  const receipts = stage.gateway.reports.filter(({ type }) => type === 'ORDER_RECEIPT');
  expect(new Set(receipts.map(({ payload }) => JSON.stringify(payload))).size).toBe(1);
});

test('a checkpoint that is invalid here spawns nothing: the answer names it and each that is newer than the first valid one', async () => {
  await heartbeatOf('worker-1');
  await runtime.agents()[0]?.end('the test', 0);
  await find('AGENT_EXITED');
  const good = checkpointFile(join(stage.dir, 'checkpoints'), 'good.yaml', 'task_id: TASK-1\n');
  const [changed, gone] = [
    { ...good, checkpointId: 'changed', sha256: '0' },
    { ...good, checkpointId: 'gone', uri: `${good.uri}.gone` },
  ];
  stage.gateway.offer(spawn({ checkpoints: [changed, gone, good] }));
  expect(await find('SPAWN_RECEIPT')).toMatchObject({
    ...{ outcome: 'checkpoint_invalid', checkpointId: 'changed', why: 'sha256_differs', instanceId: null },
    skipped: [
      { checkpointId: 'changed', why: 'sha256_differs' },
      { checkpointId: 'gone', why: 'missing' },
    ],
  });
  expect(runtime.agents()).toEqual([]);
  stage.gateway.offer(spawn({ orderId: 'spawn-2', checkpoints: [good] }));
  expect(await find('SPAWN_RECEIPT', { outcome: 'spawned' })).toMatchObject({ checkpointId: 'good.yaml' });
});

test('a task that is still worked on here is not given to a second agent', async () => {
  await heartbeatOf('worker-1');
  stage.gateway.offer(spawn());
  expect(await find('SPAWN_RECEIPT')).toMatchObject({
    outcome: 'superseded',
    why: 'worker-1 runs here and works on TASK-1',
  });
  expect(runtime.agents()).toHaveLength(1);
});

test('a runtime that is stopped ends its agents and reports them as ended on purpose', async () => {
  await heartbeatOf('worker-1');
  await runtime.stop('the host goes down');
  expect(await find('AGENT_EXITED')).toMatchObject({ reason: 'explicit', orderId: null });
  expect(runtime.agents()).toEqual([]);
});

test('a runtime that is stopped announces last that it has no room', async () => {
  await find('RUNTIME_ANNOUNCED', { capacity: 2 });
  await runtime.stop('the host goes down');
  const announced = stage.gateway.reports.filter(({ type }) => type === 'RUNTIME_ANNOUNCED');
  expect(announced.at(-1)?.payload).toMatchObject({ runtimeId: 'run-1', capacity: 0 });
});

test('the terminal of a real process is published with a lease, and closed when the agent ends', async () => {
  await heartbeatOf('worker-1');
  expect(stage.gateway.terminals).toEqual([]);
  stage.gateway.leases.push({ agentId: 'worker-1', leaseId: 'lease-1', expiresInMs: 30_000 });
  const published = () => stage.gateway.terminals.flatMap((one) => (one.type === 'TERMINAL_CHANGED' ? [one] : []));
  await until(() => expect(published().flatMap(({ payload }) => payload.lines)).toContain('attempt=0 task=TASK-1'));
  expect(published()[0]?.payload).toMatchObject({ agentId: 'worker-1', runtimeId: 'run-1', sequence: 0 });
  const [agent] = runtime.agents();
  await agent?.end('the test', 0);
  await until(() => expect(stage.gateway.terminals.map(({ type }) => type)).toContain('TERMINAL_CLOSED'));
});
