import { type EventOf, memoryCodec, type PolicyRef, type Topic } from '@vigil/events';
import { eventId, positionOf } from '@vigil/stream';
import type { Announcement, Observation } from '../evaluator/health.ts';

/** An event that the evaluator writes. */
export type DecisionEvent = EventOf<typeof Topic.agentHealth | typeof Topic.taskHealth | typeof Topic.fleetPresence>;

/**
 * A decision in the form in which two are compared: plain JSON, the fields of a payload in the order of the schema. It
 * has no correlation id, which continues the chain of an input and decides nothing.
 */
export type Decided = {
  readonly topic: string;
  readonly type: string;
  readonly key: string;
  /** follows from the position of the cause, so that equal ids have the same cause */
  readonly eventId: string;
  /** the agent */
  readonly stateKey: string;
  readonly version: number;
  /** when the evaluator began to know the agent, epoch milliseconds */
  readonly epoch: number;
  readonly occurredAt: number;
  /** the event id of the input, or the position of the tick */
  readonly causationId: string | null;
  readonly policy: PolicyRef | null;
  readonly payload: unknown;
};

/** A recorded decision. */
export const recordedDecision = (event: DecisionEvent): Decided => ({
  topic: event.topic,
  type: event.type,
  key: event.key,
  eventId: event.eventId,
  stateKey: event.stateKey ?? event.key,
  version: event.version ?? 0,
  epoch: event.epoch ?? 0,
  occurredAt: event.occurredAt,
  causationId: event.causationId,
  policy: event.policy,
  payload: event.payload,
});

/** The number of a decision of an agent, as the runner counts. */
export type Numbered = { readonly version: number; readonly epoch: number; readonly ordinal: number };

/** The record that caused a decision. `input` null: a tick. */
export type CausedBy = {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly input: Observation | null;
  readonly now: number;
};

const codec = memoryCodec();

/** What the runner of this processor would write. */
export const refoldedDecision = (
  processor: string,
  draft: Announcement,
  agent: string,
  { version, epoch, ordinal }: Numbered,
  { topic, partition, offset, input, now }: CausedBy,
): Decided => {
  const id = eventId(processor, topic, partition, offset, agent, ordinal);
  const event = {
    ...draft,
    eventId: id,
    stateKey: agent,
    version,
    epoch,
    occurredAt: now,
    correlationId: '',
    causationId: input?.eventId ?? positionOf({ topic, partition, offset }),
    policy: draft.policy ?? null,
  };
  // The schema's own form: fields in its order, with what it fills in.
  const { payload, envelope } = codec.decode(draft.topic, codec.encode(event));
  return recordedDecision({ ...event, ...envelope, payload } as DecisionEvent);
};
