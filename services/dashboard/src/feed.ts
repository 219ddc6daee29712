import { catalogue, type HealthEvent, Topic, type TopicName, topicNames } from '@vigil/events';
import { type Log, tail } from '@vigil/stream';

const told = topicNames.filter((topic) => catalogue[topic].kind === 'evt' || topic === Topic.agentOrder);

/** What happens, without what merely comes in: 3,333 heartbeats a second are read only while somebody listens to them. */
const HAPPENINGS: readonly TopicName[] = told.filter((topic) => topic !== Topic.agentObservation);

type Listener = (event: HealthEvent) => void;

/** Live events to whoever listens at the moment; nothing is kept. */
export type Feed = {
  /** What it gives ends the listening. */
  readonly listen: (listener: Listener, withObservations: boolean) => () => void;
  readonly finished: Promise<never>;
};

/** One reader of the topics for all listeners. `onFailure` hears why observations have ended for one of them. */
export async function openFeed(log: Log, signal: AbortSignal, onFailure: (error: unknown) => void): Promise<Feed> {
  const listeners = new Set<Listener>();
  const onEvent = (event: HealthEvent) => {
    for (const listener of listeners) listener(event);
  };
  const { finished } = await tail(log, HAPPENINGS, { from: 'end', onEvent, signal });
  return {
    listen: (listener, withObservations) => {
      listeners.add(listener);
      const observing = new AbortController();
      if (withObservations) observe(log, listener, observing.signal).catch(onFailure);
      return () => {
        listeners.delete(listener);
        observing.abort();
      };
    },
    finished,
  };
}

async function observe(log: Log, onEvent: Listener, signal: AbortSignal): Promise<never> {
  const { finished } = await tail(log, [Topic.agentObservation], { from: 'end', onEvent, signal });
  return finished;
}
