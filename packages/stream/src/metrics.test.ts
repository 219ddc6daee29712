import { expect, test } from 'vitest';
import { silentLogger } from './logger.ts';
import { type Count, type Metric, RUNNER_METRICS } from './metrics.ts';
import { runProcessor } from './processor/run-processor.ts';
import { event, projecting, reacting, sinkOf } from './runner/outside.fixture.ts';
import { echoing, jsonCodec, listening, topicsOf } from './runner/processors.fixture.ts';
import { ownersOf, PARTITIONS, T, testBed, until } from './runner/runner.fixture.ts';
import { MemoryLog } from './testing/memory/memory-log.ts';

const COMMANDS = 'onex.cmd.run.do.v1';

/** The runners that count each metric. A metric without a line here does not compile. */
const counters: Readonly<Record<Metric, readonly string[]>> = {
  records_read: ['run', 'run-projection', 'run-reactor'],
  dead_letters: ['run', 'run-projection', 'run-reactor'],
  dead_letters_left_out: ['run', 'run-projection', 'run-reactor'],
  keys_refused: ['run'],
  newer_events: ['run', 'run-projection', 'run-reactor'],
  events_written: ['run', 'run-reactor'],
  transactions: ['run'],
  transaction_duration_seconds: ['run'],
  records_moved: ['run'],
  deadlines_fired: ['run'],
  deadline_lateness_seconds: ['run'],
  partitions_opened: ['run'],
  partitions_lost: ['run'],
};

const counting = () => {
  const totals = new Map<string, number>();
  const count: Count = (metric, by, { processor }) => {
    const key = `${metric} ${processor}`;
    // A deadline may fire in time.
    if (by > 0 || metric === 'deadline_lateness_seconds') totals.set(key, (totals.get(key) ?? 0) + by);
  };
  return { totals, count, of: (metric: Metric, group: string) => totals.get(`${metric} ${group}`) ?? 0 };
};

test('every metric is counted by each runner that its line names, and by no other', async () => {
  const topics = { ...topicsOf('run', PARTITIONS), [COMMANDS]: PARTITIONS };
  const log = new MemoryLog({ topics, codec: jsonCodec() });
  const { totals, count, of } = counting();
  const processor = listening('run', {
    reads: ['run.in', COMMANDS] as never,
    foreign: ['run.in' as never],
    keyLimit: { most: 1, remedy: 'wait' },
  });
  const options = { logger: silentLogger, count, partitions: PARTITIONS, paceMs: 10 };
  await using _processor = await runProcessor(log, processor as never, options);
  const react = async () => [{ topic: 'run.other', type: 'DONE', key: 'a', payload: {} }];
  await using _reactor = await reacting(log, 'run', react, 8, count);
  await using _projection = await projecting(log, 'run', sinkOf(), count);
  const w = await testBed(log, 'run');
  await w.tick(0);
  const first = w.heartbeat('a', 1);
  const sibling = ['b', 'c', 'd', 'e', 'f', 'g'].find((key) => w.heartbeat(key, 1).partition === first.partition)!;
  const misplaced = { ...first, topic: COMMANDS, partition: (first.partition + 1) % PARTITIONS };
  await log.write([first, w.heartbeat(sibling, 1), event('run', 'a', 2, 'newer'), misplaced]);
  await log.write(Array.from({ length: 61 }, () => event('run', 'a', 3, 'garbage')));
  for (const at of [1000, 2000, 3000, 4000, 5000]) await w.tick(at);
  await until(() => expect(of('deadlines_fired', 'run')).toBeGreaterThan(0));
  for (const owner of await ownersOf(log, 'run', first.partition)) await (await log.fence(owner)).close();
  await w.write(w.heartbeat('a', 6000));
  await until(() => expect(of('partitions_lost', 'run')).toBeGreaterThan(0));
  const expected = Object.entries(counters).flatMap(([metric, groups]) => groups.map((group) => `${metric} ${group}`));
  await until(() => expect([...totals.keys()].toSorted()).toEqual(expected.toSorted()));
  expect(Object.keys(RUNNER_METRICS).toSorted()).toEqual(Object.keys(counters).toSorted());
  w.stop();
});

test('each record, event and dead letter counts once', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  const { of, count } = counting();
  const options = { logger: silentLogger, count, partitions: PARTITIONS, paceMs: 10 };
  await using _processor = await runProcessor(log, echoing('run') as never, options);
  const react = async () => [{ topic: 'run.other', type: 'DONE', key: 'a', payload: {} }];
  await using _reactor = await reacting(log, 'run', react, 8, count);
  await using _projection = await projecting(log, 'run', sinkOf(), count);
  await log.write([event('run', 'a', 1), event('run', 'b', 2), event('run', 'a', 3, 'garbage')]);
  for (const group of ['run', 'run-projection', 'run-reactor']) {
    await until(() => expect(of('dead_letters', group)).toBe(1));
    await until(() => expect(of('records_read', group)).toBe(3));
  }
  await until(() => expect(of('events_written', 'run')).toBe(2));
  await until(() => expect(of('events_written', 'run-reactor')).toBe(2));
});

test('an event that the sink refuses becomes a dead letter, and the projection counts it', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  const { of, count } = counting();
  await using _projection = await projecting(log, 'run', sinkOf(), count);
  await log.write([{ ...event('run', 'a', 1, 'BOOM'), timestamp: T }]);
  await until(() => expect(of('dead_letters', 'run-projection')).toBe(1));
});
