import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Supervised } from '../agent/agent-instance.ts';
import type { AgentSpec } from '../agent/agent-spec.ts';
import { supervise } from '../agent/supervise.ts';
import { type Stage, scriptSpec, setStage, terminate } from '../testing/stage.ts';

let stage: Stage;
let instance: Supervised | null = null;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(async () => {
  await instance?.end('the test is over', 0).then(() => instance?.settled);
  await stage.close();
});

const until = <T>(look: () => T) => vi.waitFor(look, { timeout: 60_000, interval: 20 });
const shell = (script: string) => ['sh', '-c', script] as const;
const releases = () => ({ release: shell(`touch ${join(stage.dir, 'released')}; echo claim-1`) });
const start = async (script: string, more: Partial<AgentSpec>): Promise<Supervised> => {
  instance = await supervise(
    scriptSpec(script, more),
    { ...stage.deps, killAfterMs: 200, onOrders: () => {} },
    { size: { columns: 80, rows: 24 }, isPiped: false, output: () => {} },
  );
  return instance;
};
const endedBy = async (order: Parameters<typeof terminate>[0]) => {
  instance?.offer(terminate(order), 30_000);
  const end = await instance?.ended;
  await instance?.settled;
  return end;
};
const areReleased = (): boolean => existsSync(join(stage.dir, 'released'));

test('claims are released where the order releases them', async () => {
  await start('sleep 600', releases());
  expect(await endedBy({ release: ['claims'] })).toMatchObject({ claimsReleased: ['claim-1'] });
  expect(areReleased()).toBe(true);
});

test('an order that leaves the task in progress keeps its claims', async () => {
  await start('sleep 600', releases());
  expect(await endedBy({ release: [], leave: 'in_progress' })).toMatchObject({ claimsReleased: [] });
  expect(areReleased()).toBe(false);
});

test('an agent that crashes keeps its claims, for its replacement', async () => {
  const end = await (await start('exit 3', releases())).ended;
  expect(end).toMatchObject({ reason: 'crashed', claimsReleased: [] });
  expect(areReleased()).toBe(false);
});

/** A command that prints what it is given of an end, a line each. */
const printing = (name: string) =>
  shell(
    `printf "%s\\n" "$VIGIL_END_REASON" "$VIGIL_TASK_LEFT" "$VIGIL_RELEASE" "$VIGIL_TASK_ID" > ${join(stage.dir, name)}`,
  );
const printed = (name: string) => readFileSync(join(stage.dir, name), 'utf8').split('\n').slice(0, -1);

test('the commands at an end are given its reason, what is left of the task, and what the order releases', async () => {
  await start('sleep 600', { cleanup: printing('cleaned'), release: printing('released') });
  await endedBy({ release: ['claims', 'locks'], leave: 'released' });
  const given = ['explicit', 'released', 'claims,locks', 'TASK-1'];
  expect([printed('cleaned'), printed('released')]).toEqual([given, given]);
});

test('without an order the task stays in progress, and nothing is released', async () => {
  await (await start('exit 3', { cleanup: printing('cleaned') })).ended;
  expect(printed('cleaned')).toEqual(['crashed', 'in_progress', '', 'TASK-1']);
});

test('a runtime that cannot release claims reports that', async () => {
  await start('sleep 600', { release: null });
  const end = await endedBy({ release: ['claims'] });
  expect(end?.details).toContain('its claims are not released: its runtime has no `release` command for it');
});

test('a clean-up that exceeds the time of its order is ended', async () => {
  const [file, survived] = [join(stage.dir, 'cleaning'), join(stage.dir, 'survived')];
  // It ends by itself after seven seconds or more: later than its order allows, and before the limit without an order.
  const lasts = `i=0; while [ $i -lt 70 ]; do sleep 0.1; i=$((i+1)); done; touch ${survived}`;
  await start('sleep 600', { cleanup: shell(`echo $$ > ${file}; ${lasts}`) });
  await endedBy({ cleanupMs: 1500 });
  const pid = Number(readFileSync(file, 'utf8'));
  await until(() => expect(() => process.kill(pid, 0)).toThrow(/ESRCH/));
  expect(existsSync(survived)).toBe(false);
});

test('a clean-up within the time of its order runs to its end', async () => {
  const cleaned = join(stage.dir, 'cleaned');
  await start('sleep 600', { cleanup: shell(`sleep 0.5; touch ${cleaned}`) });
  await endedBy({ cleanupMs: 30_000 });
  expect(existsSync(cleaned)).toBe(true);
});
