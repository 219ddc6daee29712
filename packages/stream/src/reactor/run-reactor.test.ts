import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { Retry } from '../errors.ts';
import { event, reacting } from '../runner/outside.fixture.ts';
import { jsonCodec, topicsOf } from '../runner/processors.fixture.ts';
import { PARTITIONS, until } from '../runner/runner.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';

afterEach(() => {
  vi.unstubAllGlobals();
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
