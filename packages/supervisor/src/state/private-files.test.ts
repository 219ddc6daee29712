import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { saveRecovery } from '../exit/exit-artifacts.ts';
import { writeHandover } from '../orders/spawn.ts';
import { monitoringOf, parseRuntimeConfig } from '../runtime/runtime-config.ts';
import { fakeGateway } from '../testing/fake-gateway.ts';
import { liveOn, openTestDeps, scriptSpec, spawn } from '../testing/stage.ts';
import { checkName } from './lock.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const modeOf = (name: string): number => statSync(join(dir, 'state', name)).mode & 0o777;

test('no other user can read what agents print and receive, even in a folder that others may look into', async () => {
  mkdirSync(join(dir, 'state'), { mode: 0o755 });
  const gateway = await fakeGateway();
  const deps = openTestDeps(join(dir, 'state'), gateway, 'run-1');
  const stage = { dir, gateway, deps, killAfterMs: 200, close: async () => {} };
  const instance = await liveOn(stage, scriptSpec('echo a secret; exit 3'), 80, () => {});
  await instance.settled;
  writeHandover(deps.dir, spawn(), null);
  const made = readdirSync(join(dir, 'state'));
  expect(made).toEqual(expect.arrayContaining(['archive', 'handover', 'journal', 'outbox']));
  // Other users may enter the folder of the sockets of root, and find in it what is theirs.
  const closed = made.filter((name) => name !== 's' || process.getuid?.() !== 0);
  expect(closed.filter((name) => modeOf(name) !== 0o700)).toEqual([]);
  await deps.outbox.settled(60_000);
  deps.close();
  await gateway.close();
});

test('no name leads out of the folder that it is in', () => {
  const known = { calls: [], output: [], work: null };
  const remains = { attempt: 1, checkpoint: null, stallReason: 'inactivity', known };
  for (const name of ['.', '..', '../up', 'a/../../b', '']) {
    expect(() => checkName(name)).toThrow("is not an agent's name");
    expect(() => saveRecovery(join(dir, 'in'), join(dir, 'in'), { ...remains, taskId: name }, 0)).toThrow('name');
  }
  expect(readdirSync(dir)).toEqual([]);
  for (const name of ['a.b', 'a..', '1.a', 'a-1:b_2']) checkName(name);
});

test('a task or an agent whose name leads elsewhere is not watched by the files of its template', () => {
  const written = {
    command: 'x',
    nudge: 'file',
    step_log: 'logs/{task}/{agent}.jsonl',
    nudge_file: { path: 'nudges/{task}' },
  };
  const { templates } = parseRuntimeConfig(JSON.stringify({ runtime: 'run-1', templates: [written] }), dir);
  const [template] = templates;
  if (!template) throw new Error('no template');
  const of = (agentId: string, taskId: string) => monitoringOf(template, agentId, taskId);
  expect(of('a', 'T-1')).toMatchObject({
    stepLog: join(dir, 'logs/T-1/a.jsonl'),
    nudgeFile: { path: join(dir, 'nudges/T-1') },
  });
  expect(of('a', 'org/repo#12').stepLog).toBe(join(dir, 'logs/org/repo#12/a.jsonl'));
  for (const task of ['..', '../x', 'a/../../b', '/etc/x']) expect(() => of('a', task)).toThrow('leads elsewhere');
  expect(() => of('..', 'T-1')).toThrow('leads elsewhere');
});
