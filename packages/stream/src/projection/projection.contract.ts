import { expect, test } from 'vitest';
import type { Log, LogRecord } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';
import type { Count } from '../metrics.ts';
import { event, follow, projecting, sinkOf, tick } from '../runner/outside.fixture.ts';
import { aliased, type LogFactory, PARTITIONS, until, withRegistry } from '../runner/runner.fixture.ts';

/** The contract of the projection, in memory and on Kafka. */
export const projectionContract = ({ log: open, topics }: LogFactory): void => {
  test('a projection has each event once, also across restarts, because its position is stored with its rows', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const sink = sinkOf();
    const one = await projecting(log, run, sink);
    await log.write(['a', 'b', 'c', 'd'].map((key) => event(run, key, 1)));
    await until(() => expect([...sink.rows.values()]).toEqual([1, 1, 1, 1]));
    await one.stop();
    await log.write(['a', 'b', 'c', 'd'].map((key) => event(run, key, 2)));
    await using two = await projecting(log, run, sink);
    await until(() => expect([...sink.rows.values()]).toEqual([2, 2, 2, 2]));
    await until(() => expect(two.ready()).toBe(true));
  });

  test('a projection skips records that a fetch returns again', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const sink = sinkOf();
    const given = new Map<number, LogRecord[]>();
    const join: Log['join'] = (member) =>
      log.join({
        ...member,
        take: (batch) => {
          const records = [...(given.get(batch.partition) ?? []), ...batch.records];
          given.set(batch.partition, records);
          return member.take({ ...batch, fetched: 0, records });
        },
      });
    await using _one = await projecting({ ...aliased(log), join }, run, sink);
    for (let n = 1; n <= 3; n++) {
      await log.write([event(run, 'a', n)]);
      await until(() => expect(sink.rows.get('a')).toBe(n));
    }
  });

  test("a projection whose sink was advanced by another process reads the sink's position again and continues there", async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const sink = sinkOf();
    await using _one = await projecting(log, run, sink);
    await log.write([event(run, 'a', 1)]);
    await until(() => expect(sink.rows.get('a')).toBe(1));
    const key = `${run}.in/${partitionOf('a', PARTITIONS)}`;
    sink.positions.set(key, 0);
    await log.write([event(run, 'a', 2)]);
    await until(() => expect(sink.rows.get('a')).toBe(3));
  });

  test('an event that the sink refuses is a dead letter; the others of its batch are stored once', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const deadLetters = await follow(log, `onex.dlq.${run}.dead-letter.v1`);
    const sink = sinkOf();
    await log.write([
      event(run, 'a', 1),
      event(run, 'a', 2, 'BOOM'),
      event(run, 'a', 3, 'garbage'),
      event(run, 'a', 4),
    ]);
    await using _one = await projecting(log, run, sink);
    await until(() => expect(sink.rows.get('a')).toBe(2));
    await until(() => expect(deadLetters.received).toHaveLength(2));
    deadLetters.stop();
  });

  test('a projection writes 60 dead letters of a key in a minute, and then one with the number of the others', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const deadLetters = await follow(log, `onex.dlq.${run}.dead-letter.v1`);
    const reasons = () => deadLetters.received.map(({ value }) => JSON.parse(String(value)).payload);
    let leftOut = 0;
    const count: Count = (...[metric]) => {
      if (metric === 'dead_letters_left_out') leftOut += 1;
    };
    await using _one = await projecting(log, run, sinkOf(), count);
    await log.write(Array.from({ length: 70 }, () => event(run, 'a', 1, 'garbage')));
    await until(() => expect(leftOut).toBe(10));
    await until(() => expect(reasons()).toHaveLength(60));
    await log.write([event(run, 'a', 60_000)]);
    await until(() => expect(reasons()).toHaveLength(61));
    expect(reasons().at(-1)).toMatchObject({ failure_reason: 'left_out', left_out: 10 });
    deadLetters.stop();
  });

  test('an unreachable registry delays only the partition whose record needs it, and dead letters are written once', async () => {
    await using opened = await open();
    const run = await topics(PARTITIONS);
    const deadLetters = await follow(opened, `onex.dlq.${run}.dead-letter.v1`);
    const { registry, log } = withRegistry(opened);
    const sink = sinkOf();
    const other = ['b', 'c', 'd', 'e'].find((key) => partitionOf(key, PARTITIONS) !== partitionOf('a', PARTITIONS))!;
    await opened.write([event(run, 'a', 1, 'garbage'), event(run, 'a', 2, '?6'), event(run, 'a', 3)]);
    await using running = await projecting(log, run, sink);
    await until(() => expect(registry.attempts).toBeGreaterThan(2));
    await opened.write([event(run, other, 1)]);
    await until(() => expect(sink.rows.get(other)).toBe(1));
    expect([sink.rows.get('a'), running.ready()]).toEqual([undefined, false]);
    registry.isAway = false;
    await until(() => expect(sink.rows.get('a')).toBe(2));
    await until(() => expect(running.ready()).toBe(true));
    await until(() => expect(deadLetters.received).toHaveLength(1));
    deadLetters.stop();
  });

  test('ticks alone are not written to the sink, until there are many', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const sink = sinkOf();
    await using _one = await projecting(log, run, sink);
    await log.write([tick(run, 0), tick(run, 0), event(run, 'a', 1)]);
    await until(() => expect(sink.rows.get('a')).toBe(1));
    expect(sink.applied).toBe(1);
    await log.write(Array.from({ length: 600 }, () => tick(run, 2)));
    await until(() => expect(sink.positions.get(`${run}.in/2`)).toBeGreaterThan(490));
  });

  test('a sink with a position beyond the log is refused', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    await using running = await projecting(log, run, sinkOf(new Map(), new Map([[`${run}.in/1`, 77]])));
    await expect(running.finished).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('77') });
  });
};
