import { Topic } from '@vigil/events';
import type { Log, OutRecord } from '../log/log.ts';
import type { Logger } from '../logger.ts';
import { INGRESS, RELEASED, TICK } from '../processor/fold.ts';
import { within } from '../runner/within.ts';
import { TICK_MS } from './clock.ts';

type Stoppable = AsyncDisposable & { readonly stop: () => Promise<void> };
/** `end` does not wait for writes in progress */
type Marking = Stoppable & { readonly end: () => void };

/** The key of the probes of an ingress that is not open. No reader uses them. */
const PROBE = '@probe/';
/** How long a stopping ingress tries to report its stop, milliseconds. */
const RELEASE_MS = 3000;

/** A mark that would follow its predecessor within this time waits for the next second, milliseconds. */
const SHORTEST_MS = 100;

/** The time until the next whole second of this machine's clock, milliseconds. `now`: epoch milliseconds */
export const untilNextTick = (now: number): number => {
  const left = TICK_MS - (now % TICK_MS);
  return left < SHORTEST_MS ? left + TICK_MS : left;
};

/**
 * Writes marks at once and then at each whole second, outside transactions; the broker stamps them. All writers of a
 * topic write at the same moment, so a reader has one transaction for their marks. While the last one of a partition is
 * not written, none is queued behind it, and the others continue.
 */
const everySecond = (write: Ingress['write'], marks: () => readonly OutRecord[], logger: Logger): Marking => {
  const writing = new Map<number, Promise<unknown>>();
  const writeOne = (record: OutRecord) => {
    const { topic, partition } = record;
    if (writing.has(partition)) return;
    const written = write([record])
      .catch((error: Error) => logger.warn({ err: error, topic, partition }, 'a tick could not be written'))
      .finally(() => writing.delete(partition));
    writing.set(partition, written);
  };
  const writeAll = () => marks().forEach(writeOne);
  let timer: NodeJS.Timeout;
  const writeAndWait = () => {
    writeAll();
    timer = setTimeout(writeAndWait, untilNextTick(Date.now()));
  };
  writeAndWait();
  const end = () => clearTimeout(timer);
  const stop = async () => {
    end();
    await Promise.all(writing.values());
  };
  return { end, stop, [Symbol.asyncDispose]: stop };
};

const mark = (topic: string, partition: number, key: string): OutRecord => ({ topic, partition, key, value: null });

/** Starts time: writes ticks into each owned partition. */
export const startTicks = (log: Log, topic: string, owned: () => readonly number[], logger: Logger): Stoppable =>
  everySecond(log.write, () => owned().map((partition) => mark(topic, partition, `${TICK}${partition}`)), logger);

/** `write`: writes after all records accepted before; `isOpen`: whether agents can reach the ingress now. */
export type Ingress = {
  readonly name: string;
  readonly write: (records: readonly OutRecord[]) => Promise<unknown>;
  readonly isOpen: () => boolean;
  readonly logger: Logger;
};

/**
 * Reports an open ingress to every partition of the heartbeat topic: its agents are absent only while it is open. While
 * it is not open, it writes probes, to detect when it can write. When it stops, it reports that it is closed for good:
 * its agents are expected elsewhere.
 */
export const startIngress = async (log: Log, { name, write, isOpen, logger }: Ingress): Promise<Stoppable> => {
  const count = await log.partitionCount(Topic.heartbeat);
  const all = (key: string) => Array.from({ length: count }, (_, p) => mark(Topic.heartbeat, p, key));
  const marks = everySecond(write, () => all(isOpen() ? `${INGRESS}${name}` : `${PROBE}${name}`), logger);
  const stop = async () => {
    marks.end();
    const last = all(`${INGRESS}${name}`).map((record) => write([{ ...record, value: RELEASED }]));
    await within(RELEASE_MS, Promise.allSettled(last), 'releasing the agents').catch(() => {});
  };
  return { stop, [Symbol.asyncDispose]: stop };
};
