import { catalogue, type EventOf, type HealthEvent, Topic, type TopicName, topicNames } from '@vigil/events';
import { type Following, type Log, type LogRecord, tail } from '@vigil/stream';

/** The feed follows these topics. Terminals are for operators, who have a stream of their own. */
export const publishedTopics = topicNames.filter(
  (topic) => (catalogue[topic].kind === 'evt' && topic !== Topic.agentTerminal) || topic === Topic.agentOrder,
);

/** Events without observations: 3,333 heartbeats a second are read only while a listener requests them. */
export const WITHOUT_OBSERVATIONS: readonly TopicName[] = publishedTopics.filter(
  (topic) => topic !== Topic.agentObservation,
);

type Listener = (event: HealthEvent, record: LogRecord) => void;

/** `begun`: resolves when the listener receives everything that is written from then on. */
export type Listening = { readonly stop: () => void; readonly begun: Promise<void> };

/** Live events for the current listeners; nothing is kept. */
export type Feed = {
  readonly listen: (listener: Listener, withObservations: boolean) => Listening;
  /** what runtimes publish of leased terminals */
  readonly listenToTerminals: (listener: (event: EventOf<typeof Topic.agentTerminal>) => void) => Listening;
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
  const onEvent: Listener = (event, record) => {
    for (const listener of listeners) listener(event, record);
  };
  const { finished, ready } = await tail(log, WITHOUT_OBSERVATIONS, { from: 'end', onEvent, signal });
  const observations = new Set<Following>();
  return {
    listen: (listener, withObservations) => {
      listeners.add(listener);
      const observing = new AbortController();
      const begun = withObservations ? observe(log, observations, listener, observing.signal) : Promise.resolve(null);
      begun.then((following) => following?.finished).catch(onFailure);
      const stop = () => {
        listeners.delete(listener);
        observing.abort();
      };
      return { stop, begun: begun.then(() => {}) };
    },
    listenToTerminals: (listener) => {
      const listening = new AbortController();
      const onEvent = (event: HealthEvent) => listener(event as EventOf<typeof Topic.agentTerminal>);
      const { signal: until } = listening;
      const begun = tail(log, [Topic.agentTerminal], { from: 'end', onEvent, signal: until });
      begun.then(({ finished }) => finished).catch((error: unknown) => until.aborted || onFailure(error));
      return { stop: () => listening.abort(), begun: begun.then(() => {}) };
    },
    finished,
    ready: () => ready() && [...observations].every((following) => following.ready()),
  };
};

type Observing = Following & { readonly finished: Promise<never> };

const observe = async (log: Log, open: Set<Following>, onEvent: Listener, signal: AbortSignal): Promise<Observing> => {
  const following = await tail(log, [Topic.agentObservation], { from: 'end', onEvent, signal });
  if (signal.aborted) return following;
  open.add(following);
  signal.addEventListener('abort', () => open.delete(following), { once: true });
  return following;
};
