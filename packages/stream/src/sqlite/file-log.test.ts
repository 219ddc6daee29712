import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { catalogue, Topic, tableCodec, topicNames } from '@vigil/events';
import { codecContract } from '@vigil/events/codec-contract';
import { example } from '@vigil/events/examples';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { Refused } from '../errors.ts';
import { out, readAll } from '../log/log.fixture.ts';
import type { LogRecord } from '../log/log.ts';
import { LogFile } from './database.ts';
import { openFileLog } from './file-log.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'vigil-file-log-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let made = 0;
const fresh = (): string => path.join(dir, `log-${made++}.db`);

describe('a codec on the schemas of a file', () =>
  codecContract(async () => {
    const file = fresh();
    return {
      connect: async (topics) => tableCodec(new LogFile(file).schemas, topics),
      add: async (subject, json) => new LogFile(file).schemas.register([{ subject, json, permit: () => {} }])[0] ?? 0,
    };
  }));

const open = (file: string, partitions = 2) =>
  openFileLog({ path: file, partitions, writes: topicNames, now: Date.now });

test('a new file has every topic of the catalogue, with its number of partitions', async () => {
  await using log = await open(fresh(), 3);
  for (const { name, partitions } of Object.values(catalogue))
    expect(await log.partitionCount(name), name).toBe(partitions === 'one' ? 1 : 3);
});

test('another number of partitions is refused with both numbers', async () => {
  const file = fresh();
  await using _ = await open(file, 2);
  await expect(open(file, 4)).rejects.toThrow(Refused);
  await expect(open(file, 4)).rejects.toThrow(/has 2 partitions in .* and should have 4/);
});

test('an event is read from a file that was closed, by a process that does not write its topic', async () => {
  const file = fresh();
  const event = example(Topic.agentIntervention, 'NUDGE_SENT');
  {
    await using log = await open(file);
    await log.write([out(Topic.agentIntervention, 'a', { value: log.codec.encode(event) })]);
  }
  await using log = await openFileLog({ path: file, partitions: 2, writes: [], now: Date.now });
  const [record] = await readAll(log, Topic.agentIntervention);
  const value = record?.value ?? Buffer.alloc(0);
  const unknown = (() => {
    try {
      return log.codec.decode(Topic.agentIntervention, value);
    } catch (error) {
      return error;
    }
  })();
  await log.codec.learn(unknown as never);
  expect(log.codec.decode(Topic.agentIntervention, value).payload).toEqual(event.payload);
});

test('when one of two users in a process has closed, it receives nothing and the other continues', async () => {
  const file = fresh();
  const forever = new AbortController().signal;
  const received: string[] = [];
  const first = await open(file);
  await using second = await open(file);
  const note = (user: string) => (record: LogRecord) => received.push(`${user} ${record.key}`);
  await first.follow([Topic.agentIntervention], 'beginning', note('first'), forever);
  await second.follow([Topic.agentIntervention], 'beginning', note('second'), forever);
  await first.write([out(Topic.agentIntervention, 'a')]);
  await vi.waitFor(() => expect(received.toSorted()).toEqual(['first a', 'second a']));
  await first[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second.write([out(Topic.agentIntervention, 'b')]);
  await vi.waitFor(() => expect(received).toContain('second b'));
  expect(received).not.toContain('first b');
});

test('a file that all users have closed is opened again', async () => {
  const file = fresh();
  for (const key of ['a', 'b']) {
    await using log = await open(file);
    await log.write([out(Topic.agentIntervention, key)]);
  }
  await using log = await open(file);
  expect((await readAll(log, Topic.agentIntervention)).map(({ key }) => key)).toEqual(['a', 'b']);
});
