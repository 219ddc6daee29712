import { parentPort, workerData } from 'node:worker_threads';
import { partSource, type Span, type ThreadReport, type Verified, verify } from '@vigil/health/replay';
import type { DirectSettings } from '../config.ts';
import { withLog } from '../kafka.ts';

/** `part`: partitions. It is sent to a thread, so it is plain data. */
export type Share = { readonly settings: DirectSettings; readonly span: Span; readonly part: readonly number[] };

/** The thread of verify-log.ts: opens the log for reading, verifies its share, and reports progress and result. */
const report = (one: ThreadReport<Verified>): void => parentPort?.postMessage(one);

const { settings, span, part } = workerData as Share;
const onProgress = (done: number, of: number): void => report({ kind: 'progress', done, of });

try {
  const result = await withLog(settings, async (log) =>
    // The main thread ends this one itself.
    verify(await partSource(log, span, part, onProgress), new AbortController().signal),
  );
  report({ kind: 'result', result });
} catch (error) {
  const { message, cause } = error as Error;
  // The main thread adds what the failure prevents.
  report({ kind: 'failed', why: cause instanceof Error ? cause.message : message });
}
