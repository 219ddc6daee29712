import type { Log } from '../log/log.ts';
import { TRANSACTION_MS } from './transactor.ts';

/**
 * Longer than any transaction may last, milliseconds. After it, the records of the transaction do not become readable
 * by themselves.
 */
export const HANGS_AFTER_MS: number = TRANSACTION_MS + 10_000;

/** A partition whose last stable offset does not advance. `forMs`: how long so far. */
export type Hanging = {
  readonly topic: string;
  readonly partition: number;
  readonly stableEnd: number;
  readonly end: number;
  readonly forMs: number;
};

type Seen = { readonly stableEnd: number; readonly since: number };

/**
 * Detects hanging transactions: the last stable offset stays below the end for longer than a transaction may last
 * (caused by KAFKA-20734, for example). Call the same detector repeatedly. `now`: the reading of a monotonic clock,
 * milliseconds.
 */
export const hangingTransactions = (log: Log, topics: readonly string[]) => {
  let seen: ReadonlyMap<string, Seen> = new Map();
  return async (now: number): Promise<readonly Hanging[]> => {
    const next = new Map<string, Seen>();
    const hanging: Hanging[] = [];
    for (const topic of topics) {
      const [stable, bounds] = [await log.stableEnds(topic), await log.bounds(topic)];
      for (const [partition, { high: end }] of bounds.entries()) {
        const stableEnd = stable[partition] ?? end;
        if (stableEnd >= end) continue;
        const key = `${topic}/${partition}`;
        const before = seen.get(key);
        const since = before?.stableEnd === stableEnd ? before.since : now;
        next.set(key, { stableEnd, since });
        if (now - since > HANGS_AFTER_MS) hanging.push({ topic, partition, stableEnd, end, forMs: now - since });
      }
    }
    seen = next;
    return hanging;
  };
};
