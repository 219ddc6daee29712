import { expect, test } from 'vitest';
import { partitionOf } from '../log/partitioner.ts';
import type { AnyRules } from '../processor/topology.ts';
import { echoing, listener, listening } from './processors.fixture.ts';
import {
  expectGapless,
  type LogFactory,
  PARTITIONS,
  start,
  T,
  testBed,
  until,
  withRegistry,
} from './runner.fixture.ts';

/** The contract of the processor runner, in memory and on Kafka. */
export const runnerContract = ({ log: open, topics }: LogFactory): void => {
  test('records are decided, deadlines fire at ticks, and time is forwarded in order', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    await using running = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(w.heartbeat('a', 100), w.heartbeat('b', 200));
    for (const at of [1000, 2000, 3000, 4000]) await w.tick(at);
    await until(() => expect(w.emitted().filter(({ type }) => type === 'MISSING')).toHaveLength(2));
    expectGapless(w.emitted());
    await until(() => expect(w.out.filter(({ key }) => key?.startsWith('@tick/'))).toHaveLength(5 * PARTITIONS));
    expect(running.ready()).toBe(true);
    // A commit is received before its writer has the acknowledgement.
    await until(() =>
      expect(running.status().map(({ partition, phase, lag, time }) => ({ partition, phase, lag, time }))).toEqual(
        [0, 1, 2, 3].map((partition) => ({ partition, phase: 'running', lag: 0, time: T + 4000 })),
      ),
    );
    w.stop();
  });

  test('a restarted process continues at its state, time and position, and does nothing twice', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const first = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(w.heartbeat('a', 0), w.heartbeat('b', 0));
    await until(() => expect(w.emitted()).toHaveLength(2));
    await first.stop();
    await w.write(w.heartbeat('a', 500));
    await using _second = await start(log, listening(w.run));
    for (const at of [1000, 2000, 3000]) await w.tick(at);
    await until(() => expect(w.emitted()).toHaveLength(4));
    expectGapless(w.emitted());
    expect(
      w
        .emitted()
        .filter(({ type }) => type === 'MISSING')
        .map(({ key }) => key),
    ).toEqual(['b']);
    expect(
      w
        .emitted()
        .filter(({ key }) => key === 'a')
        .map(({ payload }) => payload.n),
    ).toEqual([1, 2]);
    w.stop();
  });

  test('an absence of the whole processor is not counted against any agent, because its clock is stored with its position', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const first = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(w.heartbeat('a', 0));
    await until(() => expect(w.emitted()).toHaveLength(1));
    await first.stop();
    await using _second = await start(log, listening(w.run));
    for (const at of [60_000, 61_000, 62_000, 63_000, 64_000]) await w.tick(at);
    await w.write(w.heartbeat('b', 64_000));
    await until(() => expect(w.emitted()).toHaveLength(2));
    expect(w.emitted().map(({ type }) => type)).toEqual(['RECEIVED', 'RECEIVED']);
    await w.tick(65_000);
    await until(() => expect(w.emitted().filter(({ type }) => type === 'MISSING')).toHaveLength(1));
    w.stop();
  });

  test('instances that come and go share the partitions, and every key is counted without a gap', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const keys = Array.from({ length: 12 }, (_, i) => `agent-${i}`);
    let rounds = 0;
    const round = async () => {
      rounds += 1;
      await w.write(...keys.map((key) => w.heartbeat(key, rounds)));
    };
    await w.tick(0);
    const first = await start(log, listening(w.run));
    await round();
    await using log2 = await open();
    const second = await start(log2, listening(w.run));
    await until(() => expect(first.status().length + second.status().length).toBe(PARTITIONS));
    for (let i = 0; i < 5; i++) await round();
    await until(() => expect(second.ready() && second.status().length > 0).toBe(true));
    await first.stop();
    for (let i = 0; i < 5; i++) await round();
    await until(() => expect(w.emitted()).toHaveLength(rounds * keys.length));
    expectGapless(w.emitted());
    expect(
      w
        .emitted()
        .map(({ payload }) => payload.n)
        .toSorted((a, b) => a! - b!),
    ).toEqual(Array.from({ length: rounds }, (_, i) => keys.map(() => i + 1)).flat());
    await second.stop();
    w.stop();
  });

  test('bad records become dead letters in the transaction of the good ones; a schema that can be learned is learned', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    await using _running = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(
      w.heartbeat('a', 1),
      w.heartbeat('a', 2, 'garbage'),
      w.heartbeat('a', 3, 'BOOM'),
      w.heartbeat('a', 4, '?7'),
      w.heartbeat('a', 5, '?77'),
      w.heartbeat('a', 6),
    );
    await until(() => expect(w.emitted().map(({ payload }) => payload.n)).toEqual([1, 2, 3]));
    await until(() => expect(w.deadLetters).toHaveLength(3));
    const reasons = w.deadLetters.map(({ value }) => JSON.parse(String(value)).payload.failure_reason);
    expect(reasons).toEqual(['not_json', 'undecided', 'unknown_schema_id']);
    expectGapless(w.emitted());
    w.stop();
  });

  test('too many dead letters end the process with code 1; the output of earlier records is written once', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const running = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(
      w.heartbeat('a', 1),
      ...Array.from({ length: 25 }, () => w.heartbeat('a', 2, 'garbage')),
      w.heartbeat('a', 3),
    );
    await expect(running.finished).rejects.toMatchObject({ name: 'Fatal', exitCode: 1 });
    await running.stop();
    await until(() => expect(w.deadLetters).toHaveLength(20));
    await using _again = await start(log, listening(w.run));
    await until(() => expect(w.deadLetters).toHaveLength(25));
    await until(() => expect(w.emitted()).toHaveLength(2));
    w.stop();
  });

  test('an unreachable registry delays only the partition whose record needs it, and makes no dead letter', async () => {
    await using opened = await open();
    const w = await testBed(opened, await topics(PARTITIONS));
    const { registry, log } = withRegistry(opened);
    const other = ['b', 'c', 'd', 'e'].find((key) => partitionOf(key, PARTITIONS) !== partitionOf('a', PARTITIONS))!;
    await using running = await start(log, listening(w.run));
    const counts = (of: string) => w.emitted().flatMap(({ key, payload: { n } }) => (key === of ? [n] : []));
    await w.tick(0);
    await w.write(w.heartbeat('a', 1), w.heartbeat('a', 2, '?8'), w.heartbeat('a', 3), w.heartbeat(other, 1));
    await until(() => expect(registry.attempts).toBeGreaterThan(1));
    await w.write(w.heartbeat(other, 2));
    await until(() => expect(counts(other)).toEqual([1, 2]));
    expect(counts('a')).toEqual([1]);
    expect(running.ready()).toBe(false);
    registry.isAway = false;
    await until(() => expect(counts('a')).toEqual([1, 2, 3]));
    await until(() => expect(running.ready()).toBe(true));
    expect(w.deadLetters).toEqual([]);
    w.stop();
  });

  test('a process that is stopped while it waits for the registry leaves the record to the next', async () => {
    await using opened = await open();
    const w = await testBed(opened, await topics(PARTITIONS));
    const { registry, log } = withRegistry(opened);
    const first = await start(log, listening(w.run));
    await w.write(w.heartbeat('a', 1), w.heartbeat('a', 2, '?9'));
    await until(() => expect(registry.attempts).toBeGreaterThan(0));
    await first.stop();
    await using _again = await start(opened, listening(w.run));
    await until(() => expect(w.emitted().map(({ payload }) => payload.n)).toEqual([1, 2]));
    expectGapless(w.emitted());
    w.stop();
  });

  test('in the topic in which time begins, the owner of each partition writes its ticks', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const ticks = new Set<string>();
    const stop = new AbortController();
    await log.follow([`${w.run}.in`], 'end', ({ key, partition }) => ticks.add(`${key} in ${partition}`), stop.signal);
    await using _running = await start(log, echoing(w.run, { writesTicks: `${w.run}.in` as never }));
    const every = [0, 1, 2, 3].map((p) => `@tick/${p} in ${p}`);
    await until(() => expect([...ticks].toSorted()).toEqual(every));
    await until(() =>
      expect(new Set(w.out.map(({ key, partition }) => `${key} in ${partition}`))).toEqual(new Set(every)),
    );
    stop.abort();
    w.stop();
  });

  test('a marker precedes all events of its rules, and names the positions at which they begin', async () => {
    await using log = await open();
    const w = await testBed(log, await topics(PARTITIONS));
    const rules = { value: 'hash-1', decider: listener(`${w.run}.out`) as AnyRules['decider'] };
    const marker = { topic: `${w.run}.out` as never, key: '@policy' as const, rules: () => rules };
    await using _running = await start(log, listening(w.run, { marker }));
    await w.write(w.heartbeat('a', 1));
    await until(() => expect(w.emitted()).toHaveLength(1));
    const first = w.out.filter(({ partition }) => partition === partitionOf('a', PARTITIONS))[0];
    expect(first?.key).toBe('@policy');
    expect(JSON.parse(String(first?.value))).toEqual({
      rules: 'hash-1',
      from: { [`${w.run}.in`]: 0, [`${w.run}.other`]: 0 },
    });
    w.stop();
  });
};
