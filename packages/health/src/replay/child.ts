import { fork } from 'node:child_process';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ReplayProgress } from './log-source.ts';

/** A message of a child process. `result` and `failed` are its last. */
type ChildReport<T> =
  | { readonly kind: 'progress'; readonly done: number; readonly of: number }
  | { readonly kind: 'result'; readonly result: T }
  | { readonly kind: 'failed'; readonly why: string };

/** The child process has reported that it failed, and why. */
export class ChildFailed extends Error {
  override readonly name = 'ChildFailed';
}

/** The child process has ended without a report: it was killed, or had too little memory. */
export class ChildEnded extends Error {
  override readonly name = 'ChildEnded';
}

/**
 * `file`: the module that it runs; `data`: what that gets; `memoryMb`: of its heap, null: Node's own limit.
 * `output` gets the standard output of the process, and is not ended. Null: both processes share one.
 */
export type Child = {
  readonly file: URL;
  readonly data: unknown;
  readonly memoryMb: number | null;
  readonly output: Writable | null;
};

/**
 * Runs a replay in a child process, with the environment of this one: Node reads the authorities of a private network from
 * it. An abort kills the process, and the run has ended when it is gone.
 * Threads are not used: in a run of all tests one of them crashed, and ended the whole process.
 * Throws ChildFailed and ChildEnded.
 */
export const inChild = async <T>(
  { file, data, memoryMb, output }: Child,
  onProgress: ReplayProgress,
  signal: AbortSignal,
): Promise<T> => {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const execArgv = memoryMb === null ? [] : [`--max-old-space-size=${memoryMb}`];
  const stdout = output === null ? 'inherit' : 'pipe';
  const child = fork(fileURLToPath(file), [], {
    ...{ execArgv, serialization: 'advanced' },
    stdio: ['inherit', stdout, 'inherit', 'ipc'],
  });
  if (output !== null) child.stdout?.pipe(output, { end: false });
  const ended = new Promise<void>((resolveEnd) => {
    // Its output is read whole by then.
    child.once('close', (code, by) => {
      reject(new ChildEnded(`the process of the replay ended with ${by ?? `code ${code}`}, without a result`));
      resolveEnd();
    });
    child.once('error', (error) => {
      reject(error);
      resolveEnd();
    });
  });
  child.on('message', (one: ChildReport<T>) => {
    if (one.kind === 'progress') onProgress(one.done, one.of);
    else if (one.kind === 'result') resolve(one.result);
    else reject(new ChildFailed(one.why));
  });
  const stop = (): void => {
    child.stdout?.destroy();
    reject(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  child.send(data as object, () => {});
  try {
    return await promise;
  } finally {
    child.kill('SIGKILL');
    await ended;
    signal.removeEventListener('abort', stop);
  }
};

/** The work of the child process: its result or failure is reported to the parent. It ends when the parent does. */
export const reportToParent = <Data, T>(work: (data: Data, onProgress: ReplayProgress) => Promise<T>): void => {
  const report = (one: ChildReport<T>): void => void process.send?.(one);
  process.once('disconnect', () => process.exit());
  process.once('message', async (data: Data) => {
    try {
      report({ kind: 'result', result: await work(data, (done, of) => report({ kind: 'progress', done, of })) });
    } catch (error) {
      report({ kind: 'failed', why: (error as Error).message });
    }
  });
};
