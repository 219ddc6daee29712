import { Topic } from '@vigil/events';
import { TICK_MS } from './clock.ts';
import { DOOR, TICK } from './fold.ts';
import type { Log, OutRecord } from './log.ts';
import { type Logger, silent } from './logger.ts';

type Stoppable = AsyncDisposable & { readonly stop: () => Promise<void> };

/** Writes marks at once and then once a second, outside transactions; the broker stamps them. One that cannot be written is not queued. */
const everySecond = (log: Log, marks: () => readonly OutRecord[], logger: Logger): Stoppable => {
  let writing: Promise<void> | undefined;
  const write = () => {
    const records = marks();
    if (writing !== undefined || records.length === 0) return;
    writing = log
      .write(records)
      .catch((error: Error) => logger.warn({ err: error }, 'a tick could not be written'))
      .finally(() => {
        writing = undefined;
      });
  };
  write();
  const timer = setInterval(write, TICK_MS);
  const stop = async () => {
    clearInterval(timer);
    await writing;
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
