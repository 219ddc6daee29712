import { Topic } from '@vigil/events';
import { example } from '@vigil/events/examples';
import { expect, test } from 'vitest';
import { DeadLetter } from '../errors.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { deadLetterOf, leftOutLetterOf } from './dead-letters.ts';
import type { LogRecord } from './log.ts';
import {
  type ReplayedLetter,
  readDeadLetters,
  refusalOf,
  replayDeadLetters,
  type StoredLetter,
} from './replay-dead-letters.ts';

const { signal } = new AbortController();
const SERVICE = { service: 'intervention', partitions: 2 };
const T = 1_795_305_600_000;

/** A log with one dead letter of each of these records of agents, which were read from agent-health. */
const withLetters = async (...change: readonly Partial<LogRecord>[]) => {
  const log = new MemoryLog({ partitions: 2, now: () => T });
  await log.publish({ ...example(Topic.agentHealth, 'WARRANT_LAPSED', {}), key: 'worker-1' });
  const [record] = log.records(Topic.agentHealth) as [LogRecord];
  const error = new DeadLetter('undecided', 'a fault that is repaired');
  for (const one of change)
    log.append([
      deadLetterOf(
        { ...SERVICE, codec: log.codec },
        { record: { ...record, ...one }, error, otherwise: '' },
        65_536,
        T,
      ),
    ]);
  return { log, record };
};
const replayed = async (log: MemoryLog, wanted: (letter: StoredLetter) => boolean = () => true) => {
  const done: ReplayedLetter[] = [];
  let pauses = 0;
  const pause = async () => {
    pauses += 1;
  };
  await replayDeadLetters(log, { wanted, pause, onEach: (one) => done.push(one), signal });
  return { done, pauses };
};

test('a dead letter is written to its topic under its key, with its value and the mark of its dead letter', async () => {
  const { log, record } = await withLetters({});
  const { done, pauses } = await replayed(log);
  expect(done).toMatchObject([{ refusal: null, letter: { service: 'intervention', reason: 'undecided' } }]);
  expect(pauses).toBe(1);
  const [, again] = log.partition(Topic.agentHealth, record.partition);
  expect(again).toMatchObject({ key: 'worker-1', value: record.value });
  expect(again?.headers).toEqual({ replayed: done[0]?.letter.id, moved: String(record.timestamp) });
});

test('a dead letter is replayed once, and a second replay is refused with the time of the first', async () => {
  const { log } = await withLetters({});
  await replayed(log);
  const { done, pauses } = await replayed(log);
  expect(done.map(({ refusal }) => refusal)).toEqual(['it was replayed at 2026-11-22T00:00:00.000Z']);
  expect(pauses).toBe(0);
  expect(log.records(Topic.agentHealth)).toHaveLength(2);
  expect(await readDeadLetters(log, signal)).toMatchObject([{ replayedAt: T }]);
});

test('a replay that a later one has ended writes nothing more', async () => {
  const { log } = await withLetters({}, { offset: 1 });
  const first = replayDeadLetters(log, {
    wanted: () => true,
    pause: async () => void (await log.fence('vigil-replay-dead-letters')),
    onEach: () => {},
    signal,
  });
  await expect(first).rejects.toThrow('was fenced');
  expect(log.records(Topic.agentHealth)).toHaveLength(2);
  const letters = await readDeadLetters(log, signal);
  expect(letters.filter(({ replayedAt }) => replayedAt !== null)).toHaveLength(1);
});

test('a record with two dead letters is written once, also by a later replay', async () => {
  const { log } = await withLetters({}, {});
  const first = await replayed(log);
  const another = 'another dead letter of the same record was replayed';
  expect(first.done.map(({ refusal }) => refusal)).toEqual([null, another]);
  const { done } = await replayed(log);
  expect(done[1]?.refusal).toBe(another);
  expect(log.records(Topic.agentHealth)).toHaveLength(2);
});

test('only wanted dead letters are replayed', async () => {
  const { log } = await withLetters({}, { key: 'worker-2', offset: 1 });
  const { done } = await replayed(log, ({ original }) => original.key === 'worker-2');
  expect(done.map(({ letter }) => letter.original.key)).toEqual(['worker-2']);
  expect(log.records(Topic.agentHealth)).toHaveLength(2);
});

test.each([
  ['without a value', { value: null }, 'its record has no value'],
  ['without a key', { key: null }, 'its record has no key of an agent or task'],
  ['of an unknown topic', { topic: 'onex.evt.gone.v1' }, 'this version has no topic onex.evt.gone.v1'],
  ['of bytes without an event', { value: Buffer.from('garbage') }, 'it would be a dead letter again: '],
  ['above the largest size', { value: Buffer.alloc(70_000) }, 'only the beginning of its record is kept'],
])('a record %s is refused with the reason, and nothing is written', async (_, change, reason) => {
  const { log } = await withLetters(change);
  const { done } = await replayed(log);
  expect(done[0]?.refusal).toContain(reason);
  expect(log.records(Topic.agentHealth)).toHaveLength(1);
});

test('a dead letter for records that were left out is refused with their number', async () => {
  const { log, record } = await withLetters();
  const leftOut = { topic: record.topic, partition: 0, offset: 7, timestamp: T, key: 'worker-1', count: 940 };
  log.append([leftOutLetterOf({ ...SERVICE, codec: log.codec }, leftOut, T)]);
  const [letter] = await readDeadLetters(log, signal);
  expect(await refusalOf(log, letter as StoredLetter)).toContain('940 records of its minute were not kept');
});
