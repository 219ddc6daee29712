import { Topic } from '@vigil/events';
import { TICK_MS } from './clock.ts';
import { DOOR, TICK } from './fold.ts';
import type { Log, OutRecord } from './log.ts';
import { type Logger, silent } from './logger.ts';

type Stoppable = AsyncDisposable & { readonly stop: () => Promise<void> };

/**
 * Writes marks at once and then once a second, outside transactions; the broker stamps them. While the last one of a partition is not
 * written, none is queued behind it, and the others go on.
 */
const everySecond = (log: Log, marks: () => readonly OutRecord[], logger: Logger): Stoppable => {
  const writing = new Map<number, Promise<void>>();
  const writeOne = (record: OutRecord) => {
    const { topic, partition } = record;
    if (writing.has(partition)) return;
    const written = log
      .write([record])
      .catch((error: Error) => logger.warn({ err: error, topic, partition }, 'a tick could not be written'))
      .finally(() => writing.delete(partition));
    writing.set(partition, written);
  };
  const write = () => marks().forEach(writeOne);
  write();
  const timer = setInterval(write, TICK_MS);
  const stop = async () => {
    clearInterval(timer);
    await Promise.all(writing.values());
  };
  return { stop, [Symbol.asyncDispose]: stop };
};

const mark = (topic: string, partition: number, key: string): OutRecord => ({ topic, partition, key, value: null });

/** Time begins here: a tick into each partition that is owned. */
export const startTicks = (log: Log, topic: string, owned: () => readonly number[], logger: Logger): Stoppable =>
  everySecond(log, () => owned().map((partition) => mark(topic, partition, `${TICK}${partition}`)), logger);

/** Says of a way in that it is open, to every partition of the heartbeat topic: its agents are absent only while it is. */
export const startDoor = async (log: Log, door: string, logger: Logger = silent): Promise<Stoppable> => {
  const count = await log.partitionCount(Topic.heartbeat);
  const marks = Array.from({ length: count }, (_, p) => mark(Topic.heartbeat, p, `${DOOR}${door}`));
  return everySecond(log, () => marks, logger);
};
