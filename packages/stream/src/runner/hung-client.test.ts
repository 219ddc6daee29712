import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Retry } from '../errors.ts';
import type { Log } from '../log/log.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { event, projecting, reacting, sinkOf } from './outside.fixture.ts';
import { jsonCodec, topicsOf } from './processors.fixture.ts';
import { aliased, PARTITIONS, until } from './runner.fixture.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
);
afterEach(() => void vi.useRealTimers());

const seconds = (n: number) => vi.advanceTimersByTimeAsync(n * 1000);

/** A log whose client delivers nothing while it hangs, and whose broker can be unreachable. */
const hanging = () => {
  const memory = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  const client = { hangs: Promise.resolve(), isAway: false };
  const join: Log['join'] = (member) =>
    memory.join({ ...member, take: (batch) => client.hangs.then(() => member.take(batch)) });
  const stableEnds: Log['stableEnds'] = async (topic) => {
    if (client.isAway) throw new Error('no broker answers');
    return memory.stableEnds(topic);
  };
  const hang = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    client.hangs = promise;
    return resolve;
  };
  return { memory, client, hang, log: { ...aliased(memory), join, stableEnds } };
};

const parts = {
  reactor: (log: Log, done: () => void) =>
    reacting(log, 'run', async () => {
      done();
      return [];
    }),
  projection: (log: Log, done: () => void) => {
    const sink = sinkOf();
    const apply: typeof sink.apply = async (batch) => {
      await sink.apply(batch);
      done();
    };
    return projecting(log, 'run', { ...sink, apply });
  },
};

/** A reactor or projection that has read one event. */
const started = async (part: keyof typeof parts) => {
  const ground = hanging();
  const done = vi.fn();
  const running = await parts[part](ground.log, done);
  const ended = vi.fn();
  running.finished.catch((error: Error) => ended(error.message));
  await ground.memory.write([event('run', 'a', 1)]);
  await until(() => expect([done.mock.calls.length, running.ready()]).toEqual([1, true]));
  return { ...ground, running, done, ended };
};

test.each(['reactor', 'projection'] as const)(
  'a %s whose client hangs is not ready after 15 s, and ready again once it reads',
  async (part) => {
    const { memory, hang, running, done, ended } = await started(part);
    const resume = hang();
    await memory.write([event('run', 'a', 2)]);
    await seconds(14);
    expect(running.ready()).toBe(true);
    await seconds(3.5);
    expect([running.ready(), done.mock.calls.length]).toEqual([false, 1]);
    resume();
    await until(() => expect([done.mock.calls.length, running.ready()]).toEqual([2, true]));
    expect(ended).not.toHaveBeenCalled();
    await running.stop();
  },
);

test.each(['reactor', 'projection'] as const)(
  'a %s whose client does not recover ends, with the figures',
  async (part) => {
    const { memory, hang, running, ended } = await started(part);
    hang();
    await memory.write([event('run', 'a', 2)]);
    await seconds(20);
    expect(ended).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^run-\w+: no progress: run\.in\/\d stands at 1 of 2, running, for 1\d s$/),
    );
    await running.stop();
  },
);

test.each(['reactor', 'projection'] as const)('a %s with nothing to read is ready, however long', async (part) => {
  const { running, ended } = await started(part);
  for (let n = 0; n < 10; n++) {
    await seconds(10);
    expect(running.ready()).toBe(true);
  }
  expect(ended).not.toHaveBeenCalled();
  await running.stop();
});

test.each(['reactor', 'projection'] as const)(
  'a %s is not ready while no broker answers, and does not end',
  async (part) => {
    const { client, running, ended } = await started(part);
    client.isAway = true;
    await seconds(60);
    expect(running.ready()).toBe(false);
    client.isAway = false;
    await seconds(2);
    expect(running.ready()).toBe(true);
    expect(ended).not.toHaveBeenCalled();
    await running.stop();
  },
);

test('a restarted reactor detects that its client reads no new records, and is ready if all are done', async () => {
  const { memory, log, hang, running } = await started('reactor');
  await running.stop();
  const idle = await parts.reactor(log, () => {});
  await seconds(60);
  expect(idle.ready()).toBe(true);
  await idle.stop();
  await memory.write([event('run', 'a', 2)]);
  const resume = hang();
  const done = vi.fn();
  const back = await parts.reactor(log, done);
  await until(() => expect(back.ready()).toBe(true));
  await seconds(17);
  expect(back.ready()).toBe(false);
  resume();
  await until(() => expect([done.mock.calls.length, back.ready()]).toEqual([1, true]));
  await back.stop();
});

test('a reactor is not ready until it has the offsets of its group', async () => {
  const { memory } = hanging();
  const answer = Promise.withResolvers<readonly null[]>();
  await using running = await reacting(
    { ...aliased(memory), groupOffsets: () => answer.promise },
    'run',
    async () => [],
  );
  await seconds(30);
  expect(running.ready()).toBe(false);
  answer.resolve([null, null, null, null]);
  await until(() => expect(running.ready()).toBe(true));
});

test('a reactor whose sink is unreachable for long stops reading, and does not end', async () => {
  const { memory, log } = hanging();
  let isAway = true;
  const done = vi.fn();
  const react = async () => {
    if (isAway) throw new Retry('the sink is away', { afterMs: 20 });
    done();
    return [];
  };
  await using running = await reacting(log, 'run', react, 2);
  const ended = vi.fn();
  running.finished.catch(ended);
  for (let n = 0; n < 200; n++) await memory.write([event('run', 'a', n)]);
  await seconds(300);
  expect(ended).not.toHaveBeenCalled();
  isAway = false;
  await until(() => expect(done).toHaveBeenCalledTimes(200));
});

test('a projection whose sink is slow is not ready after 15 s, and ends only after a minute', async () => {
  const { memory, log } = hanging();
  const gate = Promise.withResolvers<void>();
  const sink = sinkOf();
  const apply: typeof sink.apply = async (batch) => {
    await gate.promise;
    await sink.apply(batch);
  };
  await using running = await projecting(log, 'run', { ...sink, apply });
  const ended = vi.fn();
  running.finished.catch(ended);
  await memory.write([event('run', 'a', 1)]);
  await seconds(50);
  expect([running.ready(), ended.mock.calls]).toEqual([false, []]);
  gate.resolve();
  await until(() => expect(running.ready()).toBe(true));
});
