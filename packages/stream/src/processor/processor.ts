import type { Codec, Draft, HealthEvent, TopicName } from '@vigil/events';
import type { LogRecord } from '../log/log.ts';
import type { AtRest } from '../state/at-rest.ts';
import type { Decider } from './decider.ts';
import type { DeciderProcessor, MapperProcessor, Rules, Topology } from './topology.ts';

type AnyTopology = Topology<TopicName, TopicName>;

export type AnyRules = Rules<unknown, HealthEvent, Draft>;

/** A decider's processor, its types forgotten: inside the runner every state is a state and every event an event. */
export type AnyDecider = AnyTopology & {
  readonly decider: Decider<unknown, HealthEvent, Draft>;
  readonly stateKey?: (input: HealthEvent) => string;
  readonly atRest: AtRest<unknown>;
  readonly marker?: { readonly topic: TopicName; readonly key: `@${string}`; readonly rules: () => AnyRules };
};
export type AnyMapper = AnyTopology & {
  readonly map: (input: HealthEvent, now: number, receivedAt: number) => readonly Draft[];
  readonly decode?: Readonly<Record<string, (record: LogRecord, codec: Codec) => { type: string; payload: unknown }>>;
};
export type AnyProcessor = AnyDecider | AnyMapper;

/** Either kind of processor, as services declare them. */
export type Processor<State, In extends TopicName, Out extends TopicName> =
  | DeciderProcessor<State, In, Out>
  | MapperProcessor<In, Out>;

/** The types of a processor are checked where it is declared; from here on they are forgotten. */
export const anyProcessor = <State, In extends TopicName, Out extends TopicName>(
  processor: Processor<State, In, Out>,
): AnyProcessor => processor as unknown as AnyProcessor;

/** The compacted topic that holds a processor's states and positions. */
export const snapshotTopic = (processor: string): string => `onex.snapshot.${processor}.state.v1`;
