import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Runtime, startRuntime } from '../runtime/runtime.ts';
import { parseRuntimeConfig } from '../runtime/runtime-config.ts';
import { type Stage, setStage, spawn, terminate } from '../testing/stage.ts';
import { noProgress, progressAfterReport, workSeen } from './progress.ts';

let stage: Stage;
let runtime: Runtime;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  await runtime?.stop('the test is over');
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const last = (agentId: string) =>
  stage.gateway.heartbeats.filter((nextHeartbeat) => nextHeartbeat.agent_id === agentId).at(-1);
const start = async (more: object): Promise<void> => {
  const config = parseRuntimeConfig(
    JSON.stringify({
      runtime: 'run-1',
      grace: '0s',
      templates: [{ command: '/bin/sleep', args: ['600'], step_log: 'sessions/{task}/{agent}.jsonl' }],
      agents: [
        { name: 'worker-1', task: 'bd-1' },
        { name: 'worker-2', task: 'bd-2' },
      ],
      ...more,
    }),
    stage.dir,
  );
  runtime = await startRuntime(
    { config: { ...config, interval: 100 }, host: 'here', env: { PATH: process.env.PATH ?? '' }, users: new Map() },
    stage.deps,
  );
};

test('one command an interval reads the work of all agents of the host; when it fails, nothing is known', async () => {
  const path = join(stage.dir, 'issues.json');
  const of = (updated_at: number) => ['bd-1', 'bd-2'].map((id) => ({ id, status: 'in_progress', updated_at }));
  writeFileSync(path, JSON.stringify(of(1000)));
  await start({ work_source: { command: ['/bin/cat', 'issues.json'], interval: '100ms' } });
  await until(() => expect(last('worker-1')?.work).toMatchObject({ id: 'bd-1', updated_at: 1000 }));
  await until(() => expect(last('worker-2')?.work).toMatchObject({ id: 'bd-2' }));
  writeFileSync(path, JSON.stringify(of(2000)));
  await until(() => expect(last('worker-1')?.work).toMatchObject({ updated_at: 2000 }));
  writeFileSync(path, '{ torn');
  await until(() => expect(last('worker-1')?.work).toBe(null));
  expect(last('worker-1')?.activity).toBe(null);
});

/** A tracker that answers when there is a file `go`. */
const slowly = (then: string) => ({
  command: ['/bin/sh', '-c', `while [ ! -e go ]; do sleep 0.02; done; ${then}`],
  interval: '60s',
});
const CLOSED = `echo '[{"id":"TASK-2","status":"closed"}]'`;
const spawned = () =>
  stage.gateway.reports.flatMap((one) => (one.type === 'SPAWN_RECEIPT' ? [one.payload.outcome] : []));

test("a spawn waits for the tracker's first answer; heartbeats and other orders do not", async () => {
  await start({ work_source: slowly(CLOSED) });
  stage.gateway.offer(spawn({ taskId: 'TASK-2', agentId: 'worker-3' }));
  await until(() => expect(last('worker-1')).toBeDefined());
  const { instance_id: instanceId } = last('worker-1') as { instance_id: string };
  stage.gateway.offer(terminate({ instanceId, taskId: 'bd-1' }));
  await until(() => expect(stage.gateway.reports.map(({ type }) => type)).toContain('ORDER_RECEIPT'));
  expect(spawned()).toEqual([]);
  writeFileSync(join(stage.dir, 'go'), '');
  await until(() => expect(spawned()).toEqual(['not_needed']));
});

test('it waits no longer where the tracker fails', async () => {
  await start({ work_source: slowly('exit 1') });
  stage.gateway.offer(spawn({ taskId: 'TASK-2', agentId: 'worker-3' }));
  writeFileSync(join(stage.dir, 'go'), '');
  await until(() => expect(spawned()).toEqual(['spawned']));
});

test("new lines of an agent's step log are sent with its heartbeats, each `verdict` once", async () => {
  mkdirSync(join(stage.dir, 'sessions/bd-1'), { recursive: true });
  const path = join(stage.dir, 'sessions/bd-1/worker-1.jsonl');
  await start({});
  await until(() => expect(last('worker-1')).toBeDefined());
  appendFileSync(path, '{"verdict":"RETRY"}\n{"verdict":"ACCEPT"}\n{"verd');
  await until(() => expect(last('worker-1')?.steps?.total_steps).toBe(2));
  appendFileSync(path, 'ict":"CONTINUE"}\n');
  await until(() => expect(last('worker-1')?.steps?.total_steps).toBe(3));
  const verdicts = stage.gateway.heartbeats.flatMap((nextHeartbeat) =>
    nextHeartbeat.agent_id === 'worker-1' ? (nextHeartbeat.steps?.verdicts ?? []) : [],
  );
  expect(verdicts).toEqual(['RETRY', 'ACCEPT', 'CONTINUE']);
  expect(last('worker-2')?.steps).toBe(null);
});

test('work that is touched while it is watched has changed; work seen for the first time has not', () => {
  const work = { id: 'bd-1', status: null, updated_at: 5, claim_refreshed_at: null, comment_count: 1 };
  const seen = workSeen(noProgress, work, 3);
  expect(seen.marks.change).toBe(undefined);
  expect(workSeen(seen, work, 4).marks.change).toBe(undefined);
  expect(workSeen(seen, null, 4).marks.change).toBe(undefined);
  const touched = workSeen(seen, { ...work, comment_count: 2 }, 4);
  expect(touched.marks).toEqual({ work: 4, change: 4 });
  expect(workSeen(touched, { ...work, comment_count: 2, claim_refreshed_at: 6 }, 5).marks).toEqual({
    work: 4,
    change: 4,
    claim: 5,
  });
  expect(workSeen(seen, { ...work, id: 'bd-2' }, 4).marks).toEqual({ work: 4, change: 4, claim: 4 });
});

test("unchanged work is not reported again, and the agent's own report does not count as the tracker's", () => {
  const work = { id: 'bd-1', status: null, updated_at: 5, claim_refreshed_at: null, comment_count: 1 };
  const seen = workSeen(noProgress, work, 3);
  expect(workSeen(seen, { ...work }, 4)).toBe(seen);
  expect(workSeen(seen, null, 4)).toBe(seen);
  const reported = progressAfterReport(seen, { work: { ...work, updated_at: 9 } }, 4);
  expect(reported.marks).toEqual({ activity: 4 });
  expect(workSeen(reported, work, 5)).toBe(reported);
});
