import { expect, test, vi } from 'vitest';
import type { Log } from '../log/log.ts';
import { jsonCodec, listening, topicsOf } from '../runner/processors.fixture.ts';
import { aliased } from '../runner/runner.fixture.ts';
import { MemoryLog } from '../testing/memory/memory-log.ts';
import { quiet } from '../testing.ts';
import { runProcessor } from './run-processor.ts';

test('a restore that makes progress is not abandoned, however long it takes', async () => {
  const log = new MemoryLog({ topics: topicsOf('run', 1), codec: jsonCodec() });
  const first = await runProcessor(log, listening('run') as never, { ...quiet, partitions: 1, paceMs: 5 });
  for (let n = 0; n < 20; n++)
    log.publishRaw('run.in', `k${n}`, Buffer.from(JSON.stringify({ type: 'HEARTBEAT', payload: {} })));
  await vi.waitFor(() => expect(log.events('run.out' as never)).toHaveLength(20), 60_000);
  await first.stop();
  vi.useFakeTimers();
  try {
    const read: Log['read'] = async (topic, _partition, { low, high }, apply) => {
      for (const record of log.records(topic).slice(low, high)) {
        await new Promise((resolve) => setTimeout(resolve, 14_000));
        apply(record);
      }
    };
    const running = await runProcessor({ ...aliased(log), read }, listening('run') as never, {
      ...quiet,
      partitions: 1,
    });
    const ended = vi.fn();
    running.finished.catch(ended);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(running.status()).toMatchObject([{ phase: 'restoring' }]);
    await vi.advanceTimersByTimeAsync(14_000 * log.records('onex.snapshot.run.state.v1').length);
    const opened = () => expect(running.status()).toMatchObject([{ phase: 'running' }]);
    await vi.waitFor(opened, { timeout: 60_000, interval: 20 });
    expect(ended).not.toHaveBeenCalled();
    await running.stop();
  } finally {
    vi.useRealTimers();
  }
});
