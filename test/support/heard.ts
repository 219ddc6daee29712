import type { EventOf, HealthEvent, TopicName } from '@vigil/events';
import type { TestSystem } from './system.ts';

/** All that has been said on some topics so far, and goes on being said; cheaper than reading them again and again. */
export type Heard = {
  readonly of: <T extends TopicName>(topic: T) => readonly EventOf<T>[];
  readonly stop: () => void;
};

export const hear = async ({ log }: TestSystem, topics: readonly TopicName[]): Promise<Heard> => {
  const over = new AbortController();
  const heard: HealthEvent[] = [];
  await log.follow(
    topics,
    'beginning',
    ({ topic, key, value }) => {
      if (value === null || key?.startsWith('@')) return;
      const { type, payload, envelope } = log.codec.decode(topic as TopicName, value);
      heard.push({ ...envelope, topic, type, key, payload } as HealthEvent);
    },
    over.signal,
  );
  return {
    of: <T extends TopicName>(topic: T) => heard.filter((event): event is EventOf<T> => event.topic === topic),
    stop: () => over.abort(),
  };
};
