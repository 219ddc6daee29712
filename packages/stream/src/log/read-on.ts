import { type EventOf, type TopicName, Undecodable } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import type { Following, Log, LogRecord } from './log.ts';
import { isEvent, WaitingReader } from './reading.ts';

type ReadOnOptions<In extends TopicName> = {
  /** One at a time. What it throws ends the reading. */
  readonly onEvent: (event: EventOf<In>, record: LogRecord) => void | Promise<void>;
  /** All records that were committed before the call have been received. Later ones wait for it. */
  readonly onCaughtUp?: () => void | Promise<void>;
  /** Reports an unreadable record: it is skipped. */
  readonly onUnreadable: (error: Error, record: LogRecord) => void;
  readonly signal: AbortSignal;
};

/**
 * Reads a topic of one partition from its beginning, each event once and in order, and then new events, without a group
 * of its own. Resolves when all records committed before the call have been received. `finished` rejects where it ends
 * other than by its signal.
 * `ready`: it receives new records.
 */
export const readAndFollow = async <In extends TopicName>(
  log: Log,
  topic: In,
  { onEvent, onCaughtUp, onUnreadable, signal }: ReadOnOptions<In>,
): Promise<Following & { readonly finished: Promise<never> }> => {
  const { promise: finished, reject } = Promise.withResolvers<never>();
  finished.catch(() => {});
  const reader = new WaitingReader(log.codec, signal);
  let next = 0;
  let queue: Promise<unknown> = Promise.resolve();
  const deliver = async (record: LogRecord) => {
    if (record.offset < next || signal.aborted) return;
    next = record.offset + 1;
    if (!isEvent(record)) return;
    const event = await reader.read(record).catch((error: unknown) => {
      if (!(error instanceof DeadLetter || error instanceof Undecodable)) throw error;
      onUnreadable(error, record);
    });
    if (event) await onEvent(event as EventOf<In>, record);
  };
  const enqueue = (record: LogRecord) => {
    queue = queue.then(() => deliver(record));
    queue.catch(reject);
  };
  const early: LogRecord[] = [];
  let later = (record: LogRecord): unknown => early.push(record);
  const { ready } = await log.follow([topic], 'end', (record) => later(record), signal);
  const [[bounds], [stableEnd]] = [await log.bounds(topic), await log.stableEnds(topic)];
  // Records hidden by an unfinished transaction are received when it is committed: they do not delay the earlier ones.
  await log.read(topic, 0, { low: bounds?.low ?? 0, high: stableEnd ?? 0 }, enqueue, signal);
  const caughtUp = queue.then(onCaughtUp);
  queue = caughtUp;
  early.forEach(enqueue);
  later = enqueue;
  await caughtUp;
  return { finished, ready: () => ready() && reader.waiting.length === 0 };
};
