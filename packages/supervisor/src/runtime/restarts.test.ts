import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { superviseHosted } from '../agent/supervise.ts';
import { isAlive } from '../process/proc.ts';
import { type Stage, setStage } from '../testing/stage.ts';
import { type Runtime, startRuntime } from './runtime.ts';
import { parseRuntimeConfig } from './runtime-config.ts';

const YAML = `
runtime: run-1
grace: 0s
templates: [{ command: sleep, args: ["600"] }]
agents: [{ name: worker-1, task: OMN-1 }]`;

let stage: Stage;
let runtime: Runtime;
/** Each start waits for it. */
let gate: Promise<void>;
beforeEach(async () => {
  gate = Promise.resolve();
  stage = await setStage();
  const config = { ...parseRuntimeConfig(YAML, stage.dir), interval: 100 };
  const settings = { config, host: 'host-1', env: { PATH: process.env.PATH ?? '' }, users: new Map() };
  runtime = await startRuntime(settings, { ...stage.deps, killAfterMs: 200 }, async (...args) => {
    await gate;
    return superviseHosted(...args);
  });
});
afterEach(async () => {
  await runtime.stop('the test is over');
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const ends = () => stage.gateway.reports.flatMap((report) => (report.type === 'AGENT_EXITED' ? [report.payload] : []));
const only = () => runtime.agents()[0] ?? expect.unreachable('no agent runs');

test('a restarted agent of a runtime runs again as a new instance with its task, after its end was reported', async () => {
  const before = only();
  await before.restart('restarted by ann', 0);
  await until(() => expect(only().spec.instanceId).not.toBe(before.spec.instanceId));
  expect(only().spec).toEqual({ ...before.spec, instanceId: only().spec.instanceId });
  expect([before, only()].map(({ terminal }) => isAlive(terminal.pid))).toEqual([false, true]);
  await until(() => expect(ends()).toMatchObject([{ instanceId: before.spec.instanceId, reason: 'explicit' }]));
});

test('an agent that is only ended, or whose runtime stops, is not started again', async () => {
  await only().end('stopped by ann', 0);
  await until(() => expect([runtime.agents(), ends().length]).toEqual([[], 1]));
  await runtime.stop('the host goes down');
  expect([runtime.agents(), ends().length]).toEqual([[], 1]);
});

test('a restart that a stopping runtime receives is an end', async () => {
  const restarted = only().restart('restarted by ann', 0);
  const stopped = runtime.stop('the host goes down');
  await Promise.all([restarted, stopped]);
  expect(runtime.agents()).toEqual([]);
  await until(() => expect(ends()).toHaveLength(1));
});

test('an agent that is being started again when the runtime stops is ended, too', async () => {
  const opening = Promise.withResolvers<void>();
  gate = opening.promise;
  const before = only();
  await before.restart('restarted by ann', 0);
  await before.settled;
  const stopped = runtime.stop('the host goes down');
  opening.resolve();
  await stopped;
  expect(runtime.agents()).toEqual([]);
  await until(() =>
    expect(ends().map(({ instanceId }) => instanceId === before.spec.instanceId)).toEqual([true, false]),
  );
});
