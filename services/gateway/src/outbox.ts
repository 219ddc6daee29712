import { setTimeout as after } from 'node:timers/promises';
import type { OutRecord } from '@vigil/stream';
import { Problem } from './problem.ts';

/** Resolves when all in-sync replicas have what was given. Rejects where they have not: nothing is known of it then. */
export type Outbox = { readonly send: (records: readonly OutRecord[]) => Promise<void> };

/** How long requests are collected into one produce, milliseconds: at 3,000 a second, fifteen of them. */
const LINGER_MS = 5;

/** One produce carries at most this many bytes: a batch of a partition must fit the topic's 512 KiB. */
const FULL_BYTES = 256 * 1024;

/** Bytes that may wait while the broker is slow or away; beyond, what comes is not taken. */
export const MOST_BYTES: number = 64 << 20;

type Waiting = { readonly records: readonly OutRecord[]; readonly done: PromiseWithResolvers<void> };

const bytesOf = ({ records }: Pick<Waiting, 'records'>): number =>
  records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);

/** The first of a queue that fit one produce together, at least one. Removes them. */
const takeBatch = (queue: Waiting[]): readonly Waiting[] => {
  let bytes = 0;
  const over = queue.findIndex((waiting) => {
    bytes += bytesOf(waiting);
    return bytes > FULL_BYTES;
  });
  return queue.splice(0, over === -1 ? queue.length : Math.max(1, over));
};

/** Collects what concurrent requests write, and sends it together, one produce at a time, in the order of arrival. */
export const createOutbox = (produce: (records: readonly OutRecord[]) => Promise<void>): Outbox => {
  const queue: Waiting[] = [];
  let sending = false;
  let waitingBytes = 0;

  const drain = async (): Promise<void> => {
    sending = true;
    await after(LINGER_MS);
    while (queue.length > 0) {
      const batch = takeBatch(queue);
      await produce(batch.flatMap(({ records }) => records)).then(
        () => batch.forEach(({ done }) => void done.resolve()),
        (error) => batch.forEach(({ done }) => void done.reject(error)),
      );
    }
    sending = false;
  };

  return {
    send: async (records) => {
      if (records.length === 0) return;
      const bytes = bytesOf({ records });
      if (waitingBytes + bytes > MOST_BYTES)
        throw new Problem(
          503,
          'too_much_waits',
          `${waitingBytes} bytes wait for the broker already: send it again later`,
        );
      const done = Promise.withResolvers<void>();
      waitingBytes += bytes;
      queue.push({ records, done });
      if (!sending) void drain();
      await done.promise.finally(() => {
        waitingBytes -= bytes;
      });
    },
  };
};
