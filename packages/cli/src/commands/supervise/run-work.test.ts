import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openRunStage, type RunStage } from './run.fixture.ts';

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 50 });

let stage: RunStage;
beforeEach(async () => {
  stage = await openRunStage();
});
afterEach(() => stage.close());

const ITEMS = JSON.stringify([{ id: 'bd-1', status: 'in_progress', claim_refreshed_at: 1_770_000_000_000 }]);
const SOURCE = "echo '[]' | cat - items.json | tail -n 1";

const untilStopped = ['--interval', '1s', '--', '/bin/sh', '-c', 'while [ ! -e stop ]; do sleep 0.05; done'];

test.each([
  ['--work-source, a line for the shell', ['--work-source', SOURCE]],
  ['the work source of --runtime-config', ['--runtime-config', 'runtime.yaml']],
])('heartbeats have the work item of the task, by %s', async (_, options) => {
  writeFileSync(join(stage.dir, 'items.json'), ITEMS);
  writeFileSync(join(stage.dir, 'runtime.yaml'), `runtime: here\nwork_source: { command: [cat, items.json] }\n`);
  const { ended } = stage.start(['--task', 'bd-1', ...options, ...untilStopped]);
  await until(() =>
    expect(stage.heartbeats.at(-1)?.work).toMatchObject({ id: 'bd-1', claim_refreshed_at: 1_770_000_000_000 }),
  );
  writeFileSync(join(stage.dir, 'stop'), '');
  expect((await ended).code).toBe(0);
});

test('a task that the tracker does not list has no work item', async () => {
  writeFileSync(join(stage.dir, 'items.json'), ITEMS);
  const { ended } = stage.start(['--task', 'bd-2', '--work-source', SOURCE, ...untilStopped]);
  await until(() => expect(stage.heartbeats.length).toBeGreaterThan(2));
  expect(stage.heartbeats.every(({ work }) => work === null)).toBe(true);
  writeFileSync(join(stage.dir, 'stop'), '');
  await ended;
});

test.each([[[]], [['--detach']]])('without a task it is refused, and nothing is started: %j', async (more) => {
  const { code, err } = await stage.start([...more, '--work-source', 'br list --json', '--', 'touch', 'started']).ended;
  expect(code).toBe(2);
  expect(err).toContain('vigil run: --work-source "br list --json" needs --task ID: the work item is found by that id');
});

const supervisor = (): number =>
  JSON.parse(readFileSync(join(stage.dir, 'agents', 'worker-1.lock'), 'utf8')).supervisor.pid;
const claimedAt = (at: number) => {
  writeFileSync(join(stage.dir, 'items.json'), JSON.stringify([{ id: 'bd-1', claim_refreshed_at: at }]));
  return () => expect(stage.heartbeats.at(-1)?.work).toMatchObject({ id: 'bd-1', claim_refreshed_at: at });
};

test('an agent that is supervised again keeps the tracker that it was started with', async () => {
  const hasFirst = claimedAt(1000);
  await stage.start(['--detach', '--task', 'bd-1', '--work-source', SOURCE, ...untilStopped]).ended;
  await until(hasFirst);
  const died = supervisor();
  process.kill(died, 'SIGKILL');
  await until(() => expect(() => process.kill(died, 0)).toThrow(/ESRCH/));
  const hasNext = claimedAt(2000);
  expect((await stage.start(['--detach']).ended).code).toBe(0);
  await until(hasNext);
  writeFileSync(join(stage.dir, 'stop'), '');
  await until(() => expect(existsSync(join(stage.dir, 'agents', 'worker-1.lock'))).toBe(false));
});
