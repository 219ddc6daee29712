import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Retry } from '../errors.ts';
import type { Log, LogRecord } from '../log/log.ts';
import { jsonCodec } from '../runner/processors.fixture.ts';
import { aliased, ownersOf } from '../runner/runner.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { claim, OWNER_KEY, released } from './ownership.ts';
import { SharedWriter } from './shared-writer.ts';

const TOPIC = 'onex.snapshot.run.state.v1';
const never = new AbortController().signal;
const opened = () => new MemoryLog({ topics: { [TOPIC]: 1 }, codec: jsonCodec() });
const writerOf = (log: Pick<Log, 'fence'>, id: string, former: readonly string[] = []) =>
  new SharedWriter({ log, id, former: new Set(former), onCommitted: () => {} });
const record = (key: string, value: string | null) => ({
  topic: TOPIC,
  partition: 0,
  key,
  value: value === null ? null : Buffer.from(value),
});

/** Claims the partition. `apply` gets the keys and values of its snapshot. */
const claiming = (log: Log, writer: SharedWriter, releaseMs = 0, apply: (record: LogRecord) => unknown = () => {}) =>
  claim({ log, topic: TOPIC, partition: 0, low: 0, writer, releaseMs }, apply, never);

test('the owner is named in the snapshot, until it gives the partition up', async () => {
  const log = opened();
  const writer = writerOf(log, 'a');
  await claiming(log, writer);
  expect(await ownersOf(log, 'run', 0)).toEqual(['a']);
  await writer.commit([released(TOPIC, 0, 'a')]);
  expect(await ownersOf(log, 'run', 0)).toEqual([]);
});

test('an owner that gives the partition up in time is not fenced, and keeps its other partitions', async () => {
  const log = opened();
  const first = writerOf(log, 'a');
  await claiming(log, first);
  const second = claiming(log, writerOf(log, 'b'), 60_000);
  await turn();
  await first.commit([record('k', 'last'), released(TOPIC, 0, 'a')]);
  await second;
  await first.commit([]);
  expect(first.works).toBe(true);
  expect(await ownersOf(log, 'run', 0)).toEqual(['b']);
});

test('an owner that does not give the partition up is fenced: it commits nothing more, and its key goes', async () => {
  const log = opened();
  const first = writerOf(log, 'a');
  await claiming(log, first);
  await claiming(log, writerOf(log, 'b'));
  await expect(first.commit([record('k', 'late')])).rejects.toMatchObject({ name: 'Retry' });
  expect(log.records(TOPIC).map(({ key }) => key)).not.toContain('k');
  expect(await ownersOf(log, 'run', 0)).toEqual(['b']);
});

test('what the previous owner commits until it is fenced is read', async () => {
  const log = opened();
  const first = writerOf(log, 'a');
  await claiming(log, first);
  const late: Log = {
    ...aliased(log),
    fence: async (id) => {
      if (id === 'a') await first.commit([record('k', 'late')]);
      return log.fence(id);
    },
  };
  const found: string[] = [];
  await claiming(late, writerOf(late, 'b'), 0, ({ key, value }) => key === 'k' && found.push(String(value)));
  expect(found).toEqual(['late']);
});

test('a failed writer of the same process gives nothing up, so it is fenced without waiting', async () => {
  const log = opened();
  await claiming(log, writerOf(log, 'a'));
  await claiming(log, writerOf(log, 'b', ['a']), Number.POSITIVE_INFINITY);
  expect(await ownersOf(log, 'run', 0)).toEqual(['b']);
});

test('a writer that claims between the look and the claim of another is fenced, too', async () => {
  const log = opened();
  const between = writerOf(log, 'a');
  let isClaimed = false;
  const racing: Log = {
    ...aliased(log),
    fence: async (id) => {
      if (id === 'b') await claiming(log, between);
      isClaimed = true;
      return log.fence(id);
    },
  };
  await claiming(racing, writerOf(racing, 'b'));
  expect(isClaimed).toBe(true);
  await expect(between.commit([])).rejects.toMatchObject({ name: 'Retry' });
});

test('a claim after which another writer has claimed fails, so that the other one is not fenced', async () => {
  const log = opened();
  const key = record(`${OWNER_KEY}later`, 'mark');
  const fence: Log['fence'] = async (id) => {
    const transactor = await log.fence(id);
    return { ...transactor, commit: (records) => transactor.commit([...records, key]) };
  };
  const racing = { ...aliased(log), fence };
  await expect(claiming(racing, writerOf(racing, 'a'))).rejects.toMatchObject({ name: 'Retry' });
});

test('an older key of the same writer, which becomes readable late, is not taken for its claim', async () => {
  const log = opened();
  await log.write([record(`${OWNER_KEY}a`, 'older')]);
  const between = writerOf(log, 'b');
  const fence: Log['fence'] = async (id) => {
    if (id === 'a') await between.commit([record(`${OWNER_KEY}b`, 'mark')]);
    return log.fence(id);
  };
  const readable = [0, 1];
  const late: Log = { ...aliased(log), fence, stableEnds: async () => [readable.shift() ?? log.records(TOPIC).length] };
  await claiming(late, writerOf(late, 'a'));
  await expect(between.commit([])).rejects.toMatchObject({ name: 'Retry' });
});

test('a claim that is given up fails with Retry', async () => {
  const log = opened();
  const given = AbortSignal.abort();
  const options = { log, topic: TOPIC, partition: 0, low: 0, writer: writerOf(log, 'a'), releaseMs: 0 };
  await expect(claim(options, () => {}, given)).rejects.toMatchObject({ name: 'Retry' });
});

/** The same log. Each answer comes after some turns of the event loop. */
const slow = (log: Log, delays: () => number): Log => {
  const wait = async () => {
    for (let n = delays(); n > 0; n--) await turn();
  };
  const after = async <T>(answer: Promise<T>): Promise<T> => {
    const value = await answer;
    await wait();
    return value;
  };
  return {
    ...aliased(log),
    stableEnds: async (topic) => {
      await wait();
      return after(log.stableEnds(topic));
    },
    read: async (...args) => {
      await wait();
      return after(log.read(...args));
    },
    fence: async (id) => {
      await wait();
      const transactor = await after(log.fence(id));
      const commit: typeof transactor.commit = async (records) => {
        await wait();
        await after(transactor.commit(records));
      };
      return { ...transactor, commit };
    },
  };
};

/**
 * Members that all believe the partition is theirs. Each claims it, then adds to a sum that it has read: an addition of
 * two owners at once would be lost. Returns the sum in the log, and the number of additions that were acknowledged.
 */
const contend = async (delays: readonly number[], members: number) => {
  const log = opened();
  let at = 0;
  const next = () => delays[at++ % delays.length] ?? 0;
  let additions = 0;
  const member = async (name: number) => {
    for (let attempt = 0; attempt < 4; attempt++) {
      const own = slow(log, next);
      const writer = writerOf(own, `${name}-${attempt}`);
      let sum = 0;
      try {
        await claiming(own, writer, 0, ({ key, value }) => {
          if (key === 'sum') sum = Number(value);
        });
        for (let n = 0; n < 3; n++) {
          await writer.commit([record('sum', String(sum + 1))]);
          sum += 1;
          additions += 1;
        }
        if (next() % 2 === 0) await writer.commit([released(TOPIC, 0, writer.id)]);
      } catch (error) {
        if (!(error instanceof Retry)) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: members }, (_, name) => member(name)));
  const sums = log.records(TOPIC).filter(({ key }) => key === 'sum');
  return { sum: Number(sums.at(-1)?.value ?? 0), written: sums.length, additions };
};

test('however many members believe that a partition is theirs, and however slow the log is, no addition is lost', async () => {
  const delays = fc.array(fc.nat(6), { minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(delays, fc.integer({ min: 2, max: 4 }), async (slowness, members) => {
      const { sum, written, additions } = await contend(slowness, members);
      expect(sum).toBe(written);
      expect(written).toBeGreaterThanOrEqual(additions);
    }),
    { numRuns: 150 },
  );
});
