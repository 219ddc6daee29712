import { expect, test, vi } from 'vitest';
import { DeadLetter, Retry } from './errors.ts';
import type { Said } from './fixture.ts';
import type { Log, LogRecord, OutRecord } from './log.ts';
import { partitionOf } from './murmur2.ts';
import { type ProjectionBatch, runProjection } from './run-projection.ts';
import { type ReactorOptions, runReactor } from './run-reactor.ts';
import { aliased, type Ground } from './runner.contract.ts';
import { tail } from './tail.ts';
import { writer } from './writer.ts';

const PARTITIONS = 4;
const T = 1_795_305_600_000;
const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 30_000, interval: 20 });

const event = (run: string, key: string, n: number, type = 'BEAT'): OutRecord => ({
  topic: `${run}.in`,
  partition: partitionOf(key, PARTITIONS),
  key,
  value: Buffer.from(type === 'garbage' ? type : JSON.stringify({ type, payload: { n }, eventId: `${key}-${n}` })),
  timestamp: T + n,
});
const tick = (run: string, partition: number): OutRecord => ({
  topic: `${run}.in`,
  partition,
  key: `@tick/${partition}`,
  value: null,
});

const follow = async (log: Log, topic: string) => {
  const heard: LogRecord[] = [];
  const stop = new AbortController();
  await log.follow([topic], 'beginning', (record) => heard.push(record), stop.signal);
  const said = () => heard.map(({ value }) => JSON.parse(String(value)) as Said);
  return { heard, said, stop: () => stop.abort() };
};

const reacting = (log: Log, run: string, react: (said: Said) => Promise<readonly object[]>, maxInFlight = 8) => {
  const options = { group: `${run}-reactor`, service: run, reads: [`${run}.in`], react, maxInFlight };
  return runReactor(log, options as unknown as ReactorOptions<never, never>);
};

/** A store with positions beside its rows, as a projection has it. */
const sinkOf = (rows: Map<string, number> = new Map(), positions: Map<string, number> = new Map()) => ({
  rows,
  positions,
  applied: 0,
  open: async () => new Map(positions),
  async apply({ topic, partition, from, next, events }: ProjectionBatch<never>) {
    const key = `${topic}/${partition}`;
    if ((positions.get(key) ?? 0) !== from) throw new Retry(`${key} stands at ${positions.get(key)}, not at ${from}`);
    for (const one of events as unknown as Said[]) {
      if (one.type === 'BOOM') throw new DeadLetter('misfit', 'no');
    }
    for (const one of events as unknown as Said[]) rows.set(one.key, (rows.get(one.key) ?? 0) + 1);
    positions.set(key, next);
    this.applied += 1;
  },
});
const projecting = (log: Log, run: string, sink: ReturnType<typeof sinkOf>) =>
  runProjection(log, {
    group: `${run}-projection`,
    service: run,
    reads: [`${run}.in` as never],
    open: sink.open,
    apply: (batch) => sink.apply(batch),
  });

/** What the runners with effects outside the log promise, in memory and on Kafka. */
export const outsideContract = ({ log: open, topics }: Ground): void => {
  test('a reactor reacts to each event and records its outcome under an id that a repetition gives again', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const out = await follow(log, `${run}.out`);
    await using running = await reacting(log, run, async ({ key }) => [
      { topic: `${run}.out`, type: 'DONE', key, payload: {} },
    ]);
    await log.write([tick(run, 0), event(run, 'a', 1), event(run, 'b', 1)]);
    await until(() =>
      expect(
        out
          .said()
          .map(({ key }) => key)
          .toSorted(),
      ).toEqual(['a', 'b']),
    );
    expect(out.said()[0]).toMatchObject({
      type: 'DONE',
      causationId: expect.stringMatching(/^[ab]-1$/),
      version: null,
    });
    expect(out.said()[0]?.eventId).toMatch(/^[0-9a-f-]{36}$/);
    expect(running.ready()).toBe(true);
    out.stop();
  });

  test('a slow effect holds up its own key only, and a key has one effect at a time, in order', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const done: string[] = [];
    const gate = Promise.withResolvers<void>();
    let side = 0;
    let most = 0;
    const react = async ({ key, payload }: Said) => {
      side += 1;
      most = Math.max(most, side);
      if (key === 'slow') await gate.promise;
      done.push(`${key}${payload.n}`);
      side -= 1;
      return [];
    };
    await using _running = await reacting(log, run, react, 3);
    const others = ['b', 'c', 'd', 'e'];
    await log.write([event(run, 'slow', 1), event(run, 'slow', 2), ...others.map((key) => event(run, key, 1))]);
    await until(() => expect(done.toSorted()).toEqual(['b1', 'c1', 'd1', 'e1']));
    gate.resolve();
    await until(() => expect(done.slice(4)).toEqual(['slow1', 'slow2']));
    expect(most).toBeLessThanOrEqual(3);
  });

  test('more events than fit are held back, and all are reacted to', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const done = new Set<string>();
    const react = async ({ key, payload }: Said) => {
      await new Promise((resolve) => setImmediate(resolve));
      done.add(`${key}${payload.n}`);
      return [];
    };
    await using _running = await reacting(log, run, react, 2);
    for (let n = 0; n < 20; n++) await log.write(['a', 'b', 'c', 'd'].map((key) => event(run, key, n)));
    await until(() => expect(done.size).toBe(80));
  });

  test('a reaction that is to be retried is tried again; one that cannot succeed is a dead letter, and the next flows on', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const letters = await follow(log, `onex.dlq.${run}.dead-letter.v1`);
    const tried: string[] = [];
    const react = async ({ key }: Said) => {
      tried.push(key);
      if (key === 'retry' && tried.filter((k) => k === 'retry').length < 2) throw new Retry('away');
      if (key === 'dead') throw new DeadLetter('unknown_sink', 'no');
      return [];
    };
    await using _running = await reacting(log, run, react);
    await log.write([
      event(run, 'retry', 1),
      event(run, 'dead', 1),
      event(run, 'dead', 2),
      event(run, 'x', 1, 'garbage'),
    ]);
    await until(() => expect(tried.filter((key) => key === 'retry')).toHaveLength(2));
    await until(() => expect(letters.heard).toHaveLength(3));
    const reasons = letters.heard.map(({ value }) => JSON.parse(String(value)).payload.failure_reason);
    expect(reasons.toSorted()).toEqual(['not_json', 'unknown_sink', 'unknown_sink']);
    letters.stop();
  });

  test('a reactor that comes back does not repeat what was published as done, and does what was not', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const first: string[] = [];
    const one = await reacting(log, run, async ({ key }) => {
      first.push(key);
      if (key === 'b') throw new Retry('away');
      return [];
    });
    await log.write([event(run, 'a', 1), event(run, 'b', 1)]);
    await until(() => expect(first.toSorted()).toEqual(['a', 'b']));
    await one.stop();
    const second: string[] = [];
    await using _two = await reacting(log, run, async ({ key }) => {
      second.push(key);
      return [];
    });
    await until(() => expect(second).toContain('b'));
    if (partitionOf('a', PARTITIONS) !== partitionOf('b', PARTITIONS)) expect(second).toEqual(['b']);
  });

  test('a projection has each event once, also over restarts, for its position lies with its rows', async () => {
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
    expect(two.ready()).toBe(true);
  });

  test('a projection passes over what a fetch gives it again', async () => {
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

  test('where somebody else has moved the sink, the projection asks it again and goes on there', async () => {
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

  test('an event that the sink will not have is a dead letter; the others of its batch are kept, once', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const letters = await follow(log, `onex.dlq.${run}.dead-letter.v1`);
    const sink = sinkOf();
    await log.write([
      event(run, 'a', 1),
      event(run, 'a', 2, 'BOOM'),
      event(run, 'a', 3, 'garbage'),
      event(run, 'a', 4),
    ]);
    await using _one = await projecting(log, run, sink);
    await until(() => expect(sink.rows.get('a')).toBe(2));
    await until(() => expect(letters.heard).toHaveLength(2));
    letters.stop();
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

  test('a sink that stands beyond the log is refused', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    await using running = await projecting(log, run, sinkOf(new Map(), new Map([[`${run}.in/1`, 77]])));
    await expect(running.finished).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('77') });
  });

  test('a writer gives each event ids, and puts it where its key belongs; a tail hears it, in order, without marks', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const heard: Said[] = [];
    const stop = new AbortController();
    await tail(log, [`${run}.in` as never], {
      from: 'beginning',
      onEvent: (said) => heard.push(said as unknown as Said),
      signal: stop.signal,
    });
    const drafts = [1, 2, 3].map((n) => ({ topic: `${run}.in`, type: 'BEAT', key: 'a', payload: { n } }));
    const ids = await writer(log).write(drafts as never);
    await writer(log).writeRaw(`${run}.in`, 'a', Buffer.from('garbage'));
    await log.write([tick(run, 0)]);
    await writer(log).write([{ ...drafts[0]!, payload: { n: 4 }, correlationId: 'chain' }] as never);
    await until(() => expect(heard.map(({ payload }) => payload.n)).toEqual([1, 2, 3, 4]));
    expect(heard.slice(0, 3).map(({ eventId }) => eventId)).toEqual(ids);
    expect(heard.map(({ correlationId }) => correlationId)).toEqual([...ids, 'chain']);
    const bounds = await log.bounds(`${run}.in`);
    expect(bounds[partitionOf('a', PARTITIONS)]?.high).toBeGreaterThanOrEqual(5);
    stop.abort();
  });
};
