import { expect, test, vi } from 'vitest';
import { echoing, listening, type Said } from './fixture.ts';
import { eventOf } from './inputs.ts';
import type { Log, LogRecord, OutRecord } from './log.ts';
import { partitionOf } from './murmur2.ts';
import type { AnyProcessor } from './processor.ts';
import { type RunningProcessor, runProcessor } from './run-processor.ts';

/** Logs to run on: each call a client of its own. `topics` makes those of the fixture and gives the name of the run. */
export type Ground = {
  readonly log: () => Promise<Log>;
  readonly topics: (partitions: number) => Promise<string>;
};

const PARTITIONS = 4;
const T = 1_795_305_600_000;
const until = (holds: () => unknown) => vi.waitFor(holds, { timeout: 30_000, interval: 20 });

export const start = (log: Log, processor: AnyProcessor): Promise<RunningProcessor> =>
  runProcessor(log, processor as never, { partitions: PARTITIONS, paceMs: 10 });

/** A world of four partitions: what is written to the inputs, what came out, what lies in the snapshot. */
export const world = async (log: Log, run: string) => {
  const out: LogRecord[] = [];
  const letters: LogRecord[] = [];
  const stop = new AbortController();
  await log.follow([`${run}.out`], 'beginning', (record) => out.push(record), stop.signal);
  await log.follow([`onex.dlq.${run}.dead-letter.v1`], 'beginning', (record) => letters.push(record), stop.signal);
  const marks = (key: (p: number) => string, at: number): OutRecord[] =>
    Array.from({ length: PARTITIONS }, (_, p) => ({
      topic: `${run}.in`,
      partition: p,
      key: key(p),
      value: null,
      timestamp: T + at,
    }));
  const beat = (key: string, at: number, type = 'BEAT', topic = `${run}.in`): OutRecord => ({
    topic,
    partition: partitionOf(key, PARTITIONS),
    key,
    value: Buffer.from(type.startsWith('?') || type === 'garbage' ? type : JSON.stringify({ type, payload: {} })),
    timestamp: T + at,
  });
  return {
    run,
    out,
    letters,
    beat,
    stop: () => stop.abort(),
    said: () =>
      out.filter(({ key }) => !key?.startsWith('@')).map((record) => eventOf(record, log.codec) as unknown as Said),
    write: (...records: OutRecord[]) => log.write(records),
    tick: (at: number) => log.write(marks((p) => `@tick/${p}`, at)),
  };
};

/** Every key's versions are 1, 2, 3 …: nothing lost, nothing twice, no state wrong. */
export const expectGapless = (said: readonly Said[]): void => {
  for (const [key, events] of Map.groupBy(said, ({ stateKey }) => stateKey)) {
    const versions = events.map(({ version }) => version);
    expect({ key, versions }).toEqual({ key, versions: versions.map((_, i) => i + 1) });
  }
};

/** What the processor runner promises, in memory and on Kafka. */
export const runnerContract = ({ log: open, topics }: Ground): void => {
  test('records come out decided, deadlines fire at ticks, time goes on in band', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    await using running = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(w.beat('a', 100), w.beat('b', 200));
    for (const at of [1000, 2000, 3000, 4000]) await w.tick(at);
    await until(() => expect(w.said().filter(({ type }) => type === 'MISSING')).toHaveLength(2));
    expectGapless(w.said());
    await until(() => expect(w.out.filter(({ key }) => key?.startsWith('@tick/'))).toHaveLength(5 * PARTITIONS));
    expect(running.ready()).toBe(true);
    expect(running.status().map(({ partition, phase, lag, time }) => ({ partition, phase, lag, time }))).toEqual(
      [0, 1, 2, 3].map((partition) => ({ partition, phase: 'running', lag: 0, time: T + 4000 })),
    );
    w.stop();
  });

  test('a process that comes back continues where it stood: state, time and position, nothing twice', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const first = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(w.beat('a', 0), w.beat('b', 0));
    await until(() => expect(w.said()).toHaveLength(2));
    await first.stop();
    await w.write(w.beat('a', 500));
    await using _second = await start(log, listening(w.run));
    for (const at of [1000, 2000, 3000]) await w.tick(at);
    await until(() => expect(w.said()).toHaveLength(4));
    expectGapless(w.said());
    expect(
      w
        .said()
        .filter(({ type }) => type === 'MISSING')
        .map(({ key }) => key),
    ).toEqual(['b']);
    expect(
      w
        .said()
        .filter(({ key }) => key === 'a')
        .map(({ payload }) => payload.n),
    ).toEqual([1, 2]);
    w.stop();
  });

  test('an absence of the whole processor is granted to everybody: its clock lies with its position', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const first = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(w.beat('a', 0));
    await until(() => expect(w.said()).toHaveLength(1));
    await first.stop();
    await using _second = await start(log, listening(w.run));
    for (const at of [60_000, 61_000, 62_000, 63_000, 64_000]) await w.tick(at);
    await w.write(w.beat('b', 64_000));
    await until(() => expect(w.said()).toHaveLength(2));
    expect(w.said().map(({ type }) => type)).toEqual(['HEARD', 'HEARD']);
    await w.tick(65_000);
    await until(() => expect(w.said().filter(({ type }) => type === 'MISSING')).toHaveLength(1));
    w.stop();
  });

  test('instances that come and go share the partitions, and every key is counted without a gap', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const keys = Array.from({ length: 12 }, (_, i) => `agent-${i}`);
    let rounds = 0;
    const round = async () => {
      rounds += 1;
      await w.write(...keys.map((key) => w.beat(key, rounds)));
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
    await until(() => expect(w.said()).toHaveLength(rounds * keys.length));
    expectGapless(w.said());
    expect(
      w
        .said()
        .map(({ payload }) => payload.n)
        .toSorted((a, b) => a! - b!),
    ).toEqual(Array.from({ length: rounds }, (_, i) => keys.map(() => i + 1)).flat());
    await second.stop();
    w.stop();
  });

  test('bad records become dead letters in the transaction of the good ones; a schema that can be learned is learned', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    await using _running = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(
      w.beat('a', 1),
      w.beat('a', 2, 'garbage'),
      w.beat('a', 3, 'BOOM'),
      w.beat('a', 4, '?7'),
      w.beat('a', 5, '?77'),
      w.beat('a', 6),
    );
    await until(() => expect(w.said().map(({ payload }) => payload.n)).toEqual([1, 2, 3]));
    await until(() => expect(w.letters).toHaveLength(3));
    const reasons = w.letters.map(({ value }) => JSON.parse(String(value)).payload.failure_reason);
    expect(reasons).toEqual(['not_json', 'undecided', 'unknown_schema_id']);
    expectGapless(w.said());
    w.stop();
  });

  test('too many dead letters end the process with code 1; what came before them is kept, once', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const running = await start(log, listening(w.run));
    await w.tick(0);
    await w.write(w.beat('a', 1), ...Array.from({ length: 25 }, () => w.beat('a', 2, 'garbage')), w.beat('a', 3));
    await expect(running.finished).rejects.toMatchObject({ name: 'Fatal', exitCode: 1 });
    await running.stop();
    await until(() => expect(w.letters).toHaveLength(20));
    await using _again = await start(log, listening(w.run));
    await until(() => expect(w.letters).toHaveLength(25));
    await until(() => expect(w.said()).toHaveLength(2));
    w.stop();
  });

  test('trouble with the registry ends the process with code 1 and dead-letters nothing', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const codec = { ...log.codec, learn: async () => Promise.reject(new Error('the registry is away')) };
    const running = await start({ ...aliased(log), codec }, listening(w.run));
    await w.write(w.beat('a', 1, '?8'));
    await expect(running.finished).rejects.toThrow('the registry is away');
    await running.stop();
    await using _again = await start(log, listening(w.run));
    await until(() => expect(w.said()).toHaveLength(1));
    expect(w.letters).toEqual([]);
    w.stop();
  });

  test('a partition that somebody else fences is opened again, and nothing is lost or done twice', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    await using running = await start(log, listening(w.run));
    await w.tick(0);
    for (let i = 1; i <= 5; i++) {
      await until(() => expect(running.ready()).toBe(true));
      await (await log.fence(`${w.run}-${partitionOf('a', PARTITIONS)}`)).close();
      await w.write(w.beat('a', i));
      await until(() => expect(w.said()).toHaveLength(i));
    }
    expectGapless(w.said());
    w.stop();
  });

  test('a partition that takes long to open holds up no other', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const slow = partitionOf('a', PARTITIONS);
    const opened = Promise.withResolvers<void>();
    const fence: Log['fence'] = async (id) => {
      if (id.endsWith(`-${slow}`)) await opened.promise;
      return log.fence(id);
    };
    const other = ['b', 'c', 'd', 'e', 'f'].find((key) => partitionOf(key, PARTITIONS) !== slow) as string;
    await using running = await start({ ...aliased(log), fence }, listening(w.run));
    await w.write(w.beat('a', 1), w.beat(other, 1));
    await until(() => expect(w.said().map(({ key }) => key)).toEqual([other]));
    expect(running.ready()).toBe(false);
    opened.resolve();
    await until(() => expect(w.said().map(({ key }) => key)).toEqual([other, 'a']));
    w.stop();
  });

  test('a position outside its topic is refused with the numbers, code 2', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const snapshot = `onex.snapshot.${w.run}.state.v1`;
    const clock = { now: T, own: { tick: 0, unwatched: 0, from: 0 }, doors: {}, ticks: {} };
    await log.write([
      {
        topic: snapshot,
        partition: 2,
        key: `@position/${w.run}.in`,
        value: Buffer.from(JSON.stringify({ next: 999, clock })),
      },
    ]);
    await using running = await start(log, listening(w.run));
    await expect(running.finished).rejects.toMatchObject({
      name: 'Refused',
      exitCode: 2,
      message: expect.stringMatching(/999 of .*\/2 is outside \[0, 0\]/),
    });
    w.stop();
  });

  test('states without a position are refused, and so is a state of a newer shape', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const snapshot = `onex.snapshot.${w.run}.state.v1`;
    const first = await start(log, listening(w.run, { shape: 2 }));
    await w.write(w.beat('a', 1));
    await until(() => expect(w.said()).toHaveLength(1));
    await first.stop();
    await using older = await start(log, listening(w.run, { shape: 1 }));
    await expect(older.finished).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('shape 2') });
    await older.stop();
    const lone = await world(log, await topics(PARTITIONS));
    await log.write([{ topic: snapshot.replace(w.run, lone.run), partition: 0, key: 'a', value: Buffer.alloc(64) }]);
    await using running = await start(log, listening(lone.run));
    await expect(running.finished).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('no position'),
    });
    w.stop();
    lone.stop();
  });

  test('inputs of different partition counts are refused, and so is a topic that is missing', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const narrow = await topics(1);
    const reads = [`${w.run}.in`, `${narrow}.in`] as never;
    await expect(start(log, listening(w.run, { reads }))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('has 1'),
    });
    await expect(start(log, listening(w.run, { writes: ['vigil.not.there'] as never }))).rejects.toMatchObject({
      exitCode: 2,
    });
    w.stop();
  });

  test('where time begins, the owner of each partition writes its ticks', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
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

  test('a marker stands before everything that was folded under its rules, with the positions it begins at', async () => {
    await using log = await open();
    const w = await world(log, await topics(PARTITIONS));
    const marker = { topic: `${w.run}.out` as never, key: '@policy' as const, value: 'hash-1' };
    await using _running = await start(log, listening(w.run, { marker }));
    await w.write(w.beat('a', 1));
    await until(() => expect(w.said()).toHaveLength(1));
    const first = w.out.filter(({ partition }) => partition === partitionOf('a', PARTITIONS))[0];
    expect(first?.key).toBe('@policy');
    expect(JSON.parse(String(first?.value))).toEqual({
      rules: 'hash-1',
      from: { [`${w.run}.in`]: 0, [`${w.run}.other`]: 0 },
    });
    w.stop();
  });
  test.each(['before', 'after'] as const)(
    'a process that dies %s a commit, at any of them, loses and doubles nothing',
    async (when) => {
      await using log = await open();
      const w = await world(log, await topics(PARTITIONS));
      const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
      await w.tick(0);
      for (let i = 1; i <= 6; i++) {
        await w.write(...keys.map((key) => w.beat(key, i)));
        const running = await start(dying(log, when, 1 + (i % 3)), listening(w.run));
        await expect(running.finished).rejects.toThrow('killed');
        await running.stop();
      }
      await using _last = await start(log, listening(w.run));
      await until(() => expect(w.said()).toHaveLength(6 * keys.length));
      expectGapless(w.said());
      w.stop();
    },
  );

  test('a zombie that wakes up with a batch in hand writes nothing: its partitions belong to another', async () => {
    const { said, n } = await zombie(open, topics, (id) => id);
    expect(said).toHaveLength(n);
    expectGapless(said);
  });

  test('control: without the fence of the transactional id the zombie doubles what it has in hand', async () => {
    const { said, n } = await zombie(open, topics, (id) => `${id}-${Math.random()}`);
    expect(said.length).toBeGreaterThan(n);
    expect(() => expectGapless(said)).toThrow();
  });
};

/** The log of a process that dies at its n-th commit, before it or after it was done. */
const dying = (log: Log, when: 'before' | 'after', n: number): Log => {
  let commits = 0;
  const fence: Log['fence'] = async (id) => {
    const transactor = await log.fence(id);
    const commit: typeof transactor.commit = async (records) => {
      commits += 1;
      if (commits === n && when === 'before') throw new Error('killed');
      await transactor.commit(records);
      if (commits >= n) throw new Error('killed');
    };
    return { ...transactor, commit };
  };
  return { ...aliased(log), fence };
};

/** Two processes that both believe to own everything: the first is held up with its batches in hand until the second has done them. */
const zombie = async (open: Ground['log'], topics: Ground['topics'], idOf: (id: string) => string) => {
  await using log = await open();
  const w = await world(log, await topics(PARTITIONS));
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const gate = Promise.withResolvers<void>();
  const hands = { full: 0, empty: 0 };
  const join: Log['join'] = (member) =>
    log.join({
      ...member,
      group: `${member.group}-zombie`,
      take: async (batch) => {
        hands.full += 1;
        await gate.promise;
        const taken = await member.take(batch);
        hands.empty += 1;
        return taken;
      },
    });
  const fence: Log['fence'] = (id) => log.fence(idOf(id));
  const first = await start({ ...aliased(log), join, fence }, listening(w.run));
  await until(() => expect(first.ready()).toBe(true));
  await w.write(...keys.map((key) => w.beat(key, 1)));
  await until(() => expect(hands.full).toBeGreaterThan(0));
  const second = await start({ ...aliased(log), fence }, listening(w.run));
  await until(() => expect(w.said()).toHaveLength(keys.length));
  await second.stop();
  const inHand = hands.full;
  gate.resolve();
  await until(() => expect(hands.empty).toBeGreaterThanOrEqual(inHand));
  await first.stop();
  await w.write(w.beat('end', 9));
  await using _third = await start(log, listening(w.run));
  await until(() => expect(w.said().filter(({ key }) => key === 'end')).toHaveLength(1));
  w.stop();
  return { said: w.said().filter(({ key }) => key !== 'end'), n: keys.length };
};

/** The same log, so that a test can replace one of its calls. */
export const aliased = (log: Log): Log => {
  const { codec, clusterId, partitionCount, bounds, read, fence, write, join, follow } = log;
  return {
    codec,
    clusterId,
    partitionCount,
    bounds,
    read,
    fence,
    write,
    join,
    follow,
    [Symbol.asyncDispose]: async () => {},
  };
};
