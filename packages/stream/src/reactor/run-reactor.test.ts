import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { Retry } from '../errors.ts';
import { silentLogger } from '../logger.ts';
import { event, reacting } from '../runner/outside.fixture.ts';
import { jsonCodec, topicsOf } from '../runner/processors.fixture.ts';
import { PARTITIONS, until } from '../runner/runner.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('after an outcome that cannot be written, no later event of its key is done: it is read again first', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  await log.write([event('run', 'a', 1), event('run', 'a', 2)]);
  const write = vi.spyOn(log, 'write').mockRejectedValue(new Error('the broker is away'));
  const done: number[] = [];
  const react = async ({ payload }: { readonly payload: { readonly n: number } }) => {
    done.push(payload.n);
    return [{ topic: 'run.out', type: 'DONE', key: 'a', payload: {} }];
  };
  const running = await reacting(log, 'run', react as never);
  await expect(running.finished).rejects.toThrow('an outcome was not written');
  expect(write).toHaveBeenCalledTimes(1);
  expect(done).toEqual([1]);
});

test('a sink that is unreachable for long costs no memory, because each wait removes its listener', async () => {
  const signals: AbortSignal[] = [];
  class Seen extends AbortController {
    constructor() {
      super();
      signals.push(this.signal);
    }
  }
  vi.stubGlobal('AbortController', Seen);
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  let tries = 0;
  const running = await reacting(log, 'run', async () => {
    tries += 1;
    throw new Retry('the sink is away', { afterMs: 1 });
  });
  await log.write([event('run', 'a', 1)]);
  await until(() => expect(tries).toBeGreaterThan(50));
  const listeners = signals.map((signal) => getEventListeners(signal, 'abort').length);
  expect(Math.max(...listeners)).toBeLessThanOrEqual(1);
  await running.stop();
});

test('reactions that wait write one line without a stack, and not one for each and each try', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', PARTITIONS), codec: jsonCodec() });
  const lines: object[] = [];
  vi.spyOn(silentLogger, 'warn').mockImplementation((fields) => void lines.push(fields));
  let tries = 0;
  const react = async () => {
    tries += 1;
    throw new Retry('the channel is limited', { afterMs: 1 });
  };
  const running = await reacting(log, 'run', react as never);
  await log.write(['a', 'b', 'c'].map((key) => event('run', key, 1)));
  await until(() => expect(tries).toBeGreaterThan(20));
  await running.stop();
  vi.restoreAllMocks();
  expect(lines).toEqual([{ group: 'run-reactor', why: 'the channel is limited', waitsSinceLastLine: 0 }]);
});
