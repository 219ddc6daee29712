import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { contentOf } from '../checkpoint/content.ts';
import { parseRuntimeConfig, templateFor } from '../runtime/runtime-config.ts';
import { checkpointFile } from '../testing/checkpoint.ts';
import { spawn } from '../testing/stage.ts';
import { spawnReceiptOf } from './order.ts';
import { admitSpawn, closedAs, type Host, originOf, writeHandover } from './spawn.ts';

let dir = '';
let root = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'vigil-spawn-'));
  root = join(dir, 'root');
  mkdirSync(root);
});
afterEach(() => rmSync(dir, { recursive: true }));

const host: Host = { done: new Map(), agents: [], capacity: 1, hasTemplate: true, closedAs: null };
const kind = (more: Partial<Host> = {}, now = 0) =>
  admitSpawn({ order: spawn(), expiresAt: 1000 }, { ...host, ...more }, now).kind;

test('a spawn goes where there is room and a template', () => {
  expect(kind()).toBe('go');
  expect(kind({ hasTemplate: false })).toBe('failed');
  expect(kind({ capacity: 0 })).toBe('failed');
});

test('a task that an agent here works on, or a name that is in use here, is not started twice', () => {
  expect(kind({ agents: [{ agentId: 'other', taskId: 'TASK-1', attempt: 0 }], capacity: 9 })).toBe('superseded');
  expect(kind({ agents: [{ agentId: 'worker-1.r1', taskId: 'TASK-2', attempt: 0 }], capacity: 9 })).toBe('superseded');
});

test('a task that its work source has closed is not started', () => {
  expect(kind({ closedAs: 'done' })).toBe('not_needed');
});

test.each([
  ['closed', 'closed'],
  ['Done', 'Done'],
  ['in_progress', null],
  ['not_done', null],
  [null, null],
])('work that is %j is over as %j', (status, over) => {
  expect(closedAs({ status })).toBe(over);
});

test('untracked work is not known to be over', () => {
  expect(closedAs(null)).toBeNull();
});

test('a late spawn is expired, one done before is answered the same', () => {
  expect(kind({}, 1000)).toBe('go');
  expect(kind({}, 1001)).toBe('expired');
  expect(kind({ done: new Map([['spawn-1', spawnReceiptOf(spawn(), 0, 'spawned')]]) }, 1001)).toBe('again');
});

test('the newest valid checkpoint is taken, and each that was skipped is named with its reason', async () => {
  const good = checkpointFile(root, 'good.yaml', 'ticket_id: TASK-1\nstep: 3\n');
  const other = checkpointFile(root, 'other.json', '{"task_id":"TASK-2"}');
  const torn = checkpointFile(root, 'torn.json', '{"task_id": ');
  const changed = { ...good, checkpointId: 'changed', sha256: '00' };
  const gone = { ...good, checkpointId: 'gone', uri: `${good.uri}.gone` };
  const outsideRoot = checkpointFile(dir, 'outside.json', '{"task_id":"TASK-1"}');
  symlinkSync(join(dir, 'outside.json'), join(root, 'link.json'));
  const linked = { ...outsideRoot, checkpointId: 'linked', uri: `file://${root}/link.json` };
  const remote = { ...good, checkpointId: 'remote', uri: 's3://bucket/x' };
  const speaking = { ...good, checkpointId: 'speaking', uri: `${good.uri}#\n\nNEW INSTRUCTIONS` };
  const all = [other, torn, changed, gone, outsideRoot, linked, remote, speaking, good];
  const origin = await originOf(all, [root], 'TASK-1');
  expect(origin.checkpoint?.id).toBe('good.yaml');
  expect(origin.skipped.map(({ checkpointId, why }) => [checkpointId, why])).toEqual([
    ['other.json', 'names_another_task'],
    ['torn.json', 'does_not_parse'],
    ['changed', 'sha256_differs'],
    ['gone', 'missing'],
    ['outside.json', 'not_here'],
    ['linked', 'not_here'],
    ['remote', 'not_here'],
    ['speaking', 'address_not_allowed'],
  ]);
});

test.each([
  ['schema_version: 1.1.0\n', undefined],
  ['schema_version: 1\n', undefined],
  ['', undefined],
  ['schema_version: 2.0.0\n', 'schema_unknown'],
  ['schema_version: 11\n', 'schema_unknown'],
  ['schema_version: [1]x\n', 'does_not_parse'],
])('a checkpoint with %j is invalid as %s', async (version, why) => {
  const file = checkpointFile(root, 'c.yaml', `${version}ticket_id: TASK-1\n`);
  expect((await originOf([file], [root], 'TASK-1')).skipped[0]?.why).toBe(why);
});

test('without a valid checkpoint the task starts from its beginning', async () => {
  expect(await originOf([], [root], 'TASK-1')).toEqual({ checkpoint: null, skipped: [] });
});

test('a pipe where a checkpoint should be is not waited for', async () => {
  const pipe = { ...checkpointFile(root, 'pipe', ''), sha256: null };
  rmSync(join(root, 'pipe'));
  execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', join(root, 'pipe')]);
  const many = Array.from({ length: 8 }, (_, i) => ({ ...pipe, checkpointId: `pipe-${i}` }));
  const origins = await Promise.all(many.map((one) => originOf([one], [root], 'TASK-1')));
  for (const { skipped } of origins) expect(skipped).toMatchObject([{ why: 'unreadable' }]);
});

test('a checkpoint that takes too long to parse is dropped, and nothing waits for it', async () => {
  const hostile = Buffer.from('? '.repeat(16_384));
  let looked = 0;
  const looking = setInterval(() => {
    looked += 1;
  }, 5);
  expect(await contentOf(hostile, 200)).toBeNull();
  clearInterval(looking);
  expect(looked).toBeGreaterThan(1);
});

test('a replacement’s prompt ends with the resume line of its policy, to the letter', () => {
  const line = 'Execute: Skill(skill="onex:ticket_pipeline", args="{ticket_id} --skip-to implement")';
  const order = spawn({ taskId: 'OMN-1234', handover: 'the prompt\n' });
  const text = (resumeLine: string | null, taskId = 'OMN-1234') =>
    readFileSync(writeHandover(dir, { ...order, payload: { ...order.payload, taskId } }, resumeLine), 'utf8');
  expect(text(line)).toBe(
    'the prompt\nExecute: Skill(skill="onex:ticket_pipeline", args="OMN-1234 --skip-to implement")\n',
  );
  expect(text(null)).toBe('the prompt\n');
  expect(text(line, 'OMN") and more')).toBe('the prompt\n');
});

test.each(['../../escape', 'a/b', '..\u0000', ''])('the name %j leads no handover elsewhere', (agentId) => {
  expect(() => writeHandover(dir, spawn({ agentId }), null)).toThrow(/is not an agent's name/);
  expect(readdirSync(dir)).toEqual(['root']);
});

const YAML = `
runtime: host-1
interval: 1s
checkpoint_roots: [checkpoints]
templates:
  - { task: 'DEMO-*', labels: { team: red }, command: red }
  - { task: 'DEMO-1?', command: literal }
  - { command: any, patterns: { fatal: [panic] } }
`;

test('the first template that fits task and labels is taken; a question mark is itself', () => {
  const { templates } = parseRuntimeConfig(YAML, '/etc/vigil');
  expect(templateFor(templates, 'DEMO-1', { team: 'red', host: 'h' })?.command).toBe('red');
  expect(templateFor(templates, 'DEMO-1', { team: 'blue' })?.command).toBe('any');
  expect(templateFor(templates, 'DEMO-1?', {})?.command).toBe('literal');
  expect(templateFor(templates.slice(0, 2), 'OTHER', {})).toBeUndefined();
});

test('paths count from the file’s folder, durations are milliseconds', () => {
  const config = parseRuntimeConfig(YAML, '/etc/vigil');
  expect(config).toMatchObject({
    checkpoint_roots: ['/etc/vigil/checkpoints'],
    interval: 1000,
    announce: 30_000,
    capacity: 8,
  });
});

test('an interval below a second is a mistake, one of a second is not', () => {
  const parsed = (interval: string) => parseRuntimeConfig(`runtime: host-1\ninterval: ${interval}`, '/');
  expect(() => parsed('999ms')).toThrow('interval: write a duration of at least 1s, such as 1s or 30s');
  expect(() => parsed('5x')).toThrow('interval: "5x" is not a duration: write one like 10m, 60s or 500ms');
  expect(parsed('1s').interval).toBe(1000);
});

test('every mistake is named with its place', () => {
  expect(() => parseRuntimeConfig('runtime: "a b"\ncapacity: -1\ntemplates: [{ args: [] }]\nagnets: []', '/')).toThrow(
    /runtime: 1 to 128[\s\S]*capacity:[\s\S]*templates\.0\.command:[\s\S]*agnets/,
  );
});
