import type { TopicName } from './generated/catalogue.ts';
import type { Content, PolicyRef } from './generated/types.ts';

/** The fields that every event of Vigil has besides its payload. */
export type Envelope = {
  readonly eventId: string;
  readonly stateKey: string | null;
  readonly version: number | null;
  readonly epoch: number | null;
  /** epoch milliseconds on the broker's clock */
  readonly occurredAt: number;
  readonly correlationId: string;
  readonly causationId: string | null;
  readonly policy: PolicyRef | null;
};

/** `key` is the Kafka record's key. Flat records (the heartbeat command) get an envelope made from their position. */
type Enveloped<C> = C extends Content ? C & Envelope & { readonly key: string } : never;

/** All events and commands: one union, discriminated by `topic` and `type`. */
export type HealthEvent = Enveloped<Content>;
export type EventOf<T extends TopicName> = Extract<HealthEvent, { readonly topic: T }>;
export type ContentOf<T extends TopicName> = Extract<Content, { readonly topic: T }>;
type Body<C> = C extends Content ? Pick<C, 'type' | 'payload'> : never;
/** The parts that differ between the events of a topic: type and payload. */
export type BodyOf<T extends TopicName> = Body<ContentOf<T>>;
export type PayloadOf<T extends TopicName, K extends string> = Extract<ContentOf<T>, { readonly type: K }>['payload'];

/** The payload of an event without the fields of `Head`. */
export type RestOf<T extends TopicName, Type extends string, Head> = Omit<PayloadOf<T, Type>, keyof Head>;
/** A draft whose payload is a `Head` and the rest. */
export type DraftWith<T extends TopicName, Type extends string, Head> = {
  readonly topic: T;
  readonly type: Type;
  readonly key: string;
  readonly correlationId: string;
  readonly policy?: PolicyRef | null;
  readonly payload: Head & RestOf<T, Type, Head>;
};

/** The output of a decider: the runner adds the envelope. */
type Drafted<C> = C extends Content
  ? C & {
      readonly key: string;
      /** null or absent: that of the record being decided */
      readonly correlationId?: string | undefined;
      readonly policy?: PolicyRef | null | undefined;
    }
  : never;
export type Draft<T extends TopicName = TopicName> = Drafted<ContentOf<T>>;
