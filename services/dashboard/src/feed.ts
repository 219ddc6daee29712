import { catalogue, type HealthEvent, Topic, type TopicName, topicNames } from '@vigil/events';
import { type Following, type Log, tail } from '@vigil/stream';

/** The feed follows these topics. */
export const publishedTopics = topicNames.filter(
  (topic) => catalogue[topic].kind === 'evt' || topic === Topic.agentOrder,
);

/** Events without observations: 3,333 heartbeats a second are read only while a listener requests them. */
const WITHOUT_OBSERVATIONS: readonly TopicName[] = publishedTopics.filter((topic) => topic !== Topic.agentObservation);

type Listener = (event: HealthEvent) => void;

/** Live events for the current listeners; nothing is kept. */
export type Feed = {
  /** Returns a function that ends the listening. */
  readonly listen: (listener: Listener, withObservations: boolean) => () => void;
  readonly finished: Promise<never>;
  /** false: the feed, or one of its listeners, cannot read events at the moment */
  readonly ready: () => boolean;
};

/**
 * One reader of the topics for all listeners. `onFailure` receives the error that has ended observations for a
 * listener.
 */
export const openFeed = async (log: Log, signal: AbortSignal, onFailure: (error: unknown) => void): Promise<Feed> => {
  const listeners = new Set<Listener>();
  const onEvent = (event: HealthEvent) => {
    for (const listener of listeners) listener(event);
  };
  const { finished, ready } = await tail(log, WITHOUT_OBSERVATIONS, { from: 'end', onEvent, signal });
  const observations = new Set<Following>();
  return {
    listen: (listener, withObservations) => {
      listeners.add(listener);
      const observing = new AbortController();
      if (withObservations) observe(log, observations, listener, observing.signal).catch(onFailure);
      return () => {
        listeners.delete(listener);
        observing.abort();
      };
    },
    finished,
    ready: () => ready() && [...observations].every((following) => following.ready()),
  };
};

const observe = async (log: Log, open: Set<Following>, onEvent: Listener, signal: AbortSignal): Promise<never> => {
  const following = await tail(log, [Topic.agentObservation], { from: 'end', onEvent, signal });
  if (signal.aborted) return following.finished;
  open.add(following);
  signal.addEventListener('abort', () => open.delete(following), { once: true });
  return following.finished;
};
