import { Worker } from 'node:worker_threads';

/** What a checkpoint says of itself: the tasks it names (`task_id`, seed 003's `ticket_id`, `taskId`), and its `schema_version`, null where it has none. */
export type Content = { readonly names: readonly unknown[]; readonly schema: string | null };

/** A document that takes longer is none; milliseconds. */
const longestMs = 5000;

/**
 * What a document in JSON or YAML says of itself; null: it does not parse, or not in time. An agent chooses what is parsed, and some
 * kilobytes of YAML can take minutes: so it is done on a thread of its own, which is ended when its time is over.
 */
export const contentOf = async (bytes: Buffer, withinMs: number = longestMs): Promise<Content | null> => {
  const { promise, resolve } = Promise.withResolvers<Content | null>();
  const worker = new Worker(new URL('./checkpoint-reader.ts', import.meta.url), {
    workerData: bytes,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  const over = setTimeout(() => resolve(null), withinMs);
  worker
    .on('message', resolve)
    .on('error', () => resolve(null))
    .on('exit', () => resolve(null));
  try {
    return await promise;
  } finally {
    clearTimeout(over);
    await worker.terminate();
  }
};
