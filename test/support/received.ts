import type { EventOf, HealthEvent, TopicName } from '@vigil/events';
import type { TestSystem } from './system.ts';

/** All past and future events of some topics; cheaper than reading them repeatedly. */
export type Received = {
  readonly of: <T extends TopicName>(topic: T) => readonly EventOf<T>[];
  /** the latest events of all these topics in the order of their arrival, one line each */
  readonly latest: (count: number) => readonly string[];
  readonly stop: () => void;
};

const line = ({ occurredAt, type, key, payload }: HealthEvent): string =>
  `${new Date(occurredAt).toISOString()} ${type} ${key} ${JSON.stringify(payload)}`.slice(0, 400);

export const receive = async ({ log }: TestSystem, topics: readonly TopicName[]): Promise<Received> => {
  const over = new AbortController();
  const received: HealthEvent[] = [];
  await log.follow(
    topics,
    'beginning',
    ({ topic, key, value }) => {
      if (value === null || key?.startsWith('@')) return;
      const { type, payload, envelope } = log.codec.decode(topic as TopicName, value);
      received.push({ ...envelope, topic, type, key, payload } as HealthEvent);
    },
    over.signal,
  );
  return {
    of: <T extends TopicName>(topic: T) => received.filter((event): event is EventOf<T> => event.topic === topic),
    latest: (count) =>
      received
        .filter(({ type }) => type !== 'WARRANT_RENEWED')
        .slice(-count)
        .map(line),
    stop: () => over.abort(),
  };
};
