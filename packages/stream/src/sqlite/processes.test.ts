import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { Retry } from '../errors.ts';
import { keys, listen, readAll, until } from '../log/log.fixture.ts';
import type { Log } from '../log/log.ts';
import { jsonCodec } from '../runner/processors.fixture.ts';
import { openSqliteLog } from './sqlite-log.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-log-processes-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

const open = (name: string): Promise<Log> => {
  const topics = (['in', 'one', 'two'] as const).map((topic) => ({
    topic,
    partitions: topic === 'in' ? 4 : 1,
    keep: 'forever' as const,
    keepMarksMs: 3_600_000,
  }));
  return openSqliteLog({ path: path.join(dir, name), codec: jsonCodec, topics, now: Date.now });
};

/** Another process on the file, once it has begun. */
const startWorker = async (name: string): Promise<ChildProcess> => {
  const file = path.join(import.meta.dirname, 'worker.fixture.ts');
  const child = spawn(process.execPath, ['--conditions', 'development', file, path.join(dir, name)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
};
const kill = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGKILL');
  await once(child, 'exit');
};

test('a process that is killed leaves each of its transactions whole or not at all, and the next one continues', async () => {
  await using log = await open('killed.db');
  for (let round = 0; round < 3; round += 1) {
    const before = (await log.bounds('one'))[0]?.high ?? 0;
    const worker = await startWorker('killed.db');
    await until(async () => expect((await log.bounds('one'))[0]?.high).toBeGreaterThan(before + 20));
    await kill(worker);
    const [one, two] = [await readAll(log, 'one'), await readAll(log, 'two')];
    expect(keys(one)).toEqual(keys(two));
    expect(one.map(({ offset }) => offset)).toEqual(one.map((_, n) => n));
  }
});

test('a follower and a member receive what another process writes', async () => {
  await using log = await open('followed.db');
  const received: string[] = [];
  const stop = new AbortController();
  await log.follow(['one'], 'beginning', ({ key }) => received.push(key ?? ''), stop.signal);
  const worker = await startWorker('followed.db');
  await until(() => expect(received.length).toBeGreaterThan(20));
  await kill(worker);
  stop.abort();
  expect(received).toEqual(received.map((_, n) => String(n)));
});

test('processes share the partitions of a group, and a killed one leaves its share to the others', async () => {
  await using log = await open('shared.db');
  const here = await listen(log, 'shared', ['in']);
  await until(() => expect(here.assigned()).toEqual([0, 1, 2, 3]));
  const worker = await startWorker('shared.db');
  await until(() => expect(here.assigned()).toHaveLength(2));
  await kill(worker);
  await until(() => expect(here.assigned()).toEqual([0, 1, 2, 3]));
  await here.membership.stop();
});

test('a member that was removed, because its process stood still, joins again', async () => {
  await using log = await open('removed.db');
  const { membership, assigned } = await listen(log, 'removed', ['in']);
  await until(() => expect(assigned()).toEqual([0, 1, 2, 3]));
  const other = new DatabaseSync(path.join(dir, 'removed.db'));
  other.exec('DELETE FROM members');
  const members = () => other.prepare('SELECT assigned FROM members').all();
  await until(() => expect(members()).toEqual([{ assigned: '[0,1,2,3]' }]));
  other.close();
  await membership.stop();
});

test('a fence in one process ends the transactor of another', async () => {
  await using log = await open('fenced.db');
  const mine = await log.fence('worker');
  const worker = await startWorker('fenced.db');
  await expect(mine.commit([{ topic: 'one', partition: 0, key: 'zombie', value: null }])).rejects.toThrow(Retry);
  await kill(worker);
  expect(keys(await readAll(log, 'one'))).not.toContain('zombie');
});

test('a reopened file has its records, the offsets of its groups and its fences', async () => {
  const records = [{ topic: 'in', partition: 1, key: 'a', value: Buffer.from('x'), headers: { h: '1' } }];
  const first = await open('reopened.db');
  const id = await first.clusterId();
  await first.write(records);
  const before = await first.fence('again');
  const { membership } = await listen(first, 'g', ['in']);
  await until(async () => {
    await membership.publish([{ topic: 'in', partition: 1, offset: 1 }]);
    expect(await first.groupOffsets('g', 'in')).toEqual([null, 1, null, null]);
  });
  await first[Symbol.asyncDispose]();
  await using second = await open('reopened.db');
  expect(await second.clusterId()).toBe(id);
  expect(await readAll(second, 'in', 1)).toMatchObject([{ key: 'a', headers: { h: '1' }, offset: 0 }]);
  expect(await second.groupOffsets('g', 'in')).toEqual([null, 1, null, null]);
  await second.fence('again');
  await expect(before.commit([])).rejects.toThrow();
});
