import { catalogue, type HealthEvent, Topic, type TopicName, topicNames, UnknownSchemaId } from '@vigil/events';
import type { Log, Logger, LogRecord } from '@vigil/stream';

/** Every evt topic and what is ordered, except heartbeats as they come in: those are 3,333 a second. */
export const FEED: readonly TopicName[] = topicNames.filter(
  (topic) => catalogue[topic].kind === 'evt' || topic === Topic.agentOrder,
);

type Listener = (event: HealthEvent) => void;

/** Live events to whoever listens at the moment; nothing is kept but when each partition last had a tick. */
export type Feed = {
  readonly listen: (listener: Listener) => () => void;
  /** the newest tick of each partition seen since the feed began, epoch milliseconds */
  readonly ticks: (topic: TopicName) => readonly number[];
};

/** One reader of the topics for all listeners. Records that cannot be read are other services' dead letters, not ours. */
export async function openFeed(log: Log, logger: Logger, signal: AbortSignal): Promise<Feed> {
  const listeners = new Set<Listener>();
  const ticks = new Map<string, Map<number, number>>();
  const tell = (record: LogRecord): void => {
    if (record.key?.startsWith('@tick/')) seen(ticks, record);
    if (listeners.size === 0 || record.value === null || record.key === null || record.key.startsWith('@')) return;
    try {
      const event = eventOf(log, record, record.value);
      for (const listener of listeners) listener(event);
    } catch (error) {
      if (error instanceof UnknownSchemaId)
        log.codec.learn(error).then(
          () => tell(record),
          (err: unknown) => logger.warn({ err, topic: record.topic }, 'an event of the feed was left out'),
        );
      else logger.warn({ err: error, topic: record.topic, offset: record.offset }, 'an event of the feed was left out');
    }
  };
  await log.follow(FEED, 'end', tell, signal);
  return {
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    ticks: (topic) => [...(ticks.get(topic)?.values() ?? [])],
  };
}

function seen(ticks: Map<string, Map<number, number>>, { topic, partition, timestamp }: LogRecord): void {
  const partitions = ticks.get(topic) ?? new Map<number, number>();
  ticks.set(topic, partitions);
  partitions.set(partition, Math.max(timestamp, partitions.get(partition) ?? 0));
}

function eventOf(log: Log, record: LogRecord, value: Buffer): HealthEvent {
  const { topic, partition, offset, key, timestamp } = record;
  const { type, payload, envelope } = log.codec.decode(topic as TopicName, value);
  const flat = { eventId: `${topic}/${partition}/${offset}`, occurredAt: timestamp };
  return { ...(envelope ?? flat), topic, type, key, payload } as HealthEvent;
}
