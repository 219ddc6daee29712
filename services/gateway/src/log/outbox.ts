import { setTimeout as after } from 'node:timers/promises';
import type { OutRecord } from '@vigil/stream';
import { Problem } from '../http/problem.ts';

/**
 * Resolves when all in-sync replicas have the records. Rejects if they have not: the records may or may not be
 * written then.
 */
export type Outbox = { readonly send: (records: readonly OutRecord[]) => Promise<void> };

/** How long requests are collected into one produce, milliseconds: at 3,000 a second, fifteen of them. */
const LINGER_MS = 5;

/** Bytes that may wait while the broker is slow or away; beyond, what comes is not taken. */
export const MOST_BYTES: number = 64 << 20;

const bytesOf = (records: readonly OutRecord[]): number =>
  records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);

/** Collects for a moment what concurrent requests write; each is written, and fails, on its own, in the order of arrival. */
export const createOutbox = (write: (records: readonly OutRecord[]) => Promise<void>): Outbox => {
  let collecting: Promise<void> | undefined;
  let waitingBytes = 0;

  const collected = (): Promise<void> => {
    collecting ??= after(LINGER_MS).then(() => {
      collecting = undefined;
    });
    return collecting;
  };

  return {
    send: async (records) => {
      if (records.length === 0) return;
      const bytes = bytesOf(records);
      if (waitingBytes + bytes > MOST_BYTES)
        throw new Problem(
          503,
          'too_much_waits',
          `${waitingBytes} bytes wait for the broker already: send it again later`,
        );
      waitingBytes += bytes;
      try {
        await collected();
        await write(records);
      } finally {
        waitingBytes -= bytes;
      }
    },
  };
};
