import { Worker } from 'node:worker_threads';
import { type Content, contentIn } from '../adapters/checkpoint-formats.ts';

/** A document that takes longer does not count as YAML; milliseconds. */
const LONGEST_MS = 5000;
/** Bytes; JSON up to this size is parsed in a moment. */
const SMALL_JSON = 1 << 20;

/** The task names and schema version in a JSON or YAML document; null: it does not parse, or not in time. */
export const contentOf = async (bytes: Buffer, withinMs: number = LONGEST_MS): Promise<Content | null> =>
  (bytes.length <= SMALL_JSON ? jsonContent(bytes) : null) ?? (await elsewhere(bytes, withinMs));

const jsonContent = (bytes: Buffer): Content | null => {
  try {
    return contentIn(JSON.parse(bytes.toString('utf8')));
  } catch {
    return null;
  }
};

/**
 * An agent chooses the content, and some kilobytes of YAML can take minutes: it is parsed on a thread that is ended
 * after its time limit.
 * A busy host that is slow to start the thread is not a reason to reject the document.
 */
const elsewhere = async (bytes: Buffer, withinMs: number): Promise<Content | null> => {
  const { promise, resolve } = Promise.withResolvers<Content | null>();
  const worker = new Worker(new URL('./content-worker.ts', import.meta.url), {
    workerData: bytes,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  });
  let over: NodeJS.Timeout | undefined;
  worker
    .once('message', () => {
      over = setTimeout(() => resolve(null), withinMs);
      worker.on('message', resolve);
    })
    .on('error', () => resolve(null))
    .on('exit', () => resolve(null));
  try {
    return await promise;
  } finally {
    clearTimeout(over);
    await worker.terminate();
  }
};
