import type { EventOf, TopicName } from '@vigil/events';
import { Undecodable } from '@vigil/events';
import { DeadLetter } from '../errors.ts';
import type { Following, From, Log, LogRecord } from './log.ts';
import { isEvent, WaitingReader } from './reading.ts';

export type TailOptions<In extends TopicName> = {
  readonly from: From;
  /** One at a time, in the order of the records. What it throws ends the tail. */
  readonly onEvent: (event: EventOf<In>, record: LogRecord) => void;
  readonly signal: AbortSignal;
};

/**
 * Reads new events of all partitions of some topics, without a group of its own. Unreadable records are skipped: the
 * owner of the topic dead-letters them. Resolves when it has begun; `finished` rejects where it ends other than by its
 * signal.
 */
export const tail = async <In extends TopicName>(
  log: Log,
  topics: readonly In[],
  { from, onEvent, signal }: TailOptions<In>,
): Promise<Following & { readonly finished: Promise<never> }> => {
  const { promise: finished, reject } = Promise.withResolvers<never>();
  finished.catch(() => {});
  const reader = new WaitingReader(log.codec, signal);
  let queue = Promise.resolve();
  const deliver = async (record: LogRecord) => {
    try {
      const event = await reader.read(record);
      if (event !== null && !signal.aborted) onEvent(event as EventOf<In>, record);
    } catch (error) {
      if (!(error instanceof DeadLetter || error instanceof Undecodable)) reject(error);
    }
  };
  const enqueue = (record: LogRecord) => {
    if (isEvent(record)) queue = queue.then(() => deliver(record));
  };
  const { ready } = await log.follow(topics, from, enqueue, signal);
  return { finished, ready: () => ready() && reader.waiting.length === 0 };
};
