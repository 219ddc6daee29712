import { Worker } from 'node:worker_threads';
import type { ReplayProgress } from './log-source.ts';

/** A message of a thread. `result` and `failed` are its last. */
export type ThreadReport<T> =
  | { readonly kind: 'progress'; readonly done: number; readonly of: number }
  | { readonly kind: 'result'; readonly result: T }
  | { readonly kind: 'failed'; readonly why: string };

/** The thread has reported that it failed, and why. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed';
}

/** `file`: the module that the thread runs; `data`: its `workerData`; `memoryMb`: of its heap, null: Node's own limit. */
export type Thread = { readonly file: URL; readonly data: unknown; readonly memoryMb: number | null };

/**
 * Runs a replay on a thread of its own, without an environment. An abort ends the thread; the run has ended when it is gone.
 * Throws ThreadFailed, and the error of a thread that ends without a report.
 */
export const onThread = async <T>(
  { file, data, memoryMb }: Thread,
  onProgress: ReplayProgress,
  signal: AbortSignal,
): Promise<T> => {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const worker = new Worker(file, {
    ...{ workerData: data, env: {}, execArgv: [] },
    ...(memoryMb !== null && { resourceLimits: { maxOldGenerationSizeMb: memoryMb } }),
  });
  const stop = (): void => reject(signal.reason);
  worker
    .on('message', (one: ThreadReport<T>) => {
      if (one.kind === 'progress') onProgress(one.done, one.of);
      else if (one.kind === 'result') resolve(one.result);
      else reject(new ThreadFailed(one.why));
    })
    .on('error', reject)
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
