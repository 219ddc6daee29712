import type { Log } from '@vigil/stream';

/** Ticks are looked for this far back: a processor whose time is older stands. */
export const LOOK_BACK_MS = 15_000;
/** One this young is as good as the newest. */
const YOUNG_MS = 3_000;
const PATIENCE_MS = 2_000;

const isTick = (key: string | null): boolean => key?.startsWith('@tick/') ?? false;

/** Of the partitions of a topic, epoch milliseconds. `slowest` null: some partition had no tick in the last 15 s; `fastest` null: none had one. */
export type NewestTicks = { readonly slowest: number | null; readonly fastest: number | null };

/**
 * When each topic last had a tick, in the slowest and in the fastest of its partitions.
 * Reads to the end: at once where all are young, otherwise for two seconds.
 */
export async function newestTicks(
  log: Pick<Log, 'follow' | 'partitionCount'>,
  topics: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, NewestTicks>> {
  const newest = new Map<string, number[]>();
  for (const topic of topics) newest.set(topic, Array(await log.partitionCount(topic)).fill(Number.NEGATIVE_INFINITY));
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, AbortSignal.timeout(PATIENCE_MS)]);
  const slowest = (topic: string) => Math.min(...(newest.get(topic) ?? []));
  await log.follow(
    topics,
    now - LOOK_BACK_MS,
    ({ topic, partition, key, timestamp }) => {
      const partitions = newest.get(topic);
      if (partitions === undefined || !isTick(key)) return;
      partitions[partition] = Math.max(timestamp, partitions[partition] ?? 0);
      if (topics.every((each) => now - slowest(each) < YOUNG_MS)) enough.abort();
    },
    signal,
  );
  await aborted(signal);
  const seen = (moment: number) => (Number.isFinite(moment) ? moment : null);
  const fastest = (topic: string) => Math.max(...(newest.get(topic) ?? []));
  return new Map(topics.map((topic) => [topic, { slowest: seen(slowest(topic)), fastest: seen(fastest(topic)) }]));
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
