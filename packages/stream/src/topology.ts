import type { Draft, EventOf, TopicName } from '@vigil/events';
import type { Decider } from './decider.ts';

/** Which partitions of a topic get a tick, and how often: `same` its own number, `every` all of them, keyed by the source's number. */
export type TickRoute = { readonly topic: TopicName; readonly everyMs: number; readonly to: 'same' | 'every' };

/**
 * A processor declared as data: what it reads, what it writes, what carries its time. Reading or writing anything else does not compile.
 * `time.sources`: `own`: ticks of one upstream partition arrive in each partition; `every`: those of all upstream partitions do, and time is the smallest of their latest.
 */
export type Topology<In extends TopicName, Out extends TopicName> = {
  /** consumer group, and prefix of the transactional ids */
  readonly processor: string;
  /** service that owns it: names the dead-letter topic */
  readonly service: string;
  readonly reads: readonly In[];
  readonly writes: readonly Out[];
  readonly time: { readonly topic: In; readonly sources: 'own' | 'every' } | null;
  readonly ticks: readonly TickRoute[];
};

/** A processor whose records are decided one key at a time. */
export type DeciderProcessor<State, In extends TopicName, Out extends TopicName> = Topology<In, Out> & {
  readonly decider: Decider<State, EventOf<In>, Draft<Out>>;
  /** the state's key; default: the record's key */
  readonly stateKey?: (input: EventOf<In>) => string;
  /** shape of the state at rest; a newer one than the code's refuses to start */
  readonly shape: number;
  readonly upgrade?: (shape: number, state: unknown) => State;
  /** `@policy`: what is written when a partition opens, so that a replay knows under which rules it was folded */
  readonly marker?: { readonly topic: Out; readonly key: `@${string}`; readonly value: string };
};

/** A processor without state of its own: each record gives its outputs. */
export type MapperProcessor<In extends TopicName, Out extends TopicName> = Topology<In, Out> & {
  readonly map: (input: EventOf<In>, now: number) => readonly Draft<Out>[];
};
