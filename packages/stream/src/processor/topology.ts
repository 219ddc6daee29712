import {
  type Codec,
  type ContentOf,
  type Draft,
  type EventOf,
  type HealthEvent,
  type TopicName,
  topicNames,
} from '@vigil/events';
import { deadLetterTopic } from '../log/dead-letters.ts';
import type { LogRecord } from '../log/log.ts';
import type { AtRest } from '../state/at-rest.ts';
import type { Decider } from './decider.ts';

/**
 * The partitions of a topic that get ticks, and how often. `same`: the partition with the source's number. `every`: all
 * of them, keyed by the source's number.
 */
export type TickRoute = { readonly topic: TopicName; readonly everyMs: number; readonly to: 'same' | 'every' };

/**
 * A processor declared as data: its inputs, its outputs and its source of time. Reading or writing another topic does
 * not compile.
 * `time.sources`: `own`: each partition gets the ticks of one upstream partition; `every`: each gets those of all
 * upstream partitions, and time is the smallest of their latest.
 * `time.everyMs`: the interval of the ticks; default 1000.
 */
export type Topology<In extends TopicName, Out extends TopicName> = {
  /** consumer group, and prefix of the transactional ids */
  readonly processor: string;
  /** service that owns it: names the dead-letter topic */
  readonly service: string;
  readonly reads: readonly In[];
  /**
   * inputs that other programs write: an unreadable record there is the sender's fault, and does not stop the service
   */
  readonly foreign?: readonly In[];
  readonly writes: readonly Out[];
  readonly time: { readonly topic: In; readonly sources: 'own' | 'every'; readonly everyMs?: number } | null;
  readonly ticks: readonly TickRoute[];
  /** the topic in which time begins: the owner of each partition writes a tick into it once a second */
  readonly writesTicks?: In;
};

/** A processor that decides on records one key at a time. */
export type DeciderProcessor<State, In extends TopicName, Out extends TopicName> = Topology<In, Out> & {
  readonly decider: Decider<State, EventOf<In>, Draft<Out>>;
  /** the state's key; default: the record's key */
  readonly stateKey?: (input: EventOf<In>) => string;
  readonly atRest: AtRest<State>;
  /** The key whose state sets the rule of all keys in its partition. Default: one rule, which no input changes. */
  readonly governing?: Governing<State, EventOf<In>, Draft<Out>>;
  /** default: a partition may have any number of keys */
  readonly keyLimit?: KeyLimit;
  /**
   * `@policy`: written when a partition opens and when its rules change, so that a replay uses the same rules. `rules`:
   * returns the rules in force. It is called before each batch; if they have changed, the partition switches to them in
   * the transaction of that batch.
   */
  readonly marker?: {
    readonly topic: Out;
    readonly key: `@${string}`;
    readonly rules: () => Rules<State, EventOf<In>, Draft<Out>>;
  };
};

/**
 * The rule that follows from the state of `key`. As part of the log, a replay decides the same. It applies from the next
 * record on, and the deadlines of all keys are computed again. `ruleOf` undefined: the key has no state yet.
 */
export type Governing<State, Input extends HealthEvent, Output extends Draft> = {
  readonly key: string;
  readonly ruleOf: (state: State | undefined) => Decider<State, Input, Output>;
};

/**
 * The largest number of keys with a state in one partition. A record that would start another becomes a dead letter,
 * with the remedy, until a key is forgotten. Records of the keys that have a state are decided as before.
 */
export type KeyLimit = { readonly most: number; readonly remedy: string };

/** The rules of a processor. `value` identifies them: rules with equal values decide equally. */
export type Rules<State, Input extends HealthEvent, Output extends Draft> = {
  readonly value: string;
  readonly decider: Decider<State, Input, Output>;
};

/** A processor without state. It maps each record to outputs; their `occurredAt` is the receipt of the input. */
export type MapperProcessor<In extends TopicName, Out extends TopicName> = Topology<In, Out> & {
  /** `receivedAt`: the broker's timestamp of the record; for a moved or replayed one, that of its first receipt */
  readonly map: (input: EventOf<In>, now: number, receivedAt: number) => readonly Draft<Out>[];
  /** reads the bytes of a topic instead of the codec; may throw DeadLetter, naming the reason */
  readonly decode?: { readonly [T in In]?: (record: LogRecord, codec: Codec) => ContentOf<T> };
  /** default: each output is written */
  readonly once?: Once<Draft<Out>>;
};

/**
 * Leaves out outputs that repeat a written one. A partition remembers the last `most` subjects, and nothing after a
 * restart or a takeover: an output may be written again, and its readers must give the same answer then.
 */
export type Once<Output extends Draft> = {
  /** what an output is about, and its content; null: it is always written */
  readonly of: (draft: Output) => { readonly subject: string; readonly content: string } | null;
  /** after this time the same content is written again, milliseconds */
  readonly againAfterMs: number;
  readonly most: number;
};

type AnyTopology = Topology<TopicName, TopicName>;

export type AnyRules = Rules<unknown, HealthEvent, Draft>;

/** A decider's processor with its type parameters erased, for the runner. */
export type AnyDecider = AnyTopology & {
  readonly decider: Decider<unknown, HealthEvent, Draft>;
  readonly stateKey?: (input: HealthEvent) => string;
  readonly atRest: AtRest<unknown>;
  readonly governing?: Governing<unknown, HealthEvent, Draft>;
  readonly keyLimit?: KeyLimit;
  readonly marker?: { readonly topic: TopicName; readonly key: `@${string}`; readonly rules: () => AnyRules };
};
export type AnyMapper = AnyTopology & {
  readonly map: (input: HealthEvent, now: number, receivedAt: number) => readonly Draft[];
  readonly decode?: Readonly<Record<string, (record: LogRecord, codec: Codec) => { type: string; payload: unknown }>>;
  readonly once?: Once<Draft>;
};
export type AnyProcessor = AnyDecider | AnyMapper;

/** Either kind of processor, as services declare them. */
export type Processor<State, In extends TopicName, Out extends TopicName> =
  | DeciderProcessor<State, In, Out>
  | MapperProcessor<In, Out>;

/** Erases the type parameters of a processor. They are checked at its declaration. */
export const anyProcessor = <State, In extends TopicName, Out extends TopicName>(
  processor: Processor<State, In, Out>,
): AnyProcessor => processor as unknown as AnyProcessor;

/** The topics that a codec must encode for these processors: their events, states and dead letters. */
export const topicsWritten = (
  ...processors: readonly Pick<AnyTopology, 'processor' | 'service' | 'writes'>[]
): readonly TopicName[] => {
  const names = processors.flatMap(({ processor, service, writes }) => [
    ...writes,
    snapshotTopic(processor),
    deadLetterTopic(service),
  ]);
  return topicNames.filter((topic) => names.includes(topic));
};

/** The compacted topic that holds a processor's states and positions. */
export const snapshotTopic = (processor: string): string => `onex.snapshot.${processor}.state.v1`;
