import { parentPort, workerData } from 'node:worker_threads';
import { openLog } from '@vigil/chassis';
import type { ThreadReport } from '@vigil/health/replay';
import { silentLogger } from '@vigil/stream';
import type { Config } from '../config.ts';
import { foldAgain, type ReplayResult, type ReplaySpec } from './fold.ts';

/** The thread of thread.ts: opens the log for reading, folds the span, and reports progress and result. */
const report = (one: ThreadReport<ReplayResult>): void => parentPort?.postMessage(one);

/** A log that does not answer within this time is not waited for, milliseconds. */
const OPEN_LIMIT_MS = 15_000;

const { config, spec } = workerData as { readonly config: Config; readonly spec: ReplaySpec };

try {
  await using log = await openLog(config, {
    ...{ clientId: 'vigil-replay', writes: [], logger: silentLogger, now: Date.now },
    signal: AbortSignal.timeout(OPEN_LIMIT_MS),
  });
  const onProgress = (done: number, of: number): void => report({ kind: 'progress', done, of });
  // The dashboard ends the thread itself.
  const result = await foldAgain(log, spec, onProgress, new AbortController().signal);
  report({ kind: 'result', result });
} catch (error) {
  report({ kind: 'failed', why: (error as Error).message });
}
