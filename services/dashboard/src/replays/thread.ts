import { Worker } from 'node:worker_threads';
import type { Config } from '../config.ts';
import type { ReplayResult, ReplaySpec } from './fold.ts';
import { ReplayFailed, type RunReplay } from './replays.ts';

/** The heap of the thread. A pod of the dashboard has 512 MiB by default. */
const MEMORY_MB = 256;

export type ThreadReport =
  | { readonly kind: 'progress'; readonly done: number; readonly of: number }
  | { readonly kind: 'result'; readonly result: ReplayResult }
  | { readonly kind: 'failed'; readonly why: string };

const failureOf = (error: Error): Error =>
  'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new ReplayFailed(
        `the replay needs more than ${MEMORY_MB} MiB: give a shorter span or one agent, or use \`vigil replay\` on the command line`,
      )
    : error;

/**
 * Runs a replay on a thread of its own with a log of its own, so that it blocks no request and its memory has a limit.
 * An abort ends the thread; the run has ended when it is gone.
 */
export const threadFor =
  (config: Config): RunReplay =>
  async (spec: ReplaySpec, onProgress, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReplayResult>();
    const worker = new Worker(new URL('./fold-worker.ts', import.meta.url), {
      ...{ workerData: { config, spec }, env: {}, execArgv: [] },
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    const stop = (): void => reject(signal.reason);
    worker
      .on('message', (one: ThreadReport) => {
        if (one.kind === 'progress') onProgress(one.done, one.of);
        else if (one.kind === 'result') resolve(one.result);
        else reject(new ReplayFailed(one.why));
      })
      .on('error', (error: Error) => reject(failureOf(error)))
      .on('exit', () => reject(new Error('the thread of the replay ended without a result')));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', stop);
      await worker.terminate();
    }
  };
