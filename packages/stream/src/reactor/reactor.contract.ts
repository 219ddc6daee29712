import { expect, test } from 'vitest';
import { DeadLetter, Retry } from '../errors.ts';
import type { LogRecord } from '../log/log.ts';
import { partitionOf } from '../log/partitioner.ts';
import { tail } from '../log/reading.ts';
import { writer } from '../log/writer.ts';
import type { Count } from '../metrics.ts';
import { event, follow, projecting, reacting, sinkOf, tick } from '../runner/outside.fixture.ts';
import type { Emitted } from '../runner/processors.fixture.ts';
import { type LogFactory, PARTITIONS, T, until, withRegistry } from '../runner/runner.fixture.ts';

/** The contract of the reactor and the writer, in memory and on Kafka. */
export const reactorContract = ({ log: open, topics }: LogFactory): void => {
  test('a reactor reacts to each event and records its outcome under an id that is the same on a repetition', async () => {
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
          .events()
          .map(({ key }) => key)
          .toSorted(),
      ).toEqual(['a', 'b']),
    );
    expect(out.events()[0]).toMatchObject({
      type: 'DONE',
      causationId: expect.stringMatching(/^[ab]-1$/),
      version: null,
    });
    expect(out.events()[0]?.eventId).toMatch(/^[0-9a-f-]{36}$/);
    await until(() => expect(running.ready()).toBe(true));
    out.stop();
  });

  test('a slow effect delays only its own key, and a key has one effect at a time, in order', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const done: string[] = [];
    const gate = Promise.withResolvers<void>();
    let side = 0;
    let most = 0;
    const react = async ({ key, payload }: Emitted) => {
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

  test('a key that waits delays no other key, however many of its own events wait behind it', async () => {
    await using log = await open();
    const run = await topics(1);
    const done: string[] = [];
    const react = async ({ key, payload }: Emitted) => {
      if (key === 'refused') throw new Retry('refused', { afterMs: 60_000 });
      done.push(`${key}${payload.n}`);
      return [];
    };
    await using _running = await reacting(log, run, react, 2);
    const inFirst = (key: string, n: number) => ({ ...event(run, key, n), partition: 0 });
    await log.write(Array.from({ length: 100 }, (_, n) => inFirst('refused', n)));
    await log.write([inFirst('b', 1), inFirst('c', 1)]);
    await until(() => expect(done.toSorted()).toEqual(['b1', 'c1']));
  });

  test('more events than fit are delayed, and all of them get their reaction', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const done = new Set<string>();
    const react = async ({ key, payload }: Emitted) => {
      await new Promise((resolve) => setImmediate(resolve));
      done.add(`${key}${payload.n}`);
      return [];
    };
    await using _running = await reacting(log, run, react, 2);
    for (let n = 0; n < 20; n++) await log.write(['a', 'b', 'c', 'd'].map((key) => event(run, key, n)));
    await until(() => expect(done.size).toBe(80));
  });

  test('a reaction that throws Retry is tried again; one that cannot succeed is a dead letter, and the next continues', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const deadLetters = await follow(log, `onex.dlq.${run}.dead-letter.v1`);
    const tried: string[] = [];
    const react = async ({ key }: Emitted) => {
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
    await until(() => expect(deadLetters.received).toHaveLength(3));
    const reasons = deadLetters.received.map(({ value }) => JSON.parse(String(value)).payload.failure_reason);
    expect(reasons.toSorted()).toEqual(['not_json', 'unknown_sink', 'unknown_sink']);
    deadLetters.stop();
  });

  test('a reactor writes 60 dead letters of a key in a minute, and then one with the number of the others', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const deadLetters = await follow(log, `onex.dlq.${run}.dead-letter.v1`);
    const reasons = () => deadLetters.received.map(({ value }) => JSON.parse(String(value)).payload);
    let leftOut = 0;
    const count: Count = (...[metric]) => {
      if (metric === 'dead_letters_left_out') leftOut += 1;
    };
    await using _running = await reacting(log, run, async () => [], 8, count);
    await log.write(Array.from({ length: 70 }, () => event(run, 'a', 1, 'garbage')));
    await until(() => expect(leftOut).toBe(10));
    await until(() => expect(reasons()).toHaveLength(60));
    await log.write([event(run, 'a', 60_000)]);
    await until(() => expect(reasons()).toHaveLength(61));
    expect(reasons().at(-1)).toMatchObject({ failure_reason: 'left_out', left_out: 10 });
    deadLetters.stop();
  });

  test('a reactor and a projection skip events of a newer version, and count them', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const deadLetters = await follow(log, `onex.dlq.${run}.dead-letter.v1`);
    const done: string[] = [];
    const counted: string[] = [];
    const react = async ({ key, payload }: Emitted) => {
      done.push(`${key}${payload.n}`);
      return [];
    };
    const count: Count = (metric, by, { processor }) => void counted.push(`${processor}: ${by} ${metric}`);
    const sink = sinkOf();
    await using _reactor = await reacting(log, run, react, 8, count);
    await using _projection = await projecting(log, run, sink, count);
    await log.write([
      event(run, 'a', 1),
      event(run, 'a', 2, 'newer'),
      event(run, 'a', 3, 'garbage'),
      event(run, 'a', 4),
    ]);
    await until(() => expect(done).toEqual(['a1', 'a4']));
    await until(() => expect(sink.rows.get('a')).toBe(2));
    await until(() => expect(deadLetters.received).toHaveLength(2));
    const passedOver = counted.filter((line) => line.endsWith('newer_events'));
    expect(passedOver.toSorted()).toEqual([`${run}-projection: 1 newer_events`, `${run}-reactor: 1 newer_events`]);
    deadLetters.stop();
  });

  test('a reaction waits for the registry, other keys do not; the reactor is not ready in the meantime, and there is no dead letter', async () => {
    await using opened = await open();
    const run = await topics(PARTITIONS);
    const deadLetters = await follow(opened, `onex.dlq.${run}.dead-letter.v1`);
    const { registry, log } = withRegistry(opened);
    const done: string[] = [];
    const react = async ({ key }: Emitted) => {
      done.push(key);
      return [];
    };
    await using running = await reacting(log, run, react);
    await opened.write([event(run, 'a', 1, '?4'), event(run, 'a', 2), event(run, 'b', 1)]);
    await until(() => expect(registry.attempts).toBeGreaterThan(1));
    expect([done, running.ready()]).toEqual([['b'], false]);
    registry.isAway = false;
    await until(() => expect(done).toEqual(['b', 'a', 'a']));
    await until(() => expect(running.ready()).toBe(true));
    expect(deadLetters.received).toEqual([]);
    deadLetters.stop();
  });

  test('a tail waits for the registry too, and keeps the order', async () => {
    await using opened = await open();
    const run = await topics(PARTITIONS);
    const { registry, log } = withRegistry(opened);
    const received: string[] = [];
    const stop = new AbortController();
    const onEvent = (_: unknown, { timestamp }: LogRecord) => void received.push(`${timestamp - T}`);
    const from = 'beginning';
    const { ready } = await tail(log, [`${run}.in` as never], { from, onEvent, signal: stop.signal });
    await opened.write([event(run, 'a', 1), event(run, 'a', 2, '?5'), event(run, 'a', 3)]);
    await until(() => expect(registry.attempts).toBeGreaterThan(1));
    expect(received).toEqual(['1']);
    // It is not ready once the record has waited for some seconds.
    await until(() => expect(ready()).toBe(false));
    registry.isAway = false;
    await until(() => expect(received).toEqual(['1', '2', '3']));
    await until(() => expect(ready()).toBe(true));
    stop.abort();
  });

  test('a reaction with its own retry time is repeated at that time, not after the runner’s back-off', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    let tries = 0;
    const react = async () => {
      tries += 1;
      if (tries < 8) throw new Retry('away', { afterMs: 1 });
      return [];
    };
    await using _running = await reacting(log, run, react);
    await log.write([event(run, 'a', 1)]);
    await until(() => expect(tries).toBe(8));
  });

  test('a restarted reactor does not repeat reactions published as done, and runs the others', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const first: string[] = [];
    const one = await reacting(log, run, async ({ key }) => {
      first.push(key);
      if (key === 'b') throw new Retry('away');
      return [];
    });
    await log.write([event(run, 'a', 1), event(run, 'b', 1)]);
    await until(() => expect(new Set(first)).toEqual(new Set(['a', 'b'])));
    await one.stop();
    const second: string[] = [];
    await using _two = await reacting(log, run, async ({ key }) => {
      second.push(key);
      return [];
    });
    await until(() => expect(second).toContain('b'));
    if (partitionOf('a', PARTITIONS) !== partitionOf('b', PARTITIONS)) expect(second).toEqual(['b']);
  });

  test('a writer gives each event ids and its partition; a tail receives it, in order, without marks', async () => {
    await using log = await open();
    const run = await topics(PARTITIONS);
    const received: Emitted[] = [];
    const stop = new AbortController();
    await tail(log, [`${run}.in` as never], {
      from: 'beginning',
      onEvent: (event) => received.push(event as unknown as Emitted),
      signal: stop.signal,
    });
    const drafts = [1, 2, 3].map((n) => ({ topic: `${run}.in`, type: 'HEARTBEAT', key: 'a', payload: { n } }));
    const ids = await writer(log, Date.now).write(drafts as never);
    await writer(log, Date.now).writeRaw(`${run}.in`, 'a', Buffer.from('garbage'));
    await log.write([tick(run, 0)]);
    await writer(log, Date.now).write([{ ...drafts[0]!, payload: { n: 4 }, correlationId: 'chain' }] as never);
    await until(() => expect(received.map(({ payload }) => payload.n)).toEqual([1, 2, 3, 4]));
    expect(received.slice(0, 3).map(({ eventId }) => eventId)).toEqual(ids);
    expect(received.map(({ correlationId }) => correlationId)).toEqual([...ids, 'chain']);
    const bounds = await log.bounds(`${run}.in`);
    expect(bounds[partitionOf('a', PARTITIONS)]?.high).toBeGreaterThanOrEqual(5);
    stop.abort();
  });
};
