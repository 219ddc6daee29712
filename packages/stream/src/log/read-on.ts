import { type EventOf, type TopicName, Undecodable } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import type { Following, Log, LogRecord } from './log.ts';
import { isEvent, WaitingReader } from './reading.ts';

type ReadOnOptions<In extends TopicName> = {
  /** One at a time. What it throws ends the reading. */
  readonly onEvent: (event: EventOf<In>, record: LogRecord) => void | Promise<void>;
  /** All that was committed before the call has been told. What comes later waits for it. */
  readonly onCaughtUp?: () => void | Promise<void>;
  /** Hears of what cannot be read: it is passed over. */
  readonly onUnreadable: (error: Error, record: LogRecord) => void;
  readonly signal: AbortSignal;
};

/**
 * Reads a topic of one partition from its beginning, each event once and in order, and goes on as they come, without leaving a group
 * behind. Resolves when all that was committed before the call has been told; `finished` rejects where it ends other than by its signal; `ready`: it hears what comes.
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
  // What an unfinished transaction hides is told when it is committed: it holds up nothing that was there before.
  await log.read(topic, 0, { low: bounds?.low ?? 0, high: stableEnd ?? 0 }, enqueue, signal);
  const caughtUp = queue.then(onCaughtUp);
  queue = caughtUp;
  early.forEach(enqueue);
  later = enqueue;
  await caughtUp;
  return { finished, ready: () => ready() && reader.waiting.length === 0 };
};
