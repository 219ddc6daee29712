import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Topic, topicNames } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { afterAll, expect, test } from 'vitest';
import { Fatal, Refused } from '../errors.ts';
import { out, readAll } from '../log/log.fixture.ts';
import type { Log } from '../log/log.ts';
import { aliased } from '../runner/runner.fixture.ts';
import { LogFile } from './database.ts';
import { openFileLog } from './file-log.ts';
import { copyFileLog, transferFileLog } from './transfer.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-transfer-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let made = 0;
const fresh = (): string => path.join(dir, `log-${made++}.db`);
const open = (file: string, writes = topicNames, partitions = 2) =>
  openFileLog({ path: file, partitions, writes, now: Date.now });

const T = 1_795_305_600_000;
const nudge = example(Topic.agentIntervention, 'NUDGE_SENT');
const order = example(Topic.agentOrder, 'NUDGE_AGENT');

/** A file with events, a mark, a command, bytes that do not decode, and a deleted record. */
const filled = async (): Promise<string> => {
  const file = fresh();
  await using log = await open(file);
  const intervention = (key: string, value: Buffer | null, timestamp: number) =>
    out(Topic.agentIntervention, key, { value, timestamp });
  const event = log.codec.encode(nudge);
  await log.write([
    intervention('a', event, T),
    intervention('@tick/0', null, T + 1),
    intervention('b', event, T + 2),
    intervention('c', Buffer.from('garbage'), T + 3),
  ]);
  await log.write([out(Topic.agentOrder, 'a', { value: log.codec.encode(order) })]);
  const raw = new LogFile(file);
  raw.run("DELETE FROM records WHERE key = '@tick/0'");
  raw.run('INSERT INTO offsets ("group", topic, partition, "offset") VALUES (?, ?, ?, ?)', 'g', Topic.notify, 0, 3);
  raw.run(
    'INSERT INTO offsets ("group", topic, partition, "offset") VALUES (?, ?, ?, ?)',
    'projector',
    Topic.notify,
    0,
    9,
  );
  raw.close();
  return file;
};

/** A target with other ids of schemas, because it has registered another topic first. */
const target = async () => {
  const file = fresh();
  const log = await open(file, [Topic.taskRecovery]);
  const schemas = new LogFile(file);
  const register = async (subject: string, json: string) =>
    schemas.schemas.register([{ subject, json, permit: () => {} }])[0] ?? 0;
  const close = async () => {
    schemas.close();
    await log[Symbol.asyncDispose]();
  };
  return { log, register, [Symbol.asyncDispose]: close };
};

const never = new AbortController().signal;
const transfer = (file: string, log: Log, register: (subject: string, json: string) => Promise<number>) =>
  transferFileLog(file, log, { register, onProgress: () => {}, signal: never });

test('keys, order, times, offsets and versions stay, and ids of schemas are those of the target', async () => {
  const file = await filled();
  await using to = await target();
  const done: [number, number][] = [];
  const options = { register: to.register, onProgress: (n: number, of: number) => done.push([n, of]), signal: never };
  const result = await transferFileLog(file, to.log, options);
  expect(result).toMatchObject({ records: 5, groups: 1 });
  expect(done.at(-1)).toEqual([5, 5]);

  const moved = await readAll(to.log, Topic.agentIntervention);
  expect(moved.map(({ key, offset, timestamp }) => [key, offset, timestamp])).toEqual([
    ['a', 0, T],
    ['@probe/import', 1, T],
    ['b', 2, T + 2],
    ['c', 3, T + 3],
  ]);
  expect(moved[3]?.value?.toString()).toBe('garbage');
  await using own = await open(file);
  const [before] = await readAll(own, Topic.agentIntervention);
  expect(moved[0]?.value?.readInt32BE(1)).not.toBe(before?.value?.readInt32BE(1));
  expect(moved[0]?.value?.subarray(5)).toEqual(before?.value?.subarray(5));
});

test('a command keeps the time at which it was first received, in a header', async () => {
  const file = await filled();
  await using own = await open(file);
  const [given] = await readAll(own, Topic.agentOrder);
  await using to = await target();
  await transfer(file, to.log, to.register);
  const [moved] = await readAll(to.log, Topic.agentOrder);
  expect(moved?.headers.moved).toBe(String(given?.timestamp));
});

test('groups continue at their offsets; the projector reads all, because its database is built again', async () => {
  const file = await filled();
  await using to = await target();
  await transfer(file, to.log, to.register);
  expect((await to.log.groupOffsets('g', Topic.notify))[0]).toBe(3);
  expect((await to.log.groupOffsets('projector', Topic.notify))[0]).toBeNull();
});

test('offsets that the target drops without an error are written again', async () => {
  await using to = await target();
  let dropped = 0;
  const join: Log['join'] = async (member) => {
    const membership = await to.log.join(member);
    const publish: typeof membership.publish = async (offsets) => {
      if (dropped > 0) return membership.publish(offsets);
      dropped += 1;
    };
    return { ...membership, publish, stop: () => membership.stop() };
  };
  await transfer(await filled(), { ...aliased(to.log), join }, to.register);
  expect(dropped).toBe(1);
  expect((await to.log.groupOffsets('g', Topic.notify))[0]).toBe(3);
});

test('a target with records is refused, and so is one with another number of partitions, with both numbers', async () => {
  const file = await filled();
  await using to = await target();
  await to.log.write([out(Topic.alert, 'x')]);
  await expect(transfer(file, to.log, to.register)).rejects.toThrow(Refused);
  await expect(transfer(file, to.log, to.register)).rejects.toThrow(`${Topic.alert} has had 1 records in the target`);
  await using four = await open(fresh(), [], 4);
  await expect(transfer(file, four, to.register)).rejects.toThrow(/has 2 partitions in the file and 4 in the target/);
});

test('a copy is complete while the file is in use, and no file is overwritten', async () => {
  const file = await filled();
  await using own = await open(file);
  const copy = fresh();
  copyFileLog(file, copy);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  await own.write([out(Topic.alert, 'later')]);
  await using to = await target();
  expect(await transfer(copy, to.log, to.register)).toMatchObject({ records: 5 });
  expect(() => copyFileLog(file, copy)).toThrow(Fatal);
  expect(existsSync(copy)).toBe(true);
});
